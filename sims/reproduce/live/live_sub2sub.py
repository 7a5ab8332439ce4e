"""A swarm of live Sub-2-Sub peers: rings, deliveries, a fifth killed by signal, rings and deliveries again.

Not in the paper (Sub-2-Sub), whose evaluation is simulated. Peers have wide ranges of two attributes; five
share a process, and each joins through a random earlier one. The same population is simulated from the same
kind of start, and cycles of the simulator are compared with periods of the swarm. The quick form has 60
peers, six per process, and cycles of 0.8 instead of 2 seconds.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.observers import RingCompleteness
from sims.reproduce.claims import Claims, claim
from sims.reproduce.reproduction import Tables
from sub2sub.geometry.matching import match
from sub2sub.overlay.overlay import Overlay

KILLED = 0.2
WHEN = {"rings built": "built, live", "a fifth killed by signal": "healed, live"}  # and the curve of each
COUNTS = ("events", "wanted", "delivered", "twice", "unwanted")
Curve = list[tuple[float, float, float]]  # cycle, links in place, complete rings


def unit(n: int, per_process: int, period: float, events: int, seed: int) -> dict[str, pd.DataFrame]:
    """Build the rings of a live swarm, kill a fifth of it, and see it heal; then the same simulated."""
    from sims.live.swarm import Delivery, Swarm, Watch

    rng = np.random.default_rng(seed)
    low = rng.random((n, 2)) * 0.8
    high = np.minimum(low + rng.random((n, 2)) * 0.5, 1.0)
    drawn = rng.random((4000, 2))
    points = drawn[match(low, high, drawn).sizes() >= 2][:1000]
    curves: dict[str, Curve] = {}
    deliveries: list[Delivery] = []

    def curve_of(watches: list[Watch], start: float = 0.0) -> Curve:
        return [(w.cycle - start, w.links, w.complete) for w in watches]

    with Swarm(low, high, period, per_process, seed) as swarm:
        swarm.join()
        curves["built, live"] = curve_of(swarm.wait_for_rings(points, most=60 * period))
        deliveries.append(swarm.publish(points[:events]))
        swarm.kill(KILLED)
        healed = swarm.wait_for_rings(points, most=60 * period)
        curves["healed, live"] = curve_of(healed, start=healed[0].cycle)
        deliveries.append(swarm.publish(points[:events]))
        left = len(healed[-1].reports)
    curves.update(_simulated(low, high, points, seed))
    rows = [(name, *row) for name, curve in curves.items() for row in curve]
    rings = pd.DataFrame(rows, columns=["curve", "cycle", "links", "complete"])
    counts = {name: [getattr(d, name) for d in deliveries] for name in COUNTS}
    found = pd.DataFrame({"when": list(WHEN), "peers": [n, left], **counts})
    return {"rings": rings, "deliveries": found}


def judge(tables: Tables) -> Claims:
    """Rings are complete in the end, and every event is delivered to exactly its matches."""
    found = tables["deliveries"].set_index("when")
    for when, name in WHEN.items():
        curve = tables["rings"][tables["rings"].curve == name]
        complete, row = float(curve.complete.iloc[-1]), found.loc[when]
        exact = row.wanted == row.delivered and row.twice == 0 and row.unwanted == 0
        yield claim("rings", complete, complete == 1.0, when=when)
        yield claim("cycles", round(float(curve.cycle.iloc[-1]), 1), when=when)
        yield claim("exact", [int(row[name]) for name in COUNTS[1:]], exact, when=when)


def _simulated(
    low: NDArray[np.float64], high: NDArray[np.float64], points: NDArray[np.float64], seed: int
) -> dict[str, Curve]:
    """The same in the simulator; other peers are killed."""
    overlay, rings, n = Overlay.of(low, high, seed=seed), RingCompleteness(points), len(low)
    simulation = Simulation(overlay)

    def until_complete() -> Curve:
        start, curve = simulation.cycle, Curve()
        while not curve or (curve[-1][2] < 1.0 and simulation.cycle < start + 60):
            if curve:
                simulation.step()
            row = rings.execute(simulation)
            curve.append((float(simulation.cycle - start), float(row["links"]), float(row["complete"])))
        return curve

    built = until_complete()
    killed = np.random.default_rng(seed).choice(n, round(KILLED * n), replace=False)
    overlay.network.alive[killed] = 0
    return {"built, simulated": built, "healed, simulated": until_complete()}


def how(rings: pd.DataFrame) -> pd.DataFrame:
    """The same rows, with how each curve was made."""
    return rings.assign(how=[curve.partition(", ")[2] for curve in rings.curve])
