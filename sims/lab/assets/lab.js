// The laboratory: what arrives is drawn, what is clicked or typed is sent.
(() => {
  "use strict";
  const { Curves, decodeFrame, Field, listenToField, Player, Ring, startTour, World } = globalThis.sub2sub;
  const number = (value) => Math.round(value).toLocaleString("en");
  const percent = (share) => `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;

  class Lab {
    constructor(section) {
      this.section = section;
      this.field = new Field(this.part("field"));
      this.ring = new Ring(this.part("ring"));
      this.curves = new Curves(this.part("curves"));
      this.player = new Player(() => this.draw());
      this.world = null;
      this.event = null; // point, number, entry, trace, place
      this.axes = [0, -1];
      this.outline = null;
      this.hovered = -1;
      this.readColours();
      this.connect();
      this.listen();
      startTour((role) => this.part(role));
    }

    part(role) {
      return this.section.querySelector(`[data-role="${role}"]`);
    }

    connect() {
      this.socket = new WebSocket(`ws://${location.host}/live`);
      this.socket.binaryType = "arraybuffer";
      this.socket.addEventListener("message", ({ data }) => this.receive(decodeFrame(data)));
      this.socket.addEventListener("close", () => this.say("The laboratory has closed: start it again, and reload this page."));
    }

    order(what, more = {}) {
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ do: what, ...more }));
    }

    receive(frame) {
      const { head } = frame;
      const kinds = { start: () => this.start(frame), cycle: () => this.cycle(frame), published: () => this.published(frame) };
      if (head.kind in kinds) kinds[head.kind]();
      else if (head.kind === "crashed") {
        this.say(head.peers ? `${number(head.peers)} peers crashed.` : "There is no live peer in that region.");
        if (head.peers) this.curves.mark(this.world.cycle, `${number(head.peers)} crash`);
      } else if (head.kind === "saved") {
        this.say(`Saved. To run it again: sub2sub run ${head.path}`);
        this.section.dataset.saved = head.path;
      } else if (head.kind === "problem") this.say(head.text ?? "That was too much.");
    }

    start(frame) {
      this.world = new World(frame);
      this.axes = this.world.d > 1 ? [0, 1] : [0, -1];
      this.part("routing").closest("label").hidden = !frame.head.topics.length;
      this.section.dataset.ready = "true";
    }

    cycle(frame) {
      const { head } = frame;
      this.now = head;
      this.world.take(frame);
      if (this.event && head.event) this.event.place = this.world.place();
      this.curves.add(head);
      const shown = { cycle: number(head.cycle), rings: percent(head.rings), links: percent(head.links), peers: `${number(head.alive)} / ${number(head.present)}`, messages: head.messages.toFixed(1), speed: head.took ? `${number(1000 * head.took)} ms` : "–" };
      for (const [name, text] of Object.entries(shown)) this.part(`${name}-shown`).textContent = text;
      this.showSettings(head);
      if (head.problem) this.say(head.problem);
      Object.assign(this.section.dataset, { cycle: head.cycle, alive: head.alive, rings: head.rings, running: head.running, published: head.published });
      this.draw();
    }

    showSettings(head) {
      this.part("play").textContent = head.running ? "Pause" : "Run";
      const sliders = { loss: 100 * head.loss, churn: 100 * head.churn, k: head.k };
      for (const [name, value] of Object.entries(sliders)) {
        const slider = this.part(name);
        if (document.activeElement !== slider || !slider.matches(":active")) slider.value = value;
        this.part(`${name}-shown`).textContent = name === "k" ? value : `${Math.round(10 * value) / 10} %`;
      }
    }

    published(frame) {
      const { head, arrays } = frame;
      this.world.cycle = head.cycle;
      this.world.takeViews(arrays);
      const how = { shortcuts: this.now.k, ...this.world.head.how, loss: this.now.loss };
      const found = arrays.rounds ? this.world.rounds(head, arrays.rounds) : this.world.spread(head.point, head.number, how);
      this.event = { point: head.point, place: this.world.place(), ...found };
      const { counts } = found.trace, m = this.world.members.length;
      const way = head.routing === "camcast" ? "CAMCAST’s routing" : "rings and shortcuts";
      this.say(m ? `At cycle ${head.cycle} the event reached ${number(counts.reached)} of ${number(m)} subscribers by ${way}, after ${Math.max(counts.hops, 0)} hops, with ${number(counts.messages)} messages, ${number(counts.duplicates)} of them duplicates.` : "Nobody subscribes to this event.");
      Object.assign(this.section.dataset, { matches: m, reached: counts.reached, sent: counts.messages, routing: head.routing });
      this.player.reset(Math.max(counts.hops, found.trace.messages.at(-1)?.hop ?? 0, 0));
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.player.seek(this.player.end);
      else this.player.play();
    }

    publishAt(px, py) {
      if (!this.world || !this.field.frame) return;
      const point = this.event ? [...this.event.point] : this.world.head.domain.map(([low, high]) => (low + high) / 2);
      const [x, y] = this.axes;
      point[x] = this.field.frame.fromX(px);
      if (y >= 0) point[y] = this.field.frame.fromY(py);
      if (this.world.head.topics.length) point[x] = Math.round(point[x]); // an event is of a topic
      this.order("publish", { point, routing: this.part("routing").value });
    }

    publishRandomly() {
      const { world } = this;
      for (let attempt = 0; attempt < 200; attempt++) {
        const peer = Math.floor(Math.random() * world.n);
        if (!world.alive[peer]) continue;
        const point = world.head.domain.map(([low, high], k) => {
          const from = Math.max(low, world.low[peer * world.d + k]), to = Math.min(high, world.high[peer * world.d + k]);
          return world.head.topics.length ? from : from + Math.random() * (to - from);
        });
        this.order("publish", { point, routing: this.part("routing").value });
        return;
      }
    }

    crash(outline) {
      const { fromX, fromY } = this.field.frame;
      const [x, y] = this.axes;
      this.order("crash", { x, y, outline: outline.map(([px, py]) => [fromX(px), fromY(py)]) });
    }

    listen() {
      const on = (role, type, act) => this.part(role).addEventListener(type, act);
      on("play", "click", () => this.order("run", { on: !this.now?.running }));
      on("step", "click", () => this.order("step"));
      on("rate", "change", (event) => this.order("rate", { rate: Number(event.target.value) }));
      on("loss", "input", (event) => this.order("loss", { probability: Number(event.target.value) / 100 }));
      on("churn", "input", (event) => this.order("churn", { share: Number(event.target.value) / 100 }));
      on("k", "input", (event) => this.order("k", { k: Number(event.target.value) }));
      on("recover", "click", () => {
        this.order("recover");
        if (this.world) this.curves.mark(this.world.cycle, "recovery");
      });
      on("random", "click", () => this.publishRandomly());
      on("save", "click", () => this.order("save"));
      for (const name of ["loss", "churn"]) on(name, "change", (event) => this.world && this.curves.mark(this.world.cycle, `${name} ${event.target.value} %`));
      listenToField(this.part("field"), {
        tool: () => this.section.querySelector("[name=tool]:checked").value,
        publish: (x, y) => this.publishAt(x, y),
        drawing: (outline) => {
          this.outline = outline;
          this.draw();
        },
        crash: (outline) => this.crash(outline),
      });
      on("ring", "pointermove", (event) => {
        const box = event.target.getBoundingClientRect();
        this.hovered = this.ring.at(event.clientX - box.left, event.clientY - box.top);
        this.draw();
      });
      document.addEventListener("keydown", (event) => this.press(event));
      document.addEventListener("themechange", () => {
        this.readColours();
        this.draw();
      });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("themechange")));
      new ResizeObserver(() => this.draw()).observe(this.part("field"));
    }

    press(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || ["SELECT"].includes(event.target.tagName)) return;
      const keys = {
        p: () => this.order("run", { on: !this.now?.running }),
        n: () => this.order("step"),
        e: () => this.publishRandomly(),
        c: () => (this.section.querySelector("[name=tool][value=crash]").checked = true),
        v: () => (this.section.querySelector("[name=tool][value=publish]").checked = true),
        r: () => this.order("recover"),
        s: () => this.order("save"),
      };
      const act = keys[event.key.toLowerCase()];
      if (!act) return;
      act();
      event.preventDefault();
    }

    say(text) {
      this.part("said").textContent = text;
    }

    readColours() {
      const style = getComputedStyle(this.section);
      const names = ["paper", "ink", "soft", "rule", "ring", "near", "random", "failed", "lit"];
      this.colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    }

    // At most once a frame, however often something changes.
    draw() {
      if (this.drawing) return;
      this.drawing = true;
      requestAnimationFrame(() => {
        this.drawing = false;
        if (this.world) this.paint();
      });
    }

    paint() {
      const { world, axes, event, hovered } = this;
      const { time, end } = this.player;
      const hop = Math.floor(time);
      const trace = event?.trace;
      const reached = (peer) => (trace?.hop.get(peer) ?? Infinity) <= hop;
      const fresh = trace && time < end ? trace.order.filter((peer) => trace.hop.get(peer) === hop) : [];
      const state = { world, axes, domain: world.head.domain, titles: world.head.attributes, point: event?.point, ring: event ? world.members : [], reached, fresh, hovered, outline: this.outline };
      this.field.draw(state, this.colours);
      this.part("no-event").hidden = Boolean(event);
      if (event) this.ring.draw({ ...state, entry: event.entry, place: event.place, trace, time, links: new Set() }, this.colours);
    }
  }

  globalThis.sub2sub.lab = new Lab(document.querySelector("section.lab"));
})();
