// Paper is white and can be neither clicked nor scrolled: what is folded opens, the theme is the light one, wide tables
// become smaller, and those that could not be read any more show each row as a block of named values; afterwards all is as it was.
(() => {
  "use strict";
  const root = document.documentElement;
  const WHOLE = 680, HALF = 330; // pixels a chart is wide on A4, alone or beside another, so that texts keep their size
  const SMALLEST = 0.6; // of its size on the screen, for a table to be read
  let before = null;
  const fit = (table) => {
    const size = Math.min(1, table.clientWidth / table.scrollWidth || 1); // one that is not shown has no width
    table.classList.toggle("blocks", size < SMALLEST && "improved" in table.dataset);
    table.style.zoom = table.matches(".blocks") ? "" : size;
  };
  addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, folded: [...document.querySelectorAll("details.section:not([open])")] };
    root.dataset.theme = "light";
    for (const part of before.folded) part.open = true;
    for (const figure of document.querySelectorAll("figure.chart")) figure.chart?.draw(figure.matches(":only-child") ? WHOLE : HALF);
    root.classList.add("printing"); // tables are as wide as on paper
    for (const table of document.querySelectorAll(".table")) fit(table);
    root.classList.remove("printing");
    document.dispatchEvent(new Event("themechange"));
  });
  addEventListener("afterprint", () => {
    if (before === null) return;
    if (before.theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = before.theme;
    for (const part of before.folded) part.open = false;
    for (const figure of document.querySelectorAll("figure.chart")) figure.chart?.draw(figure.chart.place.clientWidth);
    for (const table of document.querySelectorAll(".table")) {
      table.classList.remove("blocks");
      table.style.zoom = "";
    }
    before = null;
    document.dispatchEvent(new Event("themechange"));
  });
})();
