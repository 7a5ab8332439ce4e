// Parts of a page of which one is shown: which one, selects decide; equal names choose alike all over the page.
(() => {
  "use strict";
  const blocks = [...document.querySelectorAll(".choices")];

  const show = (block) => {
    const chosen = [...block.querySelectorAll(":scope > .choose select")].map((select) => select.value).join(" ");
    for (const part of block.querySelectorAll(":scope > [data-case]")) part.hidden = part.dataset.case !== chosen;
  };

  for (const block of blocks) {
    for (const select of block.querySelectorAll(":scope > .choose select")) {
      select.addEventListener("change", () => {
        const text = select.selectedOptions[0].textContent;
        for (const other of document.querySelectorAll(".choices > .choose select")) {
          const same = other.name === select.name && [...other.options].find((option) => option.textContent === text);
          if (same) other.value = same.value;
        }
        blocks.forEach(show);
      });
    }
    show(block);
  }
})();
