// The event's ring: those that match, clockwise in the order of their sequence IDs, and messages between them.
(() => {
  "use strict";
  const { prepare } = globalThis.sub2sub;
  const DASHES = { ring: [], near: [7, 5], random: [2, 4] };

  // Whether a peer's ring view holds another.
  const knows = ({ ring, n }, holder, peer) => {
    const way = (to) => (to - holder + n) % n;
    let low = ring.start[holder], high = ring.start[holder + 1];
    const end = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (way(ring.target[middle]) < way(peer)) low = middle + 1;
      else high = middle;
    }
    return low < end && ring.target[low] === peer;
  };

  // For each member of a ring, whether it knows its next, and its previous one; as sims/observers/rings.py counts.
  const inPlace = (world, ring) => {
    const m = ring.length;
    if (m < 2) return { next: [], previous: [], found: 0, needed: 0 };
    const next = ring.map((peer, k) => knows(world, peer, ring[(k + 1) % m]));
    const previous = ring.map((peer, k) => knows(world, peer, ring[(k + m - 1) % m]));
    const found = [...next, ...previous].filter(Boolean).length;
    return { next, previous, found, needed: 2 * m };
  };

  class Ring {
    constructor(canvas) {
      this.canvas = canvas;
    }

    // Where a peer is, also one that is not on the ring: between those before and after it.
    place(peer) {
      const { ring } = this.state;
      let low = 0, high = ring.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ring[middle] < peer) low = middle + 1;
        else high = middle;
      }
      const on = ring[low] === peer;
      const angle = ((low - (on ? 0 : 0.5)) / Math.max(ring.length, 1)) * 2 * Math.PI - Math.PI / 2;
      return [this.cx + this.radius * Math.cos(angle), this.cy + this.radius * Math.sin(angle)];
    }

    // A curve bent towards the centre, the more so the farther its ends are apart; `until` of it.
    curve(context, from, to, until = 1) {
      const [[ax, ay], [bx, by]] = [from, to];
      const inwards = [this.cx - (ax + bx) / 2, this.cy - (ay + by) / 2];
      const depth = Math.max(Math.hypot(...inwards), 1);
      const pull = Math.min(0.65, (0.8 * Math.hypot(bx - ax, by - ay)) / depth);
      const mx = (ax + bx) / 2 + pull * inwards[0], my = (ay + by) / 2 + pull * inwards[1];
      const at = (t) => [
        (1 - t) ** 2 * ax + 2 * t * (1 - t) * mx + t * t * bx,
        (1 - t) ** 2 * ay + 2 * t * (1 - t) * my + t * t * by,
      ];
      // The part of a quadratic curve up to `until` is one, too: de Casteljau.
      const [ex, ey] = at(until);
      context.moveTo(ax, ay);
      context.quadraticCurveTo(ax + until * (mx - ax), ay + until * (my - ay), ex, ey);
      return [ex, ey];
    }

    // `state`: world, ring, entry, place (of `inPlace`), trace, time, reached(peer), fresh, links (kinds), hovered.
    draw(state, colours) {
      const [context, width, height] = prepare(this.canvas);
      [this.state, this.cx, this.cy] = [state, width / 2, height / 2];
      this.radius = Math.min(width, height) / 2 - 26;
      const { ring } = state;
      if (this.radius < 10) return; // not laid out yet
      if (!ring.length) {
        this.write(context, colours, "nobody", "subscribes to this event");
        return;
      }
      this.dot = Math.max(1.5, Math.min(8, (0.95 * Math.PI * this.radius) / ring.length));
      this.drawGaps(context, colours);
      for (const kind of ["random", "near", "ring"]) if (state.links.has(kind)) this.drawLinks(context, colours, kind);
      if (state.hovered >= 0) this.drawViews(context, colours, state.hovered);
      this.drawMessages(context, colours);
      this.drawPeers(context, colours);
      const now = ring.reduce((sum, peer) => sum + (state.reached(peer) ? 1 : 0), 0);
      this.write(context, colours, `${now} / ${ring.length}`, `reached at hop ${Math.min(Math.floor(state.time), Math.max(state.trace.counts.hops, 0))}`);
    }

    write(context, colours, large, small) {
      context.textAlign = "center";
      context.textBaseline = "middle";
      const lines = [[large, "600 26px", -8, colours.ink], [small, "13px", 17, colours.soft]];
      for (const [text, font, dy, colour] of lines) {
        context.font = `${font} system-ui, sans-serif`;
        context.lineWidth = 5;
        context.strokeStyle = colours.paper;
        context.globalAlpha = 0.85;
        context.strokeText(text, this.cx, this.cy + dy);
        context.globalAlpha = 1;
        context.fillStyle = colour;
        context.fillText(text, this.cx, this.cy + dy);
      }
    }

    // The ring as it should be, and outside of it what is missing of it.
    drawGaps(context, colours) {
      const { ring, place } = this.state;
      const m = ring.length;
      context.strokeStyle = colours.rule;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(this.cx, this.cy, this.radius, 0, 7);
      context.stroke();
      if (m < 2) return;
      context.strokeStyle = colours.failed;
      context.lineWidth = 4;
      const turn = (2 * Math.PI) / m;
      for (let k = 0; k < m; k++) {
        const known = place.next[k] + place.previous[(k + 1) % m];
        if (known === 2) continue;
        const from = k * turn - Math.PI / 2;
        context.globalAlpha = known === 1 ? 0.4 : 0.95;
        context.beginPath();
        context.arc(this.cx, this.cy, this.radius + this.dot + 6, from + 0.08 * turn, from + 0.92 * turn);
        context.stroke();
      }
      context.globalAlpha = 1;
    }

    // All links of one kind among those that match.
    drawLinks(context, colours, kind) {
      const { world, ring } = this.state;
      const { start, target } = world[kind];
      const members = new Set(ring);
      context.beginPath();
      let count = 0;
      for (const peer of ring) {
        for (let k = start[peer]; k < start[peer + 1]; k++) {
          if (!members.has(target[k])) continue;
          this.curve(context, this.place(peer), this.place(target[k]));
          count++;
        }
      }
      context.globalAlpha = Math.max(0.04, Math.min(0.5, 120 / Math.max(count, 1)));
      context.strokeStyle = colours[kind];
      context.lineWidth = 1;
      context.stroke();
      context.globalAlpha = 1;
    }

    // The links of one peer that lead to others on the ring.
    drawViews(context, colours, peer) {
      const { world, ring } = this.state;
      const members = new Set(ring);
      context.lineWidth = 1.8;
      for (const kind of ["random", "near", "ring"]) {
        const { start, target } = world[kind];
        context.strokeStyle = colours[kind];
        context.setLineDash(DASHES[kind]);
        context.beginPath();
        for (let k = start[peer]; k < start[peer + 1]; k++) {
          if (members.has(target[k])) this.curve(context, this.place(peer), this.place(target[k]));
        }
        context.stroke();
      }
      context.setLineDash([]);
    }

    // What has been delivered so far, faintly, and what is on its way. Curves of one look are drawn at once.
    drawMessages(context, colours) {
      const { trace, time, hovered } = this.state;
      const looks = new Map();
      for (const message of trace.messages) {
        if (message.hop > Math.ceil(time)) break; // they are in the order of their hops
        const travelling = message.hop > time;
        if (!travelling && message.fate !== "new") continue;
        const look = `${travelling} ${message.kind} ${message.fate}`;
        if (!looks.has(look)) looks.set(look, []);
        looks.get(look).push(message);
      }
      for (const messages of looks.values()) {
        const { hop, kind, fate } = messages[0];
        const travelling = hop > time;
        const until = travelling ? 1 - (hop - time) : 1;
        const busy = Math.max(0.35, Math.min(1, 60 / messages.length));
        context.globalAlpha = travelling ? (fate === "duplicate" ? 0.55 * busy : busy) : hovered >= 0 ? 0.08 : 0.32;
        context.strokeStyle = context.fillStyle = fate === "failed" ? colours.failed : colours[kind];
        context.lineWidth = travelling ? 2 : 1.4;
        context.setLineDash(messages.length < 300 ? DASHES[kind] : []);
        context.beginPath();
        const reach = fate === "failed" ? Math.min(until, 0.6) : until;
        const ends = messages.map(({ from, to, taker }) => this.curve(context, this.place(from), this.place(taker >= 0 ? taker : to), reach));
        context.stroke();
        context.setLineDash([]);
        if (travelling) this.drawEnds(context, ends, fate === "failed");
      }
      context.globalAlpha = 1;
    }

    // The tips of messages on their way: dots, or crosses for those that fail.
    drawEnds(context, ends, failed) {
      context.beginPath();
      for (const [x, y] of ends) {
        if (failed) {
          for (const slope of [1, -1]) {
            context.moveTo(x - 4, y - 4 * slope);
            context.lineTo(x + 4, y + 4 * slope);
          }
        } else {
          context.moveTo(x + 3.2, y);
          context.arc(x, y, 3.2, 0, 7);
        }
      }
      if (failed) context.stroke();
      else context.fill();
    }

    // Waiting ones hollow, reached ones lit, those of this hop larger; where the event entered, a diamond.
    drawPeers(context, colours) {
      const { ring, entry, fresh, hovered, reached } = this.state;
      const isFresh = new Set(fresh);
      const waiting = ring.filter((peer) => !reached(peer));
      const lit = ring.filter((peer) => reached(peer) && !isFresh.has(peer));
      const thin = Math.min(1.2, this.dot / 2.2);
      const groups = [
        [waiting, this.dot, colours.paper, colours.soft, thin],
        [lit, this.dot, colours.lit, colours.ink, thin],
        [fresh, Math.max(1.3 * this.dot, 3.5), colours.lit, colours.ink, 1.8],
        [hovered >= 0 ? [hovered] : [], this.dot, reached(hovered) ? colours.lit : colours.paper, colours.ink, 3.5],
      ];
      for (const [peers, size, fill, stroke, thick] of groups) {
        context.beginPath();
        for (const peer of peers) {
          const [x, y] = this.place(peer);
          if (peer === entry) this.diamond(context, x, y, 1.3 * Math.max(size, 4));
          else {
            context.moveTo(x + size, y);
            context.arc(x, y, size, 0, 7);
          }
        }
        [context.fillStyle, context.strokeStyle, context.lineWidth] = [fill, stroke, thick];
        context.fill();
        context.stroke();
      }
    }

    diamond(context, x, y, size) {
      context.moveTo(x, y - size);
      context.lineTo(x + size, y);
      context.lineTo(x, y + size);
      context.lineTo(x - size, y);
      context.closePath();
    }

    // The member of the ring nearest to a pixel, if that is close to it; -1 for none.
    at(px, py) {
      if (!this.state || !this.state.ring.length) return -1;
      const { ring } = this.state;
      if (Math.abs(Math.hypot(px - this.cx, py - this.cy) - this.radius) > Math.max(14, this.dot + 6)) return -1;
      const turn = (Math.atan2(py - this.cy, px - this.cx) + 2.5 * Math.PI) % (2 * Math.PI);
      return ring[Math.round((turn / (2 * Math.PI)) * ring.length) % ring.length];
    }
  }

  globalThis.sub2sub = { ...globalThis.sub2sub, Ring, inPlace };
})();
