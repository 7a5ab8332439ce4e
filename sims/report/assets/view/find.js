// Finding a peer by its number, or by the beginning of its sequence ID.
(() => {
  "use strict";

  const peerNamed = ({ n, id }, text) => {
    const name = text.trim().replaceAll(",", "").toLowerCase();
    if (/^\d+$/.test(name) && Number(name) < n) return Number(name);
    if (id && /^[0-9a-f]{4,16}$/.test(name)) {
      for (let peer = 0; peer < n; peer++) if (id[peer].toString(16).padStart(16, "0").startsWith(name)) return peer;
    }
    return -1;
  };

  // An event in the middle of the peer's box, entering there; says why where there is none.
  const find = (view, text) => {
    const { world, d } = view;
    const peer = peerNamed(world, text);
    if (peer < 0) return `No peer is called “${text}”: expected a number below ${world.n.toLocaleString("en")}, or the first four digits or more of a sequence ID.`;
    if (!world.alive[peer]) return `Peer ${peer} is down at cycle ${world.cycle}.`;
    const point = view.head.domain.map(([low, high], k) => {
      const from = Math.max(low, world.low[peer * d + k]), to = Math.min(high, world.high[peer * d + k]);
      return (from + to) / 2;
    });
    view.publish(point, true, peer);
    view.hover(peer);
    return null;
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, find };
})();
