// One event in several places: in the address of the page, so that it can be sent to somebody, and in other overlays.
(() => {
  "use strict";
  const LINKED = "overlay-event";

  const encode = (view, number) => {
    const { world, point, entry, tries, how } = view;
    const place = { event: number, cycle: world.cycle, point: point.join(","), entry, try: tries, k: how.shortcuts, loss: how.loss };
    return `#${new URLSearchParams(place)}`.replaceAll("%2C", ",");
  };

  // What an address asks for; null if it asks for no event.
  const decode = (hash) => {
    const asked = new URLSearchParams(hash.slice(1));
    if (!asked.has("event")) return null;
    const number = (name) => Number(asked.get(name) ?? NaN);
    return { event: number("event"), cycle: number("cycle"), point: (asked.get("point") ?? "").split(",").map(Number), entry: number("entry"), tries: number("try"), shortcuts: number("k"), loss: number("loss") };
  };

  // Show in a view what an address or another overlay asks for, as far as this one has it.
  const follow = async (view, { cycle, point, entry, tries, shortcuts, loss }) => {
    if (point.length !== view.d || !point.every(Number.isFinite)) return;
    const far = ({ cycle: at }) => Math.abs(at - cycle);
    const { snapshots } = view.head;
    const nearest = snapshots.reduce((best, shot, k) => (far(shot) < far(snapshots[best]) ? k : best), snapshots.length - 1);
    if (Number.isFinite(cycle) && snapshots[nearest].cycle !== view.world.cycle) await view.goTo(nearest);
    if (Number.isFinite(tries)) view.tries = tries;
    if (Number.isFinite(shortcuts)) view.how.shortcuts = shortcuts;
    if (Number.isFinite(loss)) view.how.loss = loss;
    [view.part("shortcuts").value, view.part("loss").value] = [view.how.shortcuts, Math.round(100 * view.how.loss)];
    view.publish(point, true, Number.isFinite(entry) ? entry : -1);
  };

  // Let a view that has started follow the address, offer its event as an address, and follow the other overlays.
  const connect = (view, number, views) => {
    const fromAddress = async () => {
      const asked = decode(location.hash);
      if (asked?.event !== number) return false;
      view.section.scrollIntoView();
      await follow(view, asked);
      return true;
    };
    addEventListener("hashchange", fromAddress);
    view.part("permalink").addEventListener("click", async () => {
      history.replaceState(null, "", encode(view, number));
      await navigator.clipboard?.writeText(location.href).catch(() => {});
      view.part("summary").textContent = "The address of this page now leads to this event; it was copied.";
    });
    const box = view.part("linked");
    let following = false;
    const eventOf = ({ world, point, tries, how }) => ({ cycle: world.cycle, point, tries, shortcuts: how.shortcuts, loss: how.loss });
    view.published = () => {
      if (!box?.checked || following || view.dragging) return;
      document.dispatchEvent(new CustomEvent(LINKED, { detail: { from: view, ...eventOf(view) } }));
    };
    const followOther = async ({ from, ...event }) => {
      if (from === view || !box?.checked) return;
      following = true;
      await follow(view, event);
      following = false;
    };
    document.addEventListener(LINKED, ({ detail }) => followOther(detail));
    const earlier = views.find((other) => other !== view && other.section.dataset.ready);
    if (earlier) followOther({ from: earlier, ...eventOf(earlier) });
    box?.addEventListener("change", () => {
      for (const other of views) other.part("linked").checked = box.checked;
      view.published();
    });
    return fromAddress();
  };

  globalThis.sub2sub = { ...globalThis.sub2sub, askedFor: () => decode(location.hash)?.event ?? -1, connect };
})();
