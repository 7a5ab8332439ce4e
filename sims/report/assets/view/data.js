// From the bytes in the page to a world that `spread` knows; see packing.py and overlay.py.
(() => {
  "use strict";

  const unpack = async ({ at, type, size }) => {
    const text = atob(document.getElementById(at).textContent);
    const packed = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) packed[k] = text.charCodeAt(k);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    const Kind = globalThis[type];
    const width = Kind.BYTES_PER_ELEMENT;
    const bytes = new Uint8Array(size * width);
    for (let p = 0, from = 0; p < width; p++) {
      for (let to = p; to < bytes.length; to += width) bytes[to] = planes[from++];
    }
    return new Kind(bytes.buffer);
  };

  const startsOf = (sizes) => {
    const start = new Uint32Array(sizes.length + 1);
    for (let k = 0; k < sizes.length; k++) start[k + 1] = start[k] + sizes[k];
    return start;
  };

  // Ring neighbours from the gaps between them, beginning at their holder.
  const neighbours = (start, gaps, n) => {
    const target = new Uint32Array(gaps.length);
    for (let holder = 0; holder < n; holder++) {
      let peer = holder;
      for (let k = start[holder]; k < start[holder + 1]; k++) {
        peer = (peer + gaps[k]) % n;
        target[k] = peer;
      }
    }
    return target;
  };

  const world = async (shot, d) => {
    const { cycle, n } = shot;
    const [low, high, alive, id, group] = await Promise.all([
      unpack(shot.low),
      unpack(shot.high),
      unpack(shot.alive),
      shot.id ? unpack(shot.id) : null,
      shot.group ? unpack(shot.group) : new Uint8Array(n),
    ]);
    const views = {};
    for (const name of ["near", "random", "ring"]) {
      const start = startsOf(await unpack(shot[name].size));
      const target = shot[name].gap
        ? neighbours(start, await unpack(shot[name].gap), n)
        : await unpack(shot[name].target);
      views[name] = { start, target };
    }
    let hosts = null;
    if (shot.hosts) {
      const [of, start, peers] = await Promise.all([shot.hosts.of, shot.hosts.start, shot.hosts.peers].map(unpack));
      hosts = { of, start, peers };
    }
    return { cycle, n, d, low, high, alive, id, group, hosts, ...views };
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, unpack, world };
})();
