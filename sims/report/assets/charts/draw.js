// One chart as SVG: axes, curves with their intervals, marks and legend. Colours come from the style sheet, by class.
(() => {
  "use strict";
  const { node, scale, widthOf } = globalThis.sub2sub;
  const COLOURS = 7;
  const SHAPES = [
    "M-3.6,0a3.6,3.6 0 1,0 7.2,0a3.6,3.6 0 1,0 -7.2,0", "M-3.3,-3.3h6.6v6.6h-6.6z", "M0,-4.4L4,3H-4z", "M0,-4.6L4.6,0L0,4.6L-4.6,0z",
    "M0,4.4L4,-3H-4z", "M-1.4,-4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z", "M-4,-2L-2,-4L0,-2L2,-4L4,-2L2,0L4,2L2,4L0,2L-2,4L-4,2L-2,0z",
  ];
  const GAP = 12; // pixels between things that belong together

  const finite = (values) => values.filter((value) => value !== null && Number.isFinite(value));
  // A series is in colour, one of the grey rest (`tone` "grey"), or a bound, which has no points of its own.
  const look = ({ look: k, tone }) => (tone === "bound" ? tone : `${tone ?? `c${k % COLOURS}`} d${(k + Math.floor(k / COLOURS)) % 4}${k >= COLOURS ? " hollow" : ""}`);
  const markerOf = ({ look: k }) => SHAPES[(k + 3 * Math.floor(k / COLOURS)) % SHAPES.length];
  const hasPoints = ({ shape, tone, x }) => tone !== "bound" && (shape === "points" || (shape === "line" && x.length < 26));
  const ORDER = ["grey", "bound", undefined]; // what is in colour lies on top

  const spanOf = (chart, name) => {
    const all = chart.series.flatMap((series) => [...finite(series[name]), ...(name === "y" ? [...finite(series.low ?? []), ...finite(series.high ?? [])] : [])]);
    const kind = chart[`${name}Scale`];
    const usable = kind === "log" ? all.filter((value) => value > 0) : all;
    if (!usable.length) return kind === "log" ? [1, 10] : [0, 1];
    let low = usable.reduce((a, b) => Math.min(a, b)), high = usable.reduce((a, b) => Math.max(a, b));
    if (kind === "nines") return [Math.min(low, 0.9), 1];
    if (kind === "log") return [low / (low === high ? 2 : 1.15), high * (low === high ? 2 : 1.15)];
    if (name === "y") {
      low = chart.bottom ?? Math.min(0, low);
      high = chart.top ?? high + 0.06 * (high - low || 1);
    } else if (chart.series.some(({ shape }) => shape === "bars")) [low, high] = [low - 0.6, high + 0.6];
    return low === high ? [low - 1, high + 1] : [low, high];
  };

  // Lines of legend entries that fit a width.
  const rowsOf = (chart, width) => {
    const rows = [[]];
    let used = 0;
    chart.series.forEach((series, k) => {
      const wide = 34 + widthOf(series.label) + GAP;
      if (used + wide > width && rows.at(-1).length) [used] = [0, rows.push([])];
      rows.at(-1).push({ series, k, at: used });
      used += wide;
    });
    return rows;
  };

  const legend = (rows, left, top) => {
    const box = node("g", { class: "legend" });
    rows.forEach((row, line) => {
      for (const { series, k, at } of row) {
        const entry = node("g", { transform: `translate(${left + at},${top + 18 * line})`, class: "entry", tabindex: 0, role: "button", "data-entry": k, "aria-pressed": false });
        entry.append(node("rect", { x: -3, y: -9, width: 36 + widthOf(series.label), height: 18, fill: "transparent" }));
        if (series.shape === "bars") entry.append(node("rect", { x: 4, y: -6, width: 16, height: 12, class: `bar ${look(series)}` }));
        else {
          if (series.shape === "line") entry.append(node("path", { d: "M0,0H24", class: `curve ${look(series)}` }));
          if (hasPoints(series)) entry.append(node("path", { d: markerOf(series), transform: "translate(12,0)", class: `point ${look(series)}` }));
        }
        entry.append(node("text", { x: 29, dy: "0.35em" }, series.label));
        box.append(entry);
      }
    });
    return box;
  };

  const axes = (chart, x, y, frame) => {
    const { left, top, right, bottom, height } = frame;
    const made = node("g", { class: "axes" });
    let free = -Infinity; // where the next text along the axis has room
    for (const [value, text] of x.ticks) {
      const at = x(value);
      made.append(node("path", { d: `M${at},${top}V${bottom}`, class: "grid" }));
      const half = widthOf(text) / 2;
      if (at - half < free) continue;
      free = at + half + 6;
      made.append(node("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, text));
    }
    for (const [value, text] of y.ticks) {
      made.append(node("path", { d: `M${left},${y(value)}H${right}`, class: "grid" }));
      made.append(node("text", { x: left - 7, y: y(value), dy: "0.35em", "text-anchor": "end" }, text));
    }
    made.append(node("path", { d: `M${left},${top}V${bottom}H${right}`, class: "frame" }));
    made.append(node("text", { x: (left + right) / 2, y: bottom + 35, "text-anchor": "middle", class: "title" }, chart.x));
    made.append(node("text", { x: 0, y: 0, transform: `translate(12,${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" }, fitting(chart.y, height)));
    return made;
  };

  const fitting = (text, room) => {
    let short = text;
    while (short.length > 4 && widthOf(short) > room) short = `${short.slice(0, -2).trimEnd()}…`;
    return short;
  };

  const path = (series, x, y, upper = "y") => {
    let d = "", pen = false;
    series.x.forEach((value, k) => {
      const at = series[upper][k];
      if (at === null || !Number.isFinite(y(at)) || !Number.isFinite(x(value))) pen = false;
      else {
        d += `${pen ? "L" : "M"}${x(value).toFixed(1)},${y(at).toFixed(1)}`;
        pen = true;
      }
    });
    return d;
  };

  const band = (series, x, y) => {
    const inside = series.x.map((_, k) => k).filter((k) => series.low[k] !== null && series.high[k] !== null);
    if (inside.length < 2) return "";
    const point = (name) => (k) => `${x(series.x[k]).toFixed(1)},${y(series[name][k]).toFixed(1)}`;
    return `M${inside.map(point("high")).join("L")}L${inside.reverse().map(point("low")).join("L")}Z`;
  };

  const whiskers = (series, x, y) =>
    series.x.map((value, k) => (series.low[k] === null || series.high[k] === null ? "" : `M${x(value)},${y(series.low[k])}V${y(series.high[k])}M${x(value) - 3},${y(series.low[k])}h6M${x(value) - 3},${y(series.high[k])}h6`)).join("");

  const curve = (series, k, x, y, floor, quiet) => {
    const made = node("g", { class: "series", "data-series": k });
    if (series.low && series.shape === "line") made.append(node("path", { d: band(series, x, y), class: `band ${look(series)}${quiet ? " quiet" : ""}` }));
    else if (series.low) made.append(node("path", { d: whiskers(series, x, y), class: `whisker ${look(series)}` }));
    if (series.shape === "bars") {
      const wide = Math.max(1, Math.min(60, 0.9 * Math.abs(x(1) - x(0))));
      series.x.forEach((value, at) => {
        if (series.y[at] !== null) made.append(node("rect", { x: x(value) - wide / 2, y: y(series.y[at]), width: wide, height: Math.max(0, floor - y(series.y[at])), class: `bar ${look(series)}` }));
      });
      return made;
    }
    const foot = series.tone === "bound" && quiet ? `M${x(series.x[0])},${floor}V${y(series.y[0])}` : ""; // a bound by cost ends at the axis
    if (series.shape === "line") made.append(node("path", { d: foot + path(series, x, y), class: `curve ${look(series)}` }));
    if (hasPoints(series)) {
      series.x.forEach((value, at) => {
        const [px, py] = [x(value), y(series.y[at] ?? NaN)];
        if (Number.isFinite(px) && Number.isFinite(py)) made.append(node("path", { d: markerOf(series), transform: `translate(${px.toFixed(1)},${py.toFixed(1)})`, class: `point ${look(series)}` }));
      });
    }
    return made;
  };

  // Moments to point out; texts that would stand on one another are joined.
  const marks = (chart, x, { top, bottom, left, right }) => {
    const made = node("g", { class: "marks" });
    let before = -Infinity, text = null;
    for (const [at, what] of [...chart.marks].sort((a, b) => a[0] - b[0])) {
      const px = x(at);
      if (px < left - 1 || px > right + 1) continue;
      if (px - before > 1) made.append(node("path", { d: `M${px},${top}V${bottom}`, class: "mark" }));
      if (px - before > 14 || !text) {
        text = node("text", { transform: `translate(${px - 5},${bottom - 6}) rotate(-90)` }, fitting(what, bottom - top - 10));
        made.append(text);
        before = px;
      } else if (!text.textContent.includes(what)) text.textContent = fitting(`${text.textContent}; ${what}`, bottom - top - 10);
    }
    return made;
  };

  // The picture of a chart at a width; `zoom` is a part of the x axis.
  const drawChart = (chart, width, zoom = null) => {
    const yKind = chart.yScale, xKind = chart.xScale;
    const ySpan = spanOf(chart, "y");
    const probe = scale(yKind, ySpan, [1, 0]);
    const left = 26 + Math.max(20, ...probe.ticks.map(([, text]) => widthOf(text)));
    const right = width - 12, top = 10;
    const rows = chart.series.length > 1 || chart.legend ? rowsOf(chart, width - 8) : [];
    const inner = Math.round(Math.max(190, Math.min(chart.height ?? 240, 0.72 * width)));
    const bottom = top + inner;
    const frame = { left, right, top, bottom, width: right - left, height: inner };
    const whole = chart.series.every(({ x }) => x.every((value) => Number.isInteger(value)));
    const x = scale(xKind, zoom ?? spanOf(chart, "x"), [left, right], { count: Math.max(2, frame.width / 80), whole });
    const y = scale(yKind, ySpan, [bottom, top], { count: inner / 45 });
    const height = bottom + 44 + (rows.length ? 18 * rows.length + 4 : 0);
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${chart.title}: ${chart.y} over ${chart.x}` });
    svg.append(axes(chart, x, y, frame));
    // A picture of its own cuts off what a zoom leaves outside; points at the edge may stick out.
    const plot = node("svg", { x: left - 5, y: top - 6, width: frame.width + 10, height: inner + 12, viewBox: `${left - 5} ${top - 6} ${frame.width + 10} ${inner + 12}` });
    const order = [...chart.series.keys()].sort((a, b) => ORDER.indexOf(chart.series[a].tone) - ORDER.indexOf(chart.series[b].tone) || b - a);
    for (const k of order) plot.append(curve(chart.series[k], k, x, y, bottom, chart.pick === "point"));
    svg.append(plot, marks(chart, x, frame));
    if (rows.length) svg.append(legend(rows, 6, bottom + 58));
    return { svg, x, y, frame };
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, drawChart };
})();
