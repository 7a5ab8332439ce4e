// What people do with an overlay: sliders, buttons, mouse and keyboard, each turned into a call of the view.
(() => {
  "use strict";
  const { find } = globalThis.sub2sub;

  const fill = (view) => {
    const { attributes, domain, snapshots, how } = view.head;
    const cycle = view.part("cycle");
    cycle.max = snapshots.length - 1;
    cycle.disabled = snapshots.length < 2;
    view.part("shortcuts").value = how.shortcuts;
    for (const [n, role] of ["x", "y"].entries()) {
      const select = view.part(role);
      attributes.forEach((title, k) => select.add(new Option(title, k)));
      select.value = view.axes[n];
    }
    view.part("x").closest(".axes").hidden = view.d < 3;
    attributes.forEach((title, k) => {
      const label = document.createElement("label");
      label.className = "control";
      const slider = Object.assign(document.createElement("input"), { type: "range" });
      const [low, high] = domain[k];
      [slider.min, slider.max, slider.step] = [low, high, (high - low) / 1000];
      slider.dataset.attribute = k;
      label.append(title, slider, document.createElement("output"));
      view.part("sliders").append(label);
    });
  };

  const listen = (view) => {
    const on = (role, type, act) => view.part(role).addEventListener(type, act);
    on("cycle", "input", (event) => view.goTo(Number(event.target.value)));
    on("shortcuts", "input", (event) => view.change(() => (view.how.shortcuts = Number(event.target.value))));
    on("loss", "input", (event) => view.change(() => (view.how.loss = Number(event.target.value) / 100)));
    on("x", "change", (event) => view.turn(0, Number(event.target.value)));
    on("y", "change", (event) => view.turn(1, Number(event.target.value)));
    on("random", "click", () => view.publishRandomly());
    on("again", "click", () => view.change(() => view.tries++));
    on("find", "submit", (event) => {
      event.preventDefault();
      const problem = find(view, view.part("find-what").value);
      if (problem) view.part("summary").textContent = problem;
    });
    on("sliders", "input", (event) => {
      const point = [...view.point];
      point[Number(event.target.dataset.attribute)] = Number(event.target.value);
      view.publish(point, false);
    });
    on("restart", "click", () => view.player.step(-Infinity));
    on("back", "click", () => view.player.step(-1));
    on("play", "click", () => view.player.toggle());
    on("step", "click", () => view.player.step(1));
    on("end", "click", () => view.player.step(Infinity));
    on("hop", "input", (event) => {
      view.player.pause();
      view.player.seek(Number(event.target.value));
    });
    on("speed", "change", (event) => (view.player.speed = Number(event.target.value)));
    for (const box of view.section.querySelectorAll("[data-links]")) {
      box.addEventListener("change", () => {
        if (box.checked) view.links.add(box.dataset.links);
        else view.links.delete(box.dataset.links);
        view.draw();
      });
    }
    listenToPictures(view, on);
    view.section.addEventListener("keydown", (event) => press(view, event));
    document.addEventListener("themechange", () => view.repaint());
    new ResizeObserver(() => view.draw()).observe(view.part("plane"));
  };

  const listenToPictures = (view, on) => {
    const at = (event) => {
      const box = event.target.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    on("plane", "pointerdown", (event) => {
      if (event.button !== 0) return;
      event.target.setPointerCapture(event.pointerId);
      view.dragging = true;
      view.hover(-1);
      view.publish(view.pointAt(...at(event)), false);
    });
    let dragged = null; // the last place the event was dragged to, published once a frame
    on("plane", "pointermove", (event) => {
      if (!view.dragging) view.hover(view.plane.at(view.state(), ...at(event)), event);
      else if (dragged) dragged = at(event);
      else {
        dragged = at(event);
        requestAnimationFrame(() => {
          const place = dragged;
          dragged = null;
          if (view.dragging) view.publish(view.pointAt(...place), false);
        });
      }
    });
    on("plane", "pointerup", (event) => {
      if (!view.dragging) return;
      view.dragging = false;
      view.publish(view.pointAt(...at(event)), true);
    });
    on("plane", "pointercancel", () => (view.dragging = false));
    on("ring", "pointermove", (event) => view.hover(view.ring.at(...at(event)), event));
    on("ring", "click", (event) => {
      const peer = view.ring.at(...at(event));
      if (peer >= 0) view.enterAt(peer);
    });
    for (const role of ["plane", "ring"]) on(role, "pointerleave", () => view.hover(-1));
  };

  const press = (view, event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const role = event.target.dataset.role;
    if (role === "find-what") return; // letters are meant for it
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const letters = {
      p: () => view.player.toggle(),
      n: () => view.player.step(1),
      b: () => view.player.step(-1),
      r: () => view.publishRandomly(),
      t: () => view.change(() => view.tries++),
    };
    if (role === "plane" && way) view.nudge(way, event.shiftKey ? 0.1 : 0.01);
    else if (role === "ring" && way) view.chooseNext(way[0] || -way[1]);
    else if (role === "ring" && event.key === "Enter" && view.hovered >= 0) view.enterAt(view.hovered);
    else if (role === "plane" && event.key === "Enter") view.run();
    else if (event.key.toLowerCase() in letters && event.target.tagName !== "SELECT") letters[event.key.toLowerCase()]();
    else return;
    event.preventDefault();
  };

  // Fill in what the controls offer, and listen to them.
  const attach = (view) => {
    fill(view);
    listen(view);
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, attach };
})();
