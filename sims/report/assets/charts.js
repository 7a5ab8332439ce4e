// Gives every chart of the page to uPlot, in the page's colours; anew when the theme changes.
(() => {
  "use strict";
  const HEIGHT = 250;
  const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b37700", "#56b4e9", "#333333"];
  const DARK = ["#56b4e9", "#ff9257", "#2fcf9f", "#e7a3c6", "#f0b73a", "#8fd0ff", "#d8dee6"];
  const DASHES = [[], [8, 4], [2, 3], [8, 3, 2, 3], [14, 4], [4, 4], [1, 3]];
  const BORDERS = ["solid", "dashed", "dotted"];
  const shown = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 }));

  const options = (chart, width, style, dark) => {
    const [soft, rule, paper] = ["--soft", "--rule", "--paper"].map((name) => style.getPropertyValue(name).trim());
    const colours = dark ? DARK : LIGHT;
    const font = "12px system-ui, sans-serif";
    const axis = (label, more) => ({ label, stroke: soft, font, labelFont: font, labelSize: 22, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 }, ...more });
    const series = chart.series.map(({ label, shape }, k) => {
      const stroke = colours[k % colours.length];
      const common = { label, stroke, width: 2, value: (_, value) => shown(value) };
      if (shape === "bars") return { ...common, width: 1, fill: `${stroke}99`, paths: uPlot.paths.bars({ size: [0.9, 60] }), points: { show: false } };
      if (shape === "points") return { ...common, paths: () => null, points: { show: true, size: 5, fill: stroke } };
      return { ...common, spanGaps: true, dash: DASHES[k % DASHES.length], points: { show: chart.data[0].length < 25, size: 5, fill: paper } };
    });
    const logs = (_, splits) => splits.map((value) => (Math.log10(value) % 1 === 0 ? shown(value) : null));
    const whole = chart.data[0].every((value) => Number.isInteger(value));
    const incrs = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6];
    const plain = (_, splits) => splits.map(shown);
    return {
      width,
      height: HEIGHT,
      cursor: { points: { size: 7 } },
      legend: { markers: { width: 3, dash: (_, k) => (chart.series[k - 1]?.shape === "line" ? BORDERS[(k - 1) % 3] : "solid") } },
      scales: {
        x: chart.logX ? { time: false, distr: 3 } : { time: false, range: (_, min, max) => (min === max ? [min - 1, max + 1] : chart.series.some((s) => s.shape === "bars") ? [min - 0.6, max + 0.6] : [min, max]) },
        y: chart.logY ? { distr: 3 } : { range: (_, min, max) => [Math.min(0, min ?? 0), chart.top ?? uPlot.rangeNum(0, Math.max(max ?? 1, 1e-9), 0.08, true)[1]] },
      },
      axes: [axis(chart.x, { size: 34, values: chart.logX ? logs : plain, ...(whole && !chart.logX ? { incrs } : {}) }), axis(chart.y, { size: 54, values: chart.logY ? logs : plain })],
      series: [{ label: chart.x, value: (_, value) => shown(value) }, ...series],
      hooks: { draw: [(plot) => mark(plot, chart.marks, soft)] },
    };
  };

  const mark = (plot, marks, colour) => {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    [ctx.textAlign, ctx.textBaseline] = ["left", "alphabetic"];
    ctx.lineWidth = ratio;
    ctx.setLineDash([4 * ratio, 3 * ratio]);
    for (const [at, text] of marks) {
      const x = plot.valToPos(at, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.save();
      ctx.translate(x - 4 * ratio, bbox.top + bbox.height - 6 * ratio);
      ctx.rotate(-Math.PI / 2);
      ctx.fillText(text, 0, 0);
      ctx.restore();
    }
    ctx.restore();
  };

  // The same numbers to read, made when somebody asks for them.
  const addValues = (figure, chart) => {
    const details = document.createElement("details");
    details.append(Object.assign(document.createElement("summary"), { textContent: "Values" }));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      const frame = Object.assign(document.createElement("div"), { className: "table long" });
      const table = document.createElement("table");
      const head = table.createTHead().insertRow();
      const names = [chart.x, ...chart.series.map(({ label }) => label)];
      for (const name of names) head.append(Object.assign(document.createElement("th"), { textContent: name, scope: "col", className: "number" }));
      const body = table.createTBody();
      chart.data[0].forEach((_, row) => {
        const line = body.insertRow();
        for (const column of chart.data) Object.assign(line.insertCell(), { textContent: shown(column[row]), className: "number" });
      });
      frame.append(table);
      details.append(frame);
    });
    figure.append(details);
  };

  for (const figure of document.querySelectorAll("figure.chart")) {
    const chart = JSON.parse(figure.querySelector("script").textContent);
    const place = figure.querySelector(".plot");
    let plot = null;
    const draw = () => {
      const style = getComputedStyle(document.documentElement);
      const dark = style.colorScheme === "dark";
      plot?.destroy();
      plot = new uPlot(options(chart, place.clientWidth, style, dark), chart.data, place);
      figure.dataset.drawn = "true";
    };
    addValues(figure, chart);
    new IntersectionObserver((seen, observer) => {
      if (!seen.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      draw();
      new ResizeObserver(() => {
        if (place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: HEIGHT });
      }).observe(place);
      document.addEventListener("themechange", draw);
    }, { rootMargin: "300px" }).observe(figure);
  }
})();
