// What every page does: the theme button, links to folded parts, and the contents entry of the section being read.
(() => {
  "use strict";
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const show = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    document.dispatchEvent(new Event("themechange"));
  };
  let current = "system";
  button.addEventListener("click", () => {
    current = themes[(themes.indexOf(current) + 1) % themes.length];
    show(current);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    document.dispatchEvent(new Event("themechange")),
  );

  // A link to something folded opens what it is in.
  const unfold = () => {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return; // not an anchor of ours
    }
    const folded = target?.closest("details:not([open])");
    if (!folded) return;
    folded.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  const contents = document.querySelector(".contents details");
  if (contents && !matchMedia("(min-width: 64rem)").matches) contents.open = false;
  const entries = [...document.querySelectorAll(".contents a")];
  const sections = entries.map((entry) => document.getElementById(entry.hash.slice(1)));
  const mark = () => {
    let here = 0;
    sections.forEach((section, k) => {
      if (section.getBoundingClientRect().top < innerHeight / 3) here = k;
    });
    entries.forEach((entry, k) => entry.classList.toggle("here", k === here));
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  }, { passive: true });
  if (entries.length) mark();
})();
