// Time, in hops: runs, stops and steps between 0 and the end, and calls `show(time)` whenever it moves.
(() => {
  "use strict";

  class Player {
    constructor(show) {
      this.show = show;
      this.time = 0;
      this.end = 0;
      this.speed = 2; // hops a second
      this.playing = false;
      this.frame = null;
    }

    // Begin anew with an end.
    reset(end) {
      this.pause();
      this.end = end;
      this.seek(0);
    }

    seek(time) {
      this.time = Math.max(0, Math.min(this.end, time));
      this.show(this.time);
    }

    // To the next hop on, or back.
    step(by) {
      this.pause();
      this.seek(by > 0 ? Math.floor(this.time) + by : Math.ceil(this.time) + by);
    }

    play() {
      if (this.playing) return;
      if (this.time >= this.end) this.time = 0;
      this.playing = true;
      let before = null;
      const tick = (now) => {
        if (!this.playing) return;
        if (before !== null) this.time += ((now - before) / 1000) * this.speed;
        before = now;
        if (this.time >= this.end) this.playing = false;
        this.seek(this.time);
        if (this.playing) this.frame = requestAnimationFrame(tick);
      };
      this.frame = requestAnimationFrame(tick);
      this.show(this.time);
    }

    pause() {
      this.playing = false;
      if (this.frame !== null) cancelAnimationFrame(this.frame);
      this.frame = null;
    }

    toggle() {
      if (this.playing) {
        this.pause();
        this.show(this.time);
      } else this.play();
    }
  }

  globalThis.sub2sub = { ...globalThis.sub2sub, Player };
})();
