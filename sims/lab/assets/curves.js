// Rings over the cycles, with a mark where something was done; drawn a few times a second at most.
(() => {
  "use strict";
  const { drawChart } = globalThis.sub2sub;
  const EVERY = 400; // milliseconds
  const KEPT = 600; // cycles

  class Curves {
    constructor(place) {
      this.place = place;
      this.rows = [];
      this.marks = [];
      this.waiting = false;
    }

    add({ cycle, rings, links }) {
      const last = this.rows.at(-1);
      if (last?.[0] === cycle) this.rows.pop();
      this.rows.push([cycle, 100 * rings, 100 * links]);
      if (this.rows.length > KEPT) this.rows.shift();
      this.draw();
    }

    mark(cycle, text) {
      this.marks.push([cycle, text]);
      this.draw();
    }

    draw() {
      if (this.waiting) return;
      this.waiting = true;
      setTimeout(() => {
        this.waiting = false;
        const width = this.place.clientWidth;
        if (!width || !this.rows.length) return;
        const x = this.rows.map(([cycle]) => cycle);
        const series = ["complete rings", "ring links in place"].map((label, k) => ({ label, shape: "line", look: k, x, y: this.rows.map((row) => row[k + 1]) }));
        const marks = this.marks.filter(([cycle]) => cycle >= x[0]);
        const chart = { title: "Rings", x: "cycle", y: "%", xScale: "linear", yScale: "linear", top: 103, pick: "x", height: 150, series, marks };
        this.place.replaceChildren(drawChart(chart, width).svg);
      }, EVERY);
    }
  }

  globalThis.sub2sub = { ...globalThis.sub2sub, Curves };
})();
