// Every chart of the page: drawn as wide as its place, drawn anew when that changes; its values as a table; downloads.
(() => {
  "use strict";
  const { download, drawChart, listenTo, rounded, slug, standalone } = globalThis.sub2sub;

  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  // The numbers of a chart as rows, the first of them names.
  const rowsOf = (chart) => {
    if (chart.pick === "point") {
      const rows = chart.series.flatMap((series) => series.x.map((value, k) => [series.label, series.names?.[k] ?? "", value, series.y[k], series.low?.[k] ?? null, series.high?.[k] ?? null]));
      return [["series", "setting", chart.x, chart.y, "low", "high"], ...rows];
    }
    const places = [...new Set(chart.series.flatMap(({ x }) => x))].sort((a, b) => a - b);
    const at = chart.series.map((series) => new Map(series.x.map((value, k) => [value, k])));
    const names = chart.series.flatMap((series) => (series.low ? [series.label, `${series.label}, low`, `${series.label}, high`] : [series.label]));
    const cells = (value) => chart.series.flatMap((series, s) => {
      const k = at[s].get(value);
      const of = (name) => (k === undefined ? null : series[name][k]);
      return series.low ? [of("y"), of("low"), of("high")] : [of("y")];
    });
    return [[chart.x, ...names], ...places.map((value) => [value, ...cells(value)])];
  };

  const valuesTable = (chart) => {
    const [names, ...rows] = rowsOf(chart);
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of names) head.append(element("th", { textContent: name, scope: "col", className: "number" }));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const cell of row) {
        const made = element("td", { textContent: typeof cell === "number" || cell === null ? rounded(cell) : cell, className: "number" });
        if (typeof cell === "number") made.dataset.value = cell;
        line.append(made);
      }
    }
    return element("div", { className: "table long" }, table);
  };

  class Figure {
    constructor(figure) {
      this.figure = figure;
      this.chart = JSON.parse(figure.querySelector("script").textContent);
      this.place = figure.querySelector(".plot");
      this.chosen = -1; // the series that a click brought forward
      this.zoom = null;
      this.drawn = null;
      this.addTools();
      listenTo(this);
      new ResizeObserver(() => this.fit()).observe(this.place);
    }

    fit() {
      const width = Math.floor(this.place.clientWidth);
      if (width > 0 && width !== this.width && !matchMedia("print").matches) this.draw(width);
    }

    draw(width = this.width) {
      if (!width) return;
      this.width = width;
      this.drawn?.svg.remove();
      this.drawn = drawChart(this.chart, width, this.zoom);
      this.place.prepend(this.drawn.svg);
      this.highlight(-1);
      this.figure.dataset.drawn = "true";
    }

    zoomTo(span) {
      this.zoom = span;
      this.draw();
    }

    // A click on a curve or its name brings it forward, another one lets it go.
    choose(k) {
      this.chosen = this.chosen === k ? -1 : k;
      this.highlight(-1);
    }

    // Show one series before all others: that under the pointer, else the chosen one.
    highlight(pointed) {
      const k = pointed >= 0 ? pointed : this.chosen;
      const alone = this.chart.series.length < 2;
      for (const part of this.drawn?.svg.querySelectorAll("[data-series], [data-entry]") ?? []) {
        const own = Number(part.dataset.series ?? part.dataset.entry);
        part.classList.toggle("faint", !alone && k >= 0 && own !== k);
        part.classList.toggle("told", own === k);
        if (part.dataset.entry !== undefined) part.setAttribute("aria-pressed", own === this.chosen);
        else if (own === k && part.nextSibling) part.parentNode.append(part);
      }
    }

    addTools() {
      const name = slug(this.chart.title);
      const values = element("details", { className: "values" }, element("summary", { textContent: "Values" }));
      values.addEventListener("toggle", () => {
        if (!values.open || values.children.length > 1) return;
        const table = valuesTable(this.chart);
        values.append(table);
        globalThis.sub2sub.improveTable(table, name);
      });
      const svg = element("button", { type: "button", textContent: "SVG", title: "Download the picture" });
      svg.dataset.tool = "svg";
      svg.addEventListener("click", () => download(`${name}.svg`, "image/svg+xml", standalone(this.drawn.svg)));
      this.figure.append(element("div", { className: "tools" }, svg), values);
    }
  }

  for (const figure of document.querySelectorAll("figure.chart")) figure.chart = new Figure(figure);
})();
