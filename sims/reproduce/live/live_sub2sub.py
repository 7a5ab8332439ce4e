"""A swarm of live Sub-2-Sub peers: rings, deliveries, a fifth killed by signal, rings and deliveries again.

Not in the paper (Sub-2-Sub), whose evaluation is simulated. Peers of two attributes, wide ranges, one process
each; everybody joins through a random one before it. The same population is simulated from the same kind of
start: cycles of the simulator beside cycles of the swarm's period. The quick form has 60 peers, six to a
process.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sims.figures.style import figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population

__all__ = ["live_sub2sub"]

KILLED = 0.2
Curve = list[tuple[float, float, float]]  # cycle, links in place, complete rings


@experiment("live-sub2sub", title="A swarm of live peers: rings built, a fifth killed, rings healed")
def live_sub2sub(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Build the rings of a live swarm, kill a fifth of it, and see it heal."""
    from sims.live.swarm import Delivery, Swarm, Watch

    n, per_process, period, events = (60, 6, 0.8, 50) if quick else (200, 1, 4.0, 200)
    rng = np.random.default_rng(seed)
    low = rng.random((n, 2)) * 0.8
    high = np.minimum(low + rng.random((n, 2)) * 0.5, 1.0)
    points = _wanted(rng.random((4000, 2)), low, high)[:1000]
    curves: dict[str, Curve] = {}
    deliveries: list[Delivery] = []

    def curve_of(watches: list[Watch], start: float = 0.0) -> Curve:
        return [(w.cycle - start, w.links, w.complete) for w in watches]

    with Swarm(low, high, period, per_process, seed) as swarm:
        swarm.join()
        progress(1, 6)
        curves["built, live"] = curve_of(swarm.settle(points, most=60 * period))
        progress(2, 6)
        deliveries.append(swarm.publish(points[:events]))
        progress(3, 6)
        swarm.kill(KILLED)
        healed = swarm.settle(points, most=60 * period)
        curves["healed, live"] = curve_of(healed, start=healed[0].cycle)
        progress(4, 6)
        deliveries.append(swarm.publish(points[:events]))
        left = len(healed[-1].reports)
    progress(5, 6)
    curves.update(_simulated(low, high, points, seed))
    rows = [(name, *row) for name, curve in curves.items() for row in curve]
    save_table(
        out, "rings", dict(zip(("curve", "cycle", "links", "complete"), zip(*rows, strict=True), strict=True))
    )
    _draw(out, curves, n)
    progress(6, 6)
    claims = []
    for when, name, delivery in zip(
        ("all rings complete", "rings complete again after a fifth was killed by signal"),
        ("built, live", "healed, live"),
        deliveries,
        strict=True,
    ):
        cycles, _, complete = curves[name][-1]
        claims.append(
            Claim("live-sub2sub", f"{when}: share of rings, and cycles it took", 1.0,
                  [complete, round(cycles, 1)], complete == 1.0)
        )  # fmt: skip
        claims.append(
            Claim(
                "live-sub2sub",
                "every event delivered to exactly its matches, once: events, deliveries wanted and made, "
                "twice, to others",
                "all exact",
                [delivery.events, delivery.wanted, delivery.delivered, delivery.twice, delivery.unwanted],
                delivery.exact == delivery.events,
            )
        )
    claims.append(Claim("live-sub2sub", "live peers at the start and at the end", [n, n - round(KILLED * n)],
                        [n, left], left == n - round(KILLED * n)))  # fmt: skip
    return claims


def _wanted(
    points: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Those points that two peers or more subscribe to."""
    inside = ((low[None] <= points[:, None]) & (points[:, None] <= high[None])).all(axis=2)
    wanted: NDArray[np.float64] = points[inside.sum(axis=1) >= 2]
    return wanted


def _simulated(
    low: NDArray[np.float64], high: NDArray[np.float64], points: NDArray[np.float64], seed: int
) -> dict[str, Curve]:
    """The same in the simulator; who is killed is drawn anew."""
    from sims.live.subscriber import Report
    from sims.live.swarm import completeness

    people = Population.of(low, high, seed=seed)
    overlay = Overlay(people, seed=seed)
    overlay.bootstrap()
    lows, highs = people.ranges()

    def look(cycle: int, start: int) -> tuple[float, float, float]:
        holders, peers, _ = overlay.ring.links()
        reports = [
            Report(int(people.ids[i]), cycle, tuple(lows[i]), tuple(highs[i]), (), (),
                   tuple(people.ids[peers[holders == i]].tolist()), {})
            for i in np.flatnonzero(overlay.network.alive)
        ]  # fmt: skip
        return float(cycle - start), *completeness(reports, points)

    curves: dict[str, Curve] = {"built, simulated": [look(0, 0)], "healed, simulated": []}
    cycle = 0
    while curves["built, simulated"][-1][2] < 1.0 and cycle < 60:
        cycle += 1
        overlay.step(cycle)
        curves["built, simulated"].append(look(cycle, 0))
    rng = np.random.default_rng(seed)
    overlay.network.alive[rng.choice(len(people), round(KILLED * len(people)), replace=False)] = 0
    start = cycle
    curves["healed, simulated"].append(look(cycle, start))
    while curves["healed, simulated"][-1][2] < 1.0 and cycle < start + 60:
        cycle += 1
        overlay.step(cycle)
        curves["healed, simulated"].append(look(cycle, start))
    return curves


def _draw(out: Path, curves: dict[str, Curve], n: int) -> None:
    with styled():
        fig, axes = figure(columns=2, sharey=True)
        titles = {"built": f"{n} peers start at once", "healed": "a fifth is killed"}
        for panel, (what, title) in zip(axes, titles.items(), strict=True):
            for number, how in enumerate(("live", "simulated")):
                cycles, _, complete = zip(*curves[f"{what}, {how}"], strict=True)
                line(panel, number, cycles, 100 * np.array(complete), how)
            panel.set(xlabel="cycles", title=title, ylim=(0, 103))
            panel.legend(loc="lower right")
        axes[0].set_ylabel("complete rings (%)")
        save_figure(out, "live-sub2sub", fig)
