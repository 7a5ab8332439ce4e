// Paper is white and cannot be clicked: what is folded opens, the theme is the light one; afterwards all is as it was.
(() => {
  "use strict";
  const root = document.documentElement;
  const WHOLE = 680, HALF = 330; // pixels a chart is wide on A4, alone or beside another, so that texts keep their size
  let before = null;
  addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, folded: [...document.querySelectorAll("details.section:not([open])")] };
    root.dataset.theme = "light";
    for (const part of before.folded) part.open = true;
    for (const select of document.querySelectorAll(".choose select")) select.parentElement.dataset.chosen = select.selectedOptions[0]?.textContent ?? "";
    for (const figure of document.querySelectorAll("figure.chart")) figure.chart?.draw(figure.matches(":only-child") ? WHOLE : HALF);
    document.dispatchEvent(new Event("themechange"));
  });
  addEventListener("afterprint", () => {
    if (before === null) return;
    if (before.theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = before.theme;
    for (const part of before.folded) part.open = false;
    for (const figure of document.querySelectorAll("figure.chart")) figure.chart?.draw(figure.chart.place.clientWidth);
    before = null;
    document.dispatchEvent(new Event("themechange"));
  });
})();
