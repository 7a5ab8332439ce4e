// What a chart tells of the place pointed at: all curves at an x, or the nearest point; dragging enlarges a part.
(() => {
  "use strict";
  const { node, percent, rounded } = globalThis.sub2sub;

  const shown = (chart, axis, value) => (chart[`${axis}Scale`] === "nines" ? percent(Number(value.toPrecision(5))) : rounded(value));

  const nearestAt = (chart, x, px) => {
    let best = null, least = Infinity;
    for (const value of chart.series.flatMap((series) => series.x)) {
      const away = Math.abs(x(value) - px);
      if (away < least) [best, least] = [value, away];
    }
    return best;
  };

  const interval = (series, k, chart) => (series.low && series.low[k] !== null && series.high[k] !== null ? ` (${shown(chart, "y", series.low[k])} to ${shown(chart, "y", series.high[k])})` : "");

  // Lines of text on what is there, and where, and the number of the series that is near.
  const tell = (chart, { x, y }, px, py) => {
    if (chart.pick === "point") {
      let best = null, least = 40;
      chart.series.forEach((series, s) => {
        series.x.forEach((value, k) => {
          const away = Math.hypot(x(value) - px, y(series.y[k] ?? NaN) - py);
          if (away < least) [best, least] = [{ series, s, k }, away];
        });
      });
      if (!best) return null;
      const { series, s, k } = best;
      const name = series.names ? `, ${series.names[k]}` : "";
      return {
        lines: [`${series.label}${name}`, `${chart.y}: ${shown(chart, "y", series.y[k])}${interval(series, k, chart)}`, `${chart.x}: ${shown(chart, "x", series.x[k])}`],
        at: [x(series.x[k]), y(series.y[k])], series: s,
      };
    }
    const value = nearestAt(chart, x, px);
    if (value === null) return null;
    const lines = [`${chart.x}: ${shown(chart, "x", value)}`];
    let near = -1, least = 20;
    chart.series.forEach((series, s) => {
      const k = series.x.indexOf(value);
      if (k < 0 || series.y[k] === null) return;
      const away = Math.abs(y(series.y[k]) - py);
      if (away < least) [near, least] = [s, away];
      lines.push(`${series.label}: ${shown(chart, "y", series.y[k])}${interval(series, k, chart)}`);
    });
    for (const [at, text] of chart.marks) if (at === value) lines.push(text);
    return { lines, at: [x(value), null], series: near };
  };

  // Listen to a drawn chart. `figure` holds chart, drawn, zoomTo(span or null), highlight(series or -1), choose(series).
  const listenTo = (figure) => {
    const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    figure.place.append(tip);
    let start = null;
    // The number of the series whose name in the legend, or whose curve, an event is on.
    const named = (event, marked = "[data-entry]") => {
      const { entry, series } = event.target.closest?.(marked)?.dataset ?? {};
      return entry ?? series ? Number(entry ?? series) : undefined;
    };
    const where = (event) => {
      const box = figure.drawn.svg.getBoundingClientRect();
      const ratio = figure.drawn.svg.viewBox.baseVal.width / box.width;
      return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio, ratio];
    };
    const inside = (px, py) => {
      const { left, right, top, bottom } = figure.drawn.frame;
      return px >= left - 4 && px <= right + 4 && py >= top - 4 && py <= bottom + 4;
    };
    const clear = () => {
      tip.hidden = true;
      for (const aid of figure.drawn?.svg.querySelectorAll("[data-aid]") ?? []) aid.remove();
    };
    const move = (event) => {
      if (!figure.drawn) return;
      const [px, py, ratio] = where(event);
      const found = inside(px, py) ? tell(figure.chart, figure.drawn, px, py) : null;
      clear();
      figure.highlight(named(event) ?? found?.series ?? -1);
      const { svg, frame } = figure.drawn;
      if (start !== null) {
        const [a, b] = [Math.min(start, px), Math.max(start, px)];
        svg.append(node("rect", { x: a, y: frame.top, width: b - a, height: frame.height, class: "chosen", "data-aid": "" }));
      }
      if (!found) return;
      const [x, y] = found.at;
      svg.append(y === null ? node("path", { d: `M${x},${frame.top}V${frame.bottom}`, class: "cursor", "data-aid": "" }) : node("circle", { cx: x, cy: y, r: 8, class: "cursor", "data-aid": "" }));
      tip.hidden = false;
      tip.textContent = found.lines.join("\n");
      const wide = figure.place.clientWidth;
      const at = x / ratio;
      tip.style.left = `${at > wide / 2 ? Math.max(0, at - tip.offsetWidth - 12) : Math.min(wide - tip.offsetWidth, at + 12)}px`;
      tip.style.top = `${Math.max(0, (y ?? frame.top) / ratio - (y === null ? 0 : tip.offsetHeight + 12))}px`;
    };
    figure.place.addEventListener("pointermove", move);
    figure.place.addEventListener("pointerdown", (event) => {
      if (!figure.drawn || event.button !== 0 || event.pointerType === "touch" || figure.chart.pick === "point") return;
      const [px, py] = where(event);
      if (inside(px, py)) start = px;
    });
    figure.place.addEventListener("pointerup", (event) => {
      if (start === null) return;
      const [a, b] = [start, where(event)[0]].sort((one, other) => one - other);
      start = null;
      if (b - a > 12) figure.zoomTo([figure.drawn.x.back(a), figure.drawn.x.back(b)]);
      else clear();
    });
    figure.place.addEventListener("pointerleave", () => {
      start = null;
      clear();
      figure.highlight(-1);
    });
    const choose = (event, marked) => {
      const k = named(event, marked);
      if (k !== undefined) figure.choose(k);
      return k !== undefined;
    };
    figure.place.addEventListener("click", (event) => choose(event, "[data-entry], [data-series]"));
    figure.place.addEventListener("keydown", (event) => {
      if ((event.key === "Enter" || event.key === " ") && choose(event)) event.preventDefault();
    });
    figure.place.addEventListener("dblclick", () => figure.zoomTo(null));
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, listenTo };
})();
