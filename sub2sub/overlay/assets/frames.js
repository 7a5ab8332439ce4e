// A message of the server: a head in JSON, and typed arrays behind it; see explorer.py.
(() => {
  "use strict";
  const decodeFrame = (buffer) => {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    const arrays = {};
    let at = 4 + length;
    for (const [name, type, size] of head.parts) {
      const Kind = globalThis[type];
      at = Math.ceil(at / 8) * 8;
      arrays[name] = new Kind(buffer, at, size);
      at += size * Kind.BYTES_PER_ELEMENT;
    }
    return { head, arrays };
  };

  // An array kept from frame to frame: sent whole, or as the places that changed.
  const apply = (kept, arrays, name) => {
    if (arrays[name]) return arrays[name].slice();
    const places = arrays[`${name}-places`];
    if (places) places.forEach((place, k) => (kept[place] = arrays[`${name}-values`][k]));
    return kept;
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, apply, decodeFrame };
})();
