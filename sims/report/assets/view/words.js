// What an overlay view says in words.
(() => {
  "use strict";
  const { round } = globalThis.sub2sub;
  const WHOLE = new Intl.NumberFormat("en");

  const number = (value) => WHOLE.format(value);
  const many = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;

  // What became of the event.
  const summary = ({ members, trace, world }) => {
    const { reached, hops, messages, duplicates } = trace.counts;
    const m = members.length;
    if (!m) return "Nobody subscribes to this event.";
    const who = reached === m ? `all ${many(m, "subscriber")}` : `${number(reached)} of ${many(m, "subscriber")}`;
    return `At cycle ${world.cycle} the event reached ${who} after ${many(hops, "hop")}, with ${many(messages, "message")}, ${number(duplicates)} of them duplicates.`;
  };

  // A peer, what it knows and what it did, in lines.
  const describe = ({ world, trace, head }, peer) => {
    const id = world.id ? `, ID ${world.id[peer].toString(16).padStart(16, "0")}` : "";
    const ranges = head.attributes.map((title, k) => {
      const at = peer * world.d + k;
      return `${title}: ${round(world.low[at])} to ${round(world.high[at])}`;
    });
    const [ring, near, random] = ["ring", "near", "random"].map((view) => world[view].start[peer + 1] - world[view].start[peer]);
    const fate = trace.hop.has(peer)
      ? `reached at hop ${trace.hop.get(peer)}; got it ${many(trace.copies.get(peer), "time")}, passed it on ${many(trace.sent.get(peer), "time")}`
      : "not reached";
    return [`Peer ${number(peer)}${id}`, ...ranges, `knows ${ring} ring, ${near} proximity, ${random} random links`, fate].join("\n");
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, describe, number, summary };
})();
