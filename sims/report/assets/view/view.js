// The overlay that one plays with: controls, the two pictures, and what they show of the same event.
(() => {
  "use strict";
  const { askedFor, attach, audience, below, connect, cycleKey, describe, draw, inPlace, number, peerKey, Plane, Player, Ring } = globalThis.sub2sub;
  const { round, spread, summary, world } = globalThis.sub2sub;
  const TYPICAL = 60; // subscribers of the first event: enough to see something, few enough to tell apart

  class OverlayView {
    constructor(section, head, number) {
      this.section = section;
      this.number = number; // among the overlays of the page
      this.section.inert = true; // until there is an event to do something with
      this.head = head;
      this.d = head.attributes.length;
      this.axes = this.d > 1 ? [0, 1] : [0, -1];
      this.how = { ...head.how, loss: 0 };
      this.links = new Set();
      this.hovered = -1;
      this.worlds = new Map();
      this.tries = 0; // the number of the event, which draws depend on
      this.chosen = -1; // the peer at which the event is to enter; -1: a random one
      this.plane = new Plane(this.part("plane"));
      this.ring = new Ring(this.part("ring"));
      this.player = new Player((time) => this.show(time));
      attach(this);
    }

    part(role) {
      return this.section.querySelector(`[data-role="${role}"]`);
    }

    async start() {
      if (!("DecompressionStream" in globalThis)) {
        this.part("summary").textContent = "This needs a browser of 2023 or later.";
        return;
      }
      this.readColours();
      await this.goTo(this.head.snapshots.length - 1);
      this.publish(this.randomPoint(TYPICAL), false);
      this.section.inert = false;
      if (!(await connect(this, this.number, views))) this.playWhenSeen();
      this.section.dataset.ready = "true";
    }

    // A point of the space under a pixel of the plane.
    pointAt(px, py) {
      const point = [...this.point];
      const [x, y] = this.axes;
      point[x] = this.plane.frame.fromX(px);
      if (y >= 0) point[y] = this.plane.frame.fromY(py);
      return point;
    }

    nudge(way, share) {
      const point = [...this.point];
      this.axes.forEach((k, n) => {
        if (k < 0) return;
        const [low, high] = this.head.domain[k];
        point[k] = Math.max(low, Math.min(high, point[k] + way[n] * share * (high - low)));
      });
      this.publish(point, false);
    }

    chooseNext(by) {
      const { members } = this;
      if (!members.length) return;
      const place = members.indexOf(this.hovered);
      this.hover(place < 0 ? members[0] : members[(place + by + members.length) % members.length]);
      this.part("summary").textContent = describe(this, this.hovered).replaceAll("\n", "; ");
    }

    // Show the attribute k along axis n; if the other axis has it, they swap.
    turn(n, k) {
      if (this.axes[1 - n] === k) this.axes[1 - n] = this.axes[n];
      this.axes[n] = k;
      [this.part("x").value, this.part("y").value] = this.axes;
      this.repaint();
    }

    async goTo(index) {
      const shot = this.head.snapshots[index];
      this.wanted = index;
      if (!this.worlds.has(index)) this.worlds.set(index, world(shot, this.d));
      const found = await this.worlds.get(index);
      if (this.wanted !== index) return; // the slider has moved on
      this.world = found;
      this.up = found.alive.reduce((sum, up) => sum + up, 0);
      this.part("cycle").value = index;
      this.part("cycle-shown").textContent = `${shot.cycle}`;
      this.repaint();
      if (this.point) this.change(() => {});
    }

    // Something changed that an event's way depends on: the same event runs again, or is over again.
    change(act) {
      const over = this.player.time >= this.player.end;
      act();
      this.publish(this.point, !over, this.chosen);
      if (over) this.player.seek(this.player.end);
    }

    enterAt(peer) {
      this.publish(this.point, true, peer);
    }

    // The first event waits to be seen, unless somebody does something before.
    playWhenSeen() {
      const observer = new IntersectionObserver((seen) => {
        if (!seen.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        this.run();
      }, { threshold: 0.5 });
      observer.observe(this.part("plane"));
      for (const type of ["pointerdown", "keydown", "input"]) {
        this.section.addEventListener(type, () => observer.disconnect(), { once: true, capture: true });
      }
    }

    publishRandomly() {
      this.publish(this.randomPoint(Infinity), true);
    }

    // A point within the box of a random peer that others match as well; of several, one with about so many.
    randomPoint(about) {
      const { world: here, d } = this;
      let best = this.head.domain.map(([low, high]) => (low + high) / 2), off = Infinity;
      for (let attempt = 0; attempt < 40; attempt++) {
        const peer = Math.floor(Math.random() * here.n);
        if (!here.alive[peer]) continue;
        const point = Array.from({ length: d }, (_, k) => {
          const [low, high] = this.head.domain[k];
          const from = Math.max(low, here.low[peer * d + k]), to = Math.min(high, here.high[peer * d + k]);
          return from + Math.random() * (to - from);
        });
        const count = audience(here, point).length;
        if (count > 2 && about === Infinity) return point;
        const away = Math.abs(count - about);
        if (away < off) [best, off] = [point, away];
      }
      return best;
    }

    // Put an event at a point; `play` lets it run at once.
    publish(point, play, chosen = -1) {
      const moved = !this.point || point.some((value, k) => !this.axes.includes(k) && value !== this.point[k]);
      this.point = point;
      this.chosen = chosen;
      const { head, world: here } = this;
      const key = (stream) => peerKey(cycleKey(BigInt(head.seed), BigInt(head.streams[stream]), here.cycle), this.tries);
      this.members = audience(here, point);
      const m = this.members.length;
      if (chosen >= 0 && this.members.includes(chosen)) this.entry = chosen;
      else this.entry = m ? this.members[below(draw(key("entry"), 0), m)] : -1;
      this.trace = spread(here, point, this.entry, key("dissemination"), this.how);
      this.place = inPlace(here, this.members);
      this.tally();
      this.showSettings();
      if (moved) this.shade();
      const last = this.trace.messages.length ? this.trace.messages.at(-1).hop : 0;
      this.part("hop").max = last;
      this.player.reset(Math.max(last, this.trace.counts.hops, 0));
      if (play) this.run();
      this.published?.();
    }

    run() {
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.player.seek(this.player.end);
      else this.player.play();
    }

    // What each hop brings, and what has come up to it.
    tally() {
      const hops = Math.max(this.trace.counts.hops, this.trace.messages.at(-1)?.hop ?? 0, 0) + 1;
      const row = () => ({ fresh: [], messages: 0, ring: 0, near: 0, random: 0, duplicates: 0, failed: 0, spam: 0 });
      this.hops = Array.from({ length: hops }, row);
      for (const peer of this.trace.order) this.hops[this.trace.hop.get(peer)].fresh.push(peer);
      const fates = { duplicate: "duplicates", failed: "failed", spam: "spam" };
      for (const { hop, kind, fate, local } of this.trace.messages) {
        if (!local) this.hops[hop].messages++;
        this.hops[hop][kind]++;
        if (fate in fates) this.hops[hop][fates[fate]]++;
      }
      const body = this.part("hops");
      body.replaceChildren();
      let reached = 0;
      this.hops.forEach((hop, at) => {
        reached += hop.fresh.length;
        const line = body.insertRow();
        const cells = [at, hop.fresh.length, reached, hop.messages, hop.ring, hop.near, hop.random, hop.duplicates, hop.failed];
        for (const cell of cells) Object.assign(line.insertCell(), { className: "number", textContent: number(cell) });
      });
    }

    showSettings() {
      this.part("shortcuts-shown").textContent = this.how.shortcuts;
      this.part("loss-shown").textContent = `${Math.round(100 * this.how.loss)} %`;
      for (const slider of this.section.querySelectorAll("[data-attribute]")) {
        const value = this.point[Number(slider.dataset.attribute)];
        slider.value = value;
        slider.nextElementSibling.textContent = round(value);
      }
      this.section.dataset.point = JSON.stringify(this.point);
      this.section.dataset.entry = this.entry;
      this.section.dataset.cycle = this.world.cycle;
    }

    // The moment `time` of the event's way.
    show(time) {
      if (!this.trace) return;
      const hop = Math.floor(time);
      const now = { reached: 0, messages: 0, duplicates: 0, failed: 0, spam: 0 };
      for (const row of this.hops.slice(0, hop + 1)) {
        now.reached += row.fresh.length;
        for (const name of ["messages", "duplicates", "failed", "spam"]) now[name] += row[name];
      }
      const { found, needed } = this.place;
      const over = time >= this.player.end;
      this.count("peers", number(this.up));
      this.part("population").textContent = number(this.world.n);
      this.count("matches", number(this.members.length));
      this.count("reached", number(now.reached), over && now.reached < this.members.length);
      this.count("hop", Math.max(Math.min(hop, this.trace.counts.hops), 0));
      for (const name of ["messages", "duplicates", "failed", "spam"]) this.count(name, number(now[name]));
      this.count("links", `${number(found)} / ${number(needed)}`, found < needed);
      this.part("hop").value = hop;
      const { playing } = this.player;
      this.part("play").classList.toggle("playing", playing);
      this.part("play").querySelector(".name").textContent = playing ? "Pause" : "Play";
      this.part("back").disabled = this.part("restart").disabled = time <= 0;
      this.part("step").disabled = this.part("end").disabled = over;
      this.section.dataset.over = over;
      if (over && !this.dragging) this.part("summary").textContent = summary(this);
      else if (!playing) this.part("summary").textContent = "";
      this.draw();
    }

    count(name, text, short = false) {
      const cell = this.section.querySelector(`[data-count="${name}"]`);
      cell.textContent = text;
      cell.classList.toggle("short", short);
    }

    hover(peer, event) {
      const tip = this.part("tip");
      if (peer !== this.hovered) {
        this.hovered = peer;
        this.draw();
      }
      tip.hidden = peer < 0 || !event;
      if (tip.hidden) return;
      tip.textContent = describe(this, peer);
      const frame = this.section.getBoundingClientRect();
      const left = event.clientX - frame.left + 14, top = event.clientY - frame.top + 14;
      tip.style.left = `${Math.max(0, Math.min(left, frame.width - tip.offsetWidth - 4))}px`;
      tip.style.top = `${top}px`;
    }

    readColours() {
      const style = getComputedStyle(this.section);
      const names = ["paper", "ink", "soft", "rule", "ring", "near", "random", "failed", "lit"];
      this.colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
      this.heat = style.getPropertyValue("--heat").split(",").map(Number);
    }

    shade() {
      this.plane.shade(this.world, this.axes, this.head.domain, this.point, this.heat);
      this.part("most").textContent = number(this.plane.most);
      this.plane.drawBar(this.part("colourbar"), this.heat);
    }

    // After the cycle, the axes or the theme changed.
    repaint() {
      if (!this.world) return;
      this.readColours();
      if (!this.point) return;
      this.shade();
      this.draw();
    }

    state() {
      const { world: here, axes, point, members, entry, place, trace, links, hovered } = this;
      const { time } = this.player;
      const hop = Math.floor(time);
      const over = time >= this.player.end;
      return {
        world: here, axes, domain: this.head.domain, titles: this.head.attributes, point, ring: members, entry,
        place, trace, time, links, hovered,
        fresh: over ? [] : (this.hops[hop]?.fresh ?? []),
        reached: (peer) => (trace.hop.get(peer) ?? Infinity) <= hop,
      };
    }

    draw() {
      if (!this.trace || !this.world) return;
      const state = this.state();
      this.plane.draw(state, this.colours);
      this.ring.draw(state, this.colours);
    }
  }

  const views = [...document.querySelectorAll("section.overlay")].map((section, number) => {
    const head = JSON.parse(document.getElementById(section.dataset.head).textContent);
    return new OverlayView(section, head, number);
  });
  // Unpacking waits until the view is about to be seen or asked for, or nothing else is to be done, so that a page of
  // many runs opens at once.
  const starts = views.map((view) => {
    let started = null;
    const start = () => (started ??= view.start());
    if (askedFor() === view.number) start();
    addEventListener("hashchange", () => askedFor() === view.number && start());
    addEventListener("beforeprint", () => {
      start();
      view.player.pause();
      if (view.trace) view.player.seek(view.player.end); // paper shows where the event has got to
    });
    new IntersectionObserver((seen, observer) => {
      if (!seen.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      start();
    }, { rootMargin: "600px" }).observe(view.section);
    return start;
  });
  const whenIdle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 300));
  const startNext = (k) => k < starts.length && whenIdle(() => starts[k]().then(() => startNext(k + 1)));
  addEventListener("load", () => startNext(0));
})();
