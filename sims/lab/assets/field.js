// All peers as dots in the middle of their boxes, the more lit the more of their ring links are in place; and an event.
(() => {
  "use strict";
  const { Plane, prepare } = globalThis.sub2sub;
  const MARGIN = { left: 46, right: 12, top: 12, bottom: 34 };
  const LEVELS = 5;

  // Groups of peers that look alike: down, closed to some degree, and those without a ring to close.
  const groups = (world) => {
    const found = { down: [], plain: [], levels: Array.from({ length: LEVELS }, () => []) };
    for (let peer = 0; peer < world.n; peer++) {
      const closed = world.closed[peer];
      if (!world.alive[peer]) found.down.push(peer);
      else if (closed === 255) found.plain.push(peer);
      else found.levels[closed === 254 ? LEVELS - 1 : Math.floor((closed / 254) * (LEVELS - 1))].push(peer);
    }
    return found;
  };

  class Field extends Plane {
    // Where a peer's dot is, in pixels.
    dot(world, [x, y], peer) {
      const at = peer * world.d;
      const middle = (k) => (world.low[at + k] + world.high[at + k]) / 2;
      return [this.frame.toX(middle(x)), this.frame.toY(y < 0 ? peer : middle(y))];
    }

    // `state`: world, axes, domain, titles, point, ring, reached(peer), fresh, hovered, outline (pixels being drawn).
    draw(state, colours) {
      const [context, width, height] = prepare(this.canvas);
      const { world, axes } = state;
      this.frame = this.layout(world, axes, state.domain, width, height);
      context.strokeStyle = colours.rule;
      context.strokeRect(MARGIN.left, MARGIN.top, this.frame.w, this.frame.h);
      this.axis(context, state, colours, width, height);
      const size = Math.max(1.6, Math.min(5, 260 / Math.sqrt(world.n)));
      const put = (peers, colour, alpha) => {
        context.fillStyle = colour;
        context.globalAlpha = alpha;
        for (const peer of peers) {
          const [px, py] = this.dot(world, axes, peer);
          context.fillRect(px - size / 2, py - size / 2, size, size);
        }
      };
      const { down, plain, levels } = groups(world);
      put(down, colours.failed, 0.35);
      put(plain, colours.soft, 0.35);
      levels.forEach((peers, level) => put(peers, level === LEVELS - 1 ? colours.ring : colours.random, level === LEVELS - 1 ? 0.75 : 0.95 - 0.15 * level));
      context.globalAlpha = 1;
      if (state.point) this.drawEvent(context, state, colours);
      if (state.outline?.length > 1) this.drawOutline(context, state.outline, colours);
    }

    drawEvent(context, { world, axes, point, ring, reached, fresh, hovered }, colours) {
      const faint = Math.max(0.04, Math.min(0.8, 30 / Math.max(ring.length, 1)));
      const now = new Set(fresh);
      for (const peer of ring) {
        const lit = reached(peer);
        context.globalAlpha = peer === hovered ? 1 : now.has(peer) ? 0.9 : faint;
        context.strokeStyle = lit ? colours.ink : colours.soft;
        context.lineWidth = peer === hovered ? 3 : now.has(peer) ? 2 : 1;
        context.strokeRect(...this.rectangle(world, axes, peer));
      }
      context.globalAlpha = 1;
      const { toX, toY, h } = this.frame;
      const [px, py] = [toX(point[axes[0]]), axes[1] < 0 ? MARGIN.top + h / 2 : toY(point[axes[1]])];
      context.beginPath();
      context.arc(px, py, 6, 0, 7);
      [context.fillStyle, context.strokeStyle, context.lineWidth] = [colours.lit, colours.ink, 2];
      context.fill();
      context.stroke();
    }

    drawOutline(context, outline, colours) {
      context.beginPath();
      outline.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      [context.fillStyle, context.strokeStyle, context.lineWidth] = [colours.failed, colours.failed, 2];
      context.globalAlpha = 0.15;
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
    }
  }

  globalThis.sub2sub = { ...globalThis.sub2sub, Field };
})();
