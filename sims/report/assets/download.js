// Files that the page hands to whoever reads it.
(() => {
  "use strict";
  const download = (name, type, text) => {
    const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  globalThis.sub2sub = { ...globalThis.sub2sub, download };
})();
