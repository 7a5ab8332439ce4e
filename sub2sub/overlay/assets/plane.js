// Two attributes of the space: shaded by how many subscribers an event would match, with the boxes of those
// that the present event does. With one attribute, the other direction is the order of sequence IDs.
(() => {
  "use strict";
  const CELLS = 128;
  const MARGIN = { left: 46, right: 12, top: 12, bottom: 34 };

  const round = (value) => Number(value.toPrecision(4)).toString();

  // Of a shade, from 0 to 255, for a share of the most subscribers.
  const opacity = (share) => 165 * Math.sqrt(share);

  // A canvas as sharp as the screen; returns its context and its size in CSS pixels.
  const prepare = (canvas) => {
    const { width, height } = canvas.getBoundingClientRect();
    const ratio = globalThis.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return [context, width, height];
  };

  // How many live subscribers each cell's centre matches, the other attributes being those of the point.
  const density = (world, axes, domain, point) => {
    const [x, y] = axes;
    const side = CELLS + 1;
    const sums = new Int32Array(side * side);
    const cells = (k, peer) => {
      if (k < 0) return [0, CELLS - 1];
      const [from, to] = domain[k];
      const place = (value) => ((value - from) / (to - from)) * CELLS - 0.5;
      const at = peer * world.d + k;
      return [Math.max(0, Math.ceil(place(world.low[at]))), Math.min(CELLS - 1, Math.floor(place(world.high[at])))];
    };
    for (let peer = 0; peer < world.n; peer++) {
      if (!world.alive[peer]) continue;
      let inside = true;
      for (let k = 0; k < world.d && inside; k++) {
        const at = peer * world.d + k;
        if (k !== x && k !== y) inside = world.low[at] <= point[k] && point[k] <= world.high[at];
      }
      if (!inside) continue;
      const [x0, x1] = cells(x, peer), [y0, y1] = cells(y, peer);
      if (x0 > x1 || y0 > y1) continue;
      sums[y0 * side + x0]++;
      sums[y0 * side + x1 + 1]--;
      sums[(y1 + 1) * side + x0]--;
      sums[(y1 + 1) * side + x1 + 1]++;
    }
    let most = 0;
    for (let row = 0; row < side; row++) {
      for (let column = 0; column < side; column++) {
        const at = row * side + column;
        if (column) sums[at] += sums[at - 1];
        if (row) sums[at] += sums[at - side] - (column ? sums[at - side - 1] : 0);
        if (row < CELLS && column < CELLS) most = Math.max(most, sums[at]);
      }
    }
    return { count: (row, column) => sums[row * side + column], most };
  };

  class Plane {
    constructor(canvas) {
      this.canvas = canvas;
      this.heat = document.createElement("canvas");
      this.heat.width = this.heat.height = CELLS;
      this.most = 0;
    }

    // Shade anew: after the cycle, the axes, another attribute or the theme changed.
    shade(world, axes, domain, point, rgb) {
      const { count, most } = density(world, axes, domain, point);
      const context = this.heat.getContext("2d");
      const image = context.createImageData(CELLS, CELLS);
      const [r, g, b] = rgb;
      for (let row = 0; row < CELLS; row++) {
        for (let column = 0; column < CELLS; column++) {
          const at = 4 * ((CELLS - 1 - row) * CELLS + column);
          image.data.set([r, g, b, opacity(count(row, column) / Math.max(most, 1))], at);
        }
      }
      context.putImageData(image, 0, 0);
      this.most = most;
    }

    // What the shades mean: from nobody to the most subscribers.
    drawBar(canvas, [r, g, b]) {
      const [context, width, height] = prepare(canvas);
      const bar = context.createLinearGradient(0, 0, width, 0);
      for (let k = 0; k <= 16; k++) bar.addColorStop(k / 16, `rgba(${r}, ${g}, ${b}, ${opacity(k / 16) / 255})`);
      context.fillStyle = bar;
      context.fillRect(0, 0, width, height);
    }

    // The frame of the last drawing, from attribute values to pixels and back.
    layout(world, axes, domain, width, height) {
      const [x, y] = axes;
      const span = (k) => (k < 0 ? [0, world.n] : domain[k]);
      const [x0, x1] = span(x), [y0, y1] = span(y);
      const w = width - MARGIN.left - MARGIN.right, h = height - MARGIN.top - MARGIN.bottom;
      const clip = (value, from, to) => Math.max(from, Math.min(to, value));
      return {
        w, h,
        toX: (value) => MARGIN.left + ((clip(value, x0, x1) - x0) / (x1 - x0)) * w,
        toY: (value) => MARGIN.top + h - ((clip(value, y0, y1) - y0) / (y1 - y0)) * h,
        fromX: (pixel) => clip(x0 + ((pixel - MARGIN.left) / w) * (x1 - x0), x0, x1),
        fromY: (pixel) => clip(y0 + ((MARGIN.top + h - pixel) / h) * (y1 - y0), y0, y1),
      };
    }

    rectangle(world, axes, peer) {
      const { toX, toY } = this.frame;
      const [x, y] = axes;
      const at = peer * world.d;
      const left = toX(world.low[at + x]), right = toX(world.high[at + x]);
      const [bottom, top] = y < 0 ? [toY(peer), toY(peer + 1)] : [toY(world.low[at + y]), toY(world.high[at + y])];
      return [left, top, Math.max(right - left, 1), Math.max(bottom - top, y < 0 ? 2 : 1)];
    }

    // `state`: world, axes, domain, titles, point, ring, reached(peer), fresh (those reached at this hop), hovered.
    draw(state, colours) {
      const [context, width, height] = prepare(this.canvas);
      const { world, axes, domain } = state;
      this.frame = this.layout(world, axes, domain, width, height);
      const { w, h, toX, toY } = this.frame;
      context.imageSmoothingEnabled = true;
      context.drawImage(this.heat, MARGIN.left, MARGIN.top, w, h);
      context.strokeStyle = colours.rule;
      context.lineWidth = 1;
      context.strokeRect(MARGIN.left, MARGIN.top, w, h);
      this.axis(context, state, colours, width, height);

      const faint = Math.max(0.25, Math.min(0.8, 40 / Math.max(state.ring.length, 1)));
      const outline = (peer, colour, thick, alpha) => {
        context.globalAlpha = alpha;
        context.strokeStyle = context.fillStyle = colour;
        context.lineWidth = thick;
        if (axes[1] < 0) context.fillRect(...this.rectangle(world, axes, peer));
        else context.strokeRect(...this.rectangle(world, axes, peer));
      };
      for (const peer of state.ring) if (!state.reached(peer)) outline(peer, colours.soft, 1, faint);
      for (const peer of state.ring) if (state.reached(peer)) outline(peer, colours.ink, 1.2, faint);
      for (const peer of state.fresh) {
        if (axes[1] < 0) {
          outline(peer, colours.lit, 2, 1);
          continue;
        }
        context.fillStyle = colours.lit;
        context.globalAlpha = Math.max(0.06, 0.3 / state.fresh.length);
        context.fillRect(...this.rectangle(world, axes, peer));
        outline(peer, colours.ink, 2, 0.9);
      }
      if (state.hovered >= 0) outline(state.hovered, colours.ink, 3, 1);
      context.globalAlpha = 1;

      const [px, py] = [toX(state.point[axes[0]]), axes[1] < 0 ? MARGIN.top + h / 2 : toY(state.point[axes[1]])];
      context.strokeStyle = colours.ink;
      context.lineWidth = 1;
      context.setLineDash([3, 4]);
      context.beginPath();
      context.moveTo(px, MARGIN.top);
      context.lineTo(px, MARGIN.top + h);
      if (axes[1] >= 0) {
        context.moveTo(MARGIN.left, py);
        context.lineTo(MARGIN.left + w, py);
      }
      context.stroke();
      context.setLineDash([]);
      if (axes[1] < 0) return;
      context.beginPath();
      context.arc(px, py, 6, 0, 7);
      context.fillStyle = colours.ink;
      context.fill();
      context.lineWidth = 2;
      context.strokeStyle = colours.paper;
      context.stroke();
    }

    axis(context, { axes, domain, titles, world }, colours, width, height) {
      const { w, h, toX, toY } = this.frame;
      context.fillStyle = colours.soft;
      context.font = "12px system-ui, sans-serif";
      const ticks = ([from, to]) => [0, 0.25, 0.5, 0.75, 1].map((share) => from + share * (to - from));
      context.textAlign = "center";
      context.textBaseline = "top";
      for (const value of ticks(domain[axes[0]])) {
        const half = context.measureText(round(value)).width / 2; // the last one is not cut off
        context.fillText(round(value), Math.min(toX(value), width - half - 2), height - MARGIN.bottom + 5);
      }
      context.fillText(titles[axes[0]], MARGIN.left + w / 2, height - 14);
      context.textAlign = "right";
      context.textBaseline = "middle";
      if (axes[1] >= 0) for (const value of ticks(domain[axes[1]])) context.fillText(round(value), MARGIN.left - 5, toY(value));
      context.save();
      context.translate(9, MARGIN.top + h / 2);
      context.rotate(-Math.PI / 2);
      context.textAlign = "center";
      context.fillText(axes[1] < 0 ? `sequence ID (${world.n.toLocaleString("en")} peers)` : titles[axes[1]], 0, 0);
      context.restore();
    }

    // The matching box whose outline is nearest to a pixel, within a few pixels; -1 for none.
    at(state, px, py) {
      let best = -1, nearest = 5;
      for (const peer of state.ring) {
        const [x, y, w, h] = this.rectangle(state.world, state.axes, peer);
        if (px < x - 5 || px > x + w + 5 || py < y - 5 || py > y + h + 5) continue;
        const away = Math.min(Math.abs(px - x), Math.abs(px - x - w), Math.abs(py - y), Math.abs(py - y - h));
        if (away < nearest) [best, nearest] = [peer, away];
      }
      return best;
    }
  }

  globalThis.sub2sub = { ...globalThis.sub2sub, Plane, prepare, round };
})();
