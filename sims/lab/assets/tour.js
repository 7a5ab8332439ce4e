// Three things to do in the laboratory, one after the other; who dismisses them is not told again.
(() => {
  "use strict";
  const KEPT = "sub2sub-lab-tour";
  const STEPS = [
    ["field", "Every dot is a peer that knows one other at first. It turns blue as it finds its neighbours on all rings: watch them close, below."],
    ["field", "Click into the space: that publishes an event. Who subscribes to it lights up on the ring beside it, hop by hop."],
    ["field", "Hold Shift and draw round some dots: those peers crash. The others mend their rings; publish again and see."],
  ];

  // Whether the tour was dismissed, as far as this browser keeps that.
  const stored = () => {
    try {
      return localStorage.getItem(KEPT);
    } catch {
      return null;
    }
  };

  const startTour = (part) => {
    let step = 0;
    const show = () => {
      for (const [target] of STEPS) part(target).classList.remove("pointed-at");
      const done = step >= STEPS.length;
      part("tour").hidden = done;
      if (done) return;
      const [target, text] = STEPS[step];
      part(target).classList.add("pointed-at");
      part("tour-step").textContent = `${step + 1} of ${STEPS.length}`;
      part("tour-text").textContent = text;
      part("tour-next").textContent = step === STEPS.length - 1 ? "Done" : "Next";
    };
    const end = () => {
      step = STEPS.length;
      show();
      try {
        localStorage.setItem(KEPT, "dismissed");
      } catch {
        // a browser that keeps nothing shows the tour again
      }
    };
    part("tour-next").addEventListener("click", () => {
      step++;
      if (step < STEPS.length) show();
      else end();
    });
    part("tour-dismiss").addEventListener("click", end);
    if (!stored()) show();
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, startTour };
})();
