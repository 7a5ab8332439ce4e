// What the browser knows of the overlay: who is there, and the views of those the present event is meant for.
(() => {
  "use strict";
  const { apply, below, cycleKey, draw, inPlace, peerKey, spread } = globalThis.sub2sub;
  const VIEWS = ["near", "random", "ring"];

  class World {
    constructor({ head, arrays }) {
      Object.assign(this, { head, n: head.n, d: head.d, low: arrays.low.slice(), high: arrays.high.slice(), id: arrays.id.slice() });
      this.alive = new Uint8Array(this.n);
      this.group = new Uint8Array(this.n);
      this.closed = new Uint8Array(this.n).fill(255);
      this.hosts = null;
      this.cycle = 0;
      this.members = [];
      for (const name of VIEWS) this[name] = { start: new Uint32Array(this.n + 1), target: new Uint32Array(0) };
    }

    take({ head, arrays }) {
      this.cycle = head.cycle;
      this.alive = apply(this.alive, arrays, "alive");
      this.closed = apply(this.closed, arrays, "closed");
      arrays.moved?.forEach((peer, k) => {
        for (let axis = 0; axis < this.d; axis++) {
          this.low[peer * this.d + axis] = arrays.low[k * this.d + axis];
          this.high[peer * this.d + axis] = arrays.high[k * this.d + axis];
        }
      });
      if (arrays["hosts-of"]) this.hosts = { of: arrays["hosts-of"].slice(), start: arrays["hosts-start"].slice(), peers: arrays["hosts-peers"].slice() };
      if (head.event) this.takeViews(arrays);
    }

    // Views of the members only: nobody else is sent the event.
    takeViews(arrays) {
      this.members = Array.from(arrays.members);
      for (const name of VIEWS) {
        const start = new Uint32Array(this.n + 1), size = arrays[`${name}-size`];
        if (!size) {
          this[name] = { start, target: new Uint32Array(0) }; // comes when an event is published
          continue;
        }
        let at = 0, next = 0;
        this.members.forEach((peer, k) => {
          while (next <= peer) start[next++] = at;
          at += size[k];
        });
        while (next <= this.n) start[next++] = at;
        this[name] = { start, target: arrays[`${name}-target`].slice() };
      }
    }

    place() {
      return inPlace(this, this.members);
    }

    // What becomes of an event along rings and shortcuts, as in the library for the same number.
    spread(point, number, how) {
      const { seed, streams } = this.head;
      const key = (stream) => peerKey(cycleKey(BigInt(seed), BigInt(streams[stream]), this.cycle), number);
      const m = this.members.length;
      const entry = m ? this.members[below(draw(key("entry"), 0), m)] : -1;
      return { entry, trace: spread(this, point, entry, key("dissemination"), how) };
    }

    // What CAMCAST's routing came to: rounds, without single messages.
    rounds({ entry, counts }, rounds) {
      const hop = new Map();
      this.members.forEach((peer, k) => {
        if (rounds[k] >= 0) hop.set(peer, rounds[k]);
      });
      const order = [...hop.keys()].sort((a, b) => hop.get(a) - hop.get(b));
      return { entry, trace: { hop, from: new Map(), sent: new Map(), copies: new Map(), order, messages: [], counts } };
    }
  }

  globalThis.sub2sub = { ...globalThis.sub2sub, World };
})();
