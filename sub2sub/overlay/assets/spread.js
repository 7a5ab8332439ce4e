// What becomes of one event: sub2sub/compiled/events/forwarding.py and hosts.py once more, decision for decision and draw for
// draw, but with every message kept, so that it can be shown.
//
// A world is what one recorded cycle looks like:
//   n, d, low, high (closed ranges, n * d), alive (n), group (n),
//   near, random, ring: { start (n + 1), target }, the links of each peer in the order of its view,
//   hosts: null, or { of (n), start, peers }.
// How: { shortcuts, ringShortcuts, tries, retries, loss }.
(() => {
  "use strict";
  const { below, draw, peerKey, unit } = globalThis.sub2sub;
  const LOSS = 2 ** 32; // where a peer's draws for losses begin, two a message; those for shortcuts begin at 0

  const matches = (world, peer, point) => {
    for (let k = 0, at = peer * world.d; k < world.d; k++, at++) {
      if (!(world.low[at] <= point[k] && point[k] <= world.high[at])) return false;
    }
    return true;
  };

  // Live peers that match: the event's ring, as peers are numbered in the order of their IDs.
  const audience = (world, point) => {
    const found = [];
    for (let peer = 0; peer < world.n; peer++) {
      if (world.alive[peer] && matches(world, peer, point)) found.push(peer);
    }
    return found;
  };

  const shareHost = ({ hosts }, a, b) => hosts !== null && hosts.of[a] === hosts.of[b] && hosts.of[a] >= 0;

  const isUp = ({ alive, hosts }, peer) => {
    if (alive[peer]) return true;
    if (hosts === null || hosts.of[peer] < 0) return false;
    return hosts.start[hosts.of[peer] + 1] > hosts.start[hosts.of[peer]];
  };

  // Who takes an event that arrived for a peer: it, or one of its host that matches; -1 for nobody.
  const resident = (world, peer, point) => {
    const { alive, hosts } = world;
    if (alive[peer]) return matches(world, peer, point) ? peer : -1;
    if (hosts !== null && hosts.of[peer] >= 0) {
      for (let k = hosts.start[hosts.of[peer]]; k < hosts.start[hosts.of[peer] + 1]; k++) {
        if (matches(world, hosts.peers[k], point)) return hosts.peers[k];
      }
    }
    return -1;
  };

  // The places of a peer's links: proximity, then random, then ring.
  const target = ({ near, random, ring }, holder, place) => {
    const nearSize = near.start[holder + 1] - near.start[holder];
    if (place < nearSize) return [near.target[near.start[holder] + place], "near"];
    const left = place - nearSize;
    const randomSize = random.start[holder + 1] - random.start[holder];
    if (left < randomSize) return [random.target[random.start[holder] + left], "random"];
    return [ring.target[ring.start[holder] + left - randomSize], "ring"];
  };

  // Spread an event from a peer on. Returns
  //   hop, from, sent, copies: Maps of the peers that took it: at which hop, from whom, messages sent on, copies got,
  //   order: those peers in the order in which they took it,
  //   messages: { hop (at which it arrives), from, to, taker, kind, fate, local (within a host) },
  //   counts: { reached, hops, messages, local, duplicates, spam, failed, acks }.
  const spread = (world, point, entry, key, how) => {
    const hop = new Map(), from = new Map(), sent = new Map(), copies = new Map();
    const order = [], messages = [];
    const counts = { reached: 0, hops: -1, messages: 0, local: 0, duplicates: 0, spam: 0, failed: 0, acks: 0 };
    let now = 0; // the hop at which what is sent now arrives

    const receive = (peer, sender) => {
      const taker = resident(world, peer, point);
      if (taker < 0) {
        counts.spam++;
        return [taker, "spam"];
      }
      if (hop.has(taker)) {
        counts.duplicates++;
        copies.set(taker, copies.get(taker) + 1);
        return [taker, "duplicate"];
      }
      hop.set(taker, now);
      from.set(taker, sender);
      sent.set(taker, 0);
      copies.set(taker, 1);
      order.push(taker);
      counts.reached++;
      return [taker, "new"];
    };

    const isLost = (turn, k) => how.loss > 0 && unit(draw(turn.draws, LOSS + k)) < how.loss;

    // Sends the event to another host until it answers; no tries: once, unacknowledged, taken to have arrived.
    const sendAfar = (turn, peer, kind, tries) => {
      const reachable = world.group[turn.peer] === world.group[peer] && isUp(world, peer);
      for (let attempt = 0; attempt < Math.max(tries, 1); attempt++) {
        const number = sent.get(turn.peer);
        sent.set(turn.peer, number + 1);
        counts.messages++;
        let taker = -1, fate = "failed";
        const arrives = reachable && !isLost(turn, 2 * number);
        if (arrives) [taker, fate] = receive(peer, turn.peer);
        else counts.failed++;
        messages.push({ hop: now, from: turn.peer, to: peer, taker, kind, fate, local: false });
        if (arrives && tries > 0) {
          counts.acks++;
          if (!isLost(turn, 2 * number + 1)) return taker >= 0;
        }
      }
      return tries === 0;
    };

    // Returns whether somebody there has the event now, as far as the sender knows.
    const send = (turn, peer, kind, tries) => {
      let took = false;
      if (!shareHost(world, turn.peer, peer)) took = sendAfar(turn, peer, kind, tries);
      else if (world.alive[peer]) { // a host knows which of its peers are gone
        counts.local++;
        const [taker, fate] = receive(peer, turn.peer);
        messages.push({ hop: now, from: turn.peer, to: peer, taker, kind, fate, local: true });
        took = taker >= 0;
      }
      turn.sentTo.set(peer, took);
      return took;
    };

    // To the nearest neighbour up the ring that matches, then down the ring.
    const followRing = (turn) => {
      const { start, target: neighbours } = world.ring;
      const first = start[turn.peer], end = start[turn.peer + 1];
      const tries = how.tries > 1 || how.retries > 0 ? how.tries : 0;
      for (const direction of [1, -1]) {
        let failed = 0;
        for (let place = direction === 1 ? first : end - 1; first <= place && place < end; place += direction) {
          const neighbour = neighbours[place];
          if (!matches(world, neighbour, point)) continue;
          const before = turn.sentTo.get(neighbour);
          if (neighbour === turn.cameFrom || before === true) break;
          if (before === undefined) {
            if (send(turn, neighbour, "ring", tries)) break;
            failed++;
            if (failed > how.retries) break;
          }
        }
      }
    };

    // Along random links that match, to peers not yet sent to.
    const followShortcuts = (turn) => {
      const { near, random, ring } = world;
      const size = (view) => view.start[turn.peer + 1] - view.start[turn.peer];
      const total = size(near) + size(random) + (how.ringShortcuts ? size(ring) : 0);
      const places = Array.from({ length: total }, (_, k) => k);
      let left = how.shortcuts;
      for (let k = 0; k < total && left > 0; k++) {
        const other = k + below(draw(turn.draws, k), total - k);
        const place = places[other];
        places[other] = places[k];
        const [to, kind] = target(world, turn.peer, place);
        if (to !== turn.cameFrom && matches(world, to, point) && !turn.sentTo.has(to)) {
          send(turn, to, kind, 0);
          left--;
        }
      }
    };

    if (entry >= 0 && isUp(world, entry)) {
      receive(entry, -1);
      for (let head = 0; head < order.length; head++) {
        const peer = order[head];
        counts.hops = hop.get(peer);
        now = counts.hops + 1;
        const turn = { peer, cameFrom: from.get(peer), draws: peerKey(key, peer), sentTo: new Map() };
        followRing(turn);
        followShortcuts(turn);
      }
    }
    return { hop, from, sent, copies, order, messages, counts };
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, audience, matches, spread };
})();
