// Tables that sort by a click on a column's name, filter by a word, and download as CSV.
(() => {
  "use strict";
  const { download } = globalThis.sub2sub;
  const FILTER_FROM = 9; // rows that are too many to take in at a glance

  const valueOf = (cell) => {
    const text = cell?.dataset.value ?? cell?.textContent.trim() ?? "";
    if (text === "" || text === "—" || text === "–") return null;
    const number = Number(text.replace(/,/g, "").replace(/\s*%$/, "").replace(/ ±.*/, ""));
    return Number.isNaN(number) ? text : number;
  };

  // What is missing comes last, whichever way; numbers before words.
  const compare = (a, b) => {
    if (a === null || b === null) return null;
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    return typeof a === "number" ? -1 : 1;
  };

  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csvOf = (table) => {
    const line = (row) => [...row.cells].map((cell) => quoted(cell.dataset.value ?? cell.textContent.trim())).join(",");
    return [...table.rows].filter((row) => !row.hidden).map(line).join("\n") + "\n";
  };

  const sortBy = (table, column, way) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      const found = compare(a, b);
      return found === null ? (a === null) - (b === null) : way * found;
    });
    body.append(...rows.map(([, row]) => row));
    [...table.tHead.rows[0].cells].forEach((cell, k) => {
      if (k === column) cell.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
  };

  // In a narrow window a table that does not fit shows each row as a block of named values.
  const NARROW = 640;
  const fold = (frame) => {
    const table = frame.querySelector("table");
    if (!table?.tHead || matchMedia("print").matches) return;
    frame.classList.remove("cards");
    frame.classList.toggle("cards", innerWidth < NARROW && table.scrollWidth > frame.clientWidth && frame.clientWidth > 0);
  };
  const label = (table) => {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, k) => (cell.dataset.label = names[k] ?? ""));
  };

  const improve = (frame, name = "table") => {
    const table = frame.querySelector("table");
    if (!table?.tHead || !table.tBodies.length || frame.dataset.improved) return;
    frame.dataset.improved = "true";
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "sort", title: "Sort by this column" });
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => sortBy(table, column, cell.getAttribute("aria-sort") === "ascending" ? -1 : 1));
    });
    const tools = Object.assign(document.createElement("div"), { className: "table-tools" });
    if (table.tBodies[0].rows.length >= FILTER_FROM) {
      const filter = Object.assign(document.createElement("input"), { type: "search", placeholder: "Filter rows", ariaLabel: "Filter rows" });
      filter.addEventListener("input", () => {
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        for (const row of table.tBodies[0].rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      });
      tools.append(filter);
    }
    const csv = Object.assign(document.createElement("button"), { type: "button", textContent: "CSV", title: "Download the rows shown" });
    csv.dataset.tool = "csv";
    csv.addEventListener("click", () => download(`${name}.csv`, "text/csv", csvOf(table)));
    tools.append(csv);
    frame.after(tools);
    label(table);
    new ResizeObserver(() => fold(frame)).observe(frame);
  };

  for (const frame of document.querySelectorAll("div.table")) {
    if (!frame.closest("section.overlay")) improve(frame, frame.dataset.name);
  }
  globalThis.sub2sub = { ...globalThis.sub2sub, improveTable: improve };
})();
