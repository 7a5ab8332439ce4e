// Elements of SVG, and a picture with its colours written into it.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-size", "font-weight", "text-anchor", "opacity"];
  const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif";

  const node = (tag, attributes = {}, ...children) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = FONT;
  const widthOf = (text) => ruler.measureText(text).width;

  // As a file that needs no style sheet, in the light colours that papers want.
  const standalone = (svg) => {
    const root = document.documentElement;
    const theme = root.dataset.theme;
    root.dataset.theme = "light";
    const copy = svg.cloneNode(true);
    const [from, to] = [svg, copy].map((top) => [top, ...top.querySelectorAll("*")]);
    from.forEach((original, k) => {
      const style = getComputedStyle(original);
      for (const name of STYLES) {
        const value = style.getPropertyValue(name);
        if (value && original !== svg) to[k].setAttribute(name, value);
      }
      to[k].removeAttribute("class");
    });
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("font-family", "system-ui, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif");
    copy.prepend(node("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
    for (const aid of copy.querySelectorAll("[data-aid]")) aid.remove();
    return new XMLSerializer().serializeToString(copy);
  };

  const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "chart";

  globalThis.sub2sub = { ...globalThis.sub2sub, node, slug, standalone, widthOf };
})();
