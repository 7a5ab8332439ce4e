// The pointer in the field: a click publishes there; with the other tool, or Shift, one draws round those that crash.
(() => {
  "use strict";
  const FEWEST = 3; // corners of a region

  const listenToField = (canvas, { tool, publish, drawing, crash }) => {
    let outline = null;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (tool() !== "crash" && !event.shiftKey) {
        publish(...at(event));
        return;
      }
      canvas.setPointerCapture(event.pointerId);
      outline = [at(event)];
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!outline) return;
      const [x, y] = at(event), [bx, by] = outline.at(-1);
      if (Math.hypot(x - bx, y - by) < 4) return;
      outline.push([x, y]);
      drawing(outline);
    });
    const end = () => {
      if (!outline) return;
      const done = outline;
      outline = null;
      drawing(null);
      if (done.length >= FEWEST) crash(done);
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", () => {
      outline = null;
      drawing(null);
    });
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, listenToField };
})();
