// The view of an overlay in a notebook (anywidget): what arrives is drawn, what is clicked is sent.
const { decodeFrame, Player, Plane, Ring, World } = globalThis.sub2sub;
const AHEAD = 50; // cycles that the slider can run at once
const PARTS = `
<div class="bar">
<button type="button" data-role="step">One cycle</button>
<label>Cycle <input type="range" data-role="cycle" step="1"><output data-role="cycle-shown"></output></label>
<label>Shortcuts <i>k</i> <input type="range" data-role="shortcuts" min="0" max="8" step="1"><output data-role="shortcuts-shown"></output></label>
<label>Message loss <input type="range" data-role="loss" min="0" max="50" step="1"><output data-role="loss-shown"></output></label>
</div>
<div class="stage">
<canvas data-role="plane" tabindex="0" role="application" aria-label="Attribute space: click to publish an event."></canvas>
<canvas data-role="ring" role="img" aria-label="Ring of the event."></canvas>
</div>
<div class="bar">
<button type="button" data-role="play">Play</button>
<label class="hop">Hop <input type="range" data-role="hop" min="0" step="1"></label>
</div>
<p data-role="said" aria-live="polite">Click into the space to publish an event.</p>`;

const many = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

class Explore {
  constructor(root, order) {
    this.root = root;
    this.order = order;
    root.innerHTML = PARTS;
    this.plane = new Plane(this.part("plane"));
    this.ring = new Ring(this.part("ring"));
    this.player = new Player((time) => this.show(time));
    this.hovered = -1;
    this.asked = false; // whether an event was asked for, which then plays
    this.listen();
  }

  part(role) {
    return this.root.querySelector(`[data-role="${role}"]`);
  }

  listen() {
    const on = (role, type, act) => this.part(role).addEventListener(type, act);
    on("step", "click", () => this.order({ do: "run", cycles: 1 }));
    on("cycle", "input", (event) => (this.part("cycle-shown").textContent = event.target.value));
    on("cycle", "change", (event) => this.order({ do: "run", cycles: Number(event.target.value) - this.world.cycle }));
    on("shortcuts", "input", (event) => this.order({ do: "shortcuts", k: Number(event.target.value) }));
    on("loss", "input", (event) => this.order({ do: "loss", probability: Number(event.target.value) / 100 }));
    on("play", "click", () => this.player.toggle());
    on("hop", "input", (event) => {
      this.player.pause();
      this.player.seek(Number(event.target.value));
    });
    const at = (event) => {
      const box = event.target.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    on("plane", "click", (event) => this.publishAt(...at(event)));
    for (const [role, picture] of [["plane", this.plane], ["ring", this.ring]]) {
      on(role, "pointermove", (event) => this.event && this.hover(role === "plane" ? picture.at(this.state(), ...at(event)) : picture.at(...at(event))));
      on(role, "pointerleave", () => this.event && this.hover(-1));
    }
    new ResizeObserver(() => this.draw()).observe(this.part("plane"));
  }

  publishAt(px, py) {
    if (!this.plane.frame) return;
    const point = [...this.event.point];
    const [x, y] = this.axes;
    point[x] = this.plane.frame.fromX(px);
    if (y >= 0) point[y] = this.plane.frame.fromY(py);
    this.asked = true;
    this.order({ do: "publish", point });
  }

  hover(peer) {
    if (peer === this.hovered) return;
    this.hovered = peer;
    this.draw();
  }

  receive(frame) {
    const { head, arrays } = frame;
    if (head.kind === "problem") {
      this.part("said").textContent = head.text;
      return;
    }
    if (arrays.id) {
      this.world = new World({ head: { ...head, topics: [] }, arrays });
      this.axes = this.world.d > 1 ? [0, 1] : [0, -1];
    }
    this.world.take(frame);
    const { point, shortcuts, counts } = head.event;
    const how = { ...this.world.head.how, shortcuts, loss: head.loss };
    this.event = { point, counts, place: this.world.place(), ...this.world.spread(point, 0, how) };
    this.showSettings(head);
    this.shade();
    const last = this.event.trace.messages.at(-1)?.hop ?? 0;
    this.part("hop").max = last;
    this.player.reset(last);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.asked && !still) this.player.play();
    else this.player.seek(last);
    this.asked = false;
    this.say();
  }

  showSettings({ cycle, loss, event: { shortcuts } }) {
    const slider = this.part("cycle");
    [slider.min, slider.max, slider.value] = [cycle, cycle + AHEAD, cycle];
    this.part("cycle-shown").textContent = cycle;
    this.part("shortcuts").value = this.part("shortcuts-shown").textContent = shortcuts;
    this.part("loss").value = 100 * loss;
    this.part("loss-shown").textContent = `${Math.round(100 * loss)} %`;
  }

  say() {
    const { counts, place } = this.event, { cycle } = this.world;
    const { matches, reached, hops, messages, duplicates } = counts;
    const links = `${place.found} of ${place.needed} links of its ring are in place`;
    const text = matches ? `At cycle ${cycle} the event reached ${reached} of ${many(matches, "subscriber")} after ${many(Math.max(hops, 0), "hop")}, with ${many(messages, "message")}, ${duplicates} of them duplicates; ${links}.` : "Nobody subscribes to this event.";
    this.part("said").textContent = text;
    Object.assign(this.root.dataset, { cycle, matches, reached, messages, shown: this.event.trace.counts.reached, sent: this.event.trace.counts.messages, ready: true });
  }

  show(time) {
    this.part("hop").value = Math.floor(time);
    this.part("play").textContent = this.player.playing ? "Pause" : "Play";
    this.draw();
  }

  readColours() {
    const paper = getComputedStyle(this.root).getPropertyValue("--paper").trim();
    this.root.style.background = paper;
    const [r, g, b] = getComputedStyle(this.root).backgroundColor.match(/[\d.]+/g).map(Number);
    this.root.classList.toggle("dark", r + g + b < 382);
    const style = getComputedStyle(this.root);
    const names = ["paper", "ink", "soft", "rule", "ring", "near", "random", "failed", "lit"];
    this.colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.heat = style.getPropertyValue("--heat").split(",").map(Number);
  }

  shade() {
    this.readColours();
    this.plane.shade(this.world, this.axes, this.world.head.domain, this.event.point, this.heat);
  }

  state() {
    const { world, axes, hovered, event } = this, { time, end } = this.player;
    const { trace, point, entry, place } = event, hop = Math.floor(time);
    return {
      world, axes, domain: world.head.domain, titles: world.head.attributes, point, ring: world.members, entry, place,
      trace, time, links: new Set(), hovered,
      fresh: time < end ? trace.order.filter((peer) => trace.hop.get(peer) === hop) : [],
      reached: (peer) => (trace.hop.get(peer) ?? Infinity) <= hop,
    };
  }

  draw() {
    if (!this.event) return;
    this.plane.draw(this.state(), this.colours);
    this.ring.draw(this.state(), this.colours);
  }
}

export default {
  render({ model, el }) {
    const root = document.createElement("div");
    root.className = "overlay in-notebook";
    el.append(root);
    const view = new Explore(root, (order) => model.send(order));
    const receive = (_, [data]) => view.receive(decodeFrame(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)));
    model.on("msg:custom", receive);
    view.order({ do: "start" });
    return () => {
      model.off("msg:custom", receive);
      view.player.pause();
    };
  },
};
