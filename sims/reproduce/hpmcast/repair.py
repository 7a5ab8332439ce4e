"""Real membership tables when every fifth participant crashes (hpmcast, Sections 4.2 and 6.1.3).

10,648 participants (a = 22, l = 3, R = 3) with ranges as interests keep their tables by gossip-pull. After a
settled start 20 % crash at once. Each cycle: what share of the views is exactly right, what share of their
entries is dead, and how much of an event published over these views is delivered, beside what exact views
of the survivors deliver. Gossip has F = 2 and c = 3, so that delivery has a level to come back to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import AddressSpace, Gossip, Hierarchy, Knowledge, disseminate
from hierarchy.hpmcast.membership.audit import audit
from sims.engine import Schedule, Simulation
from sims.engine.control import Row
from sims.engine.faults import Crash
from sims.figures.style import figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sub2sub.geometry.boxes import Boxes
from sub2sub.overlay.network import Network
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population

__all__ = ["repair"]

LEVELS, CRASHED = 3, 0.2
GOSSIP = Gossip(fanout=2, constant=3.0)
CRASH, LAST = 10, 60  # cycles
LEVEL = 0.002  # delivery is back when it is this close to that of exact views


def _subscribers(n: int, generator: np.random.Generator) -> Population:
    """Ranges of a topic-like attribute, most of them narrow; participant x has address x."""
    centre, width = generator.random((n, 1)), generator.random((n, 1)) ** 2
    return Population.of(centre - width / 3, centre + width / 3, ids=np.arange(n))


def _delivery(
    knowledge: Knowledge, interests: Boxes, network: Network, events: NDArray[np.float64], seed: int
) -> float:
    views = knowledge.views()
    delivered = []
    for k, event in enumerate(events):
        wants = ((interests[0] <= event) & (event < interests[1])).all(axis=1)
        generator = np.random.Generator(np.random.Philox(key=[seed, k]))
        publisher = int(generator.choice(np.flatnonzero(network.alive)))
        hit = knowledge.match(event)
        outcome = disseminate(views, hit, publisher, GOSSIP, network=network, seed=seed, event=k)
        delivered.append(outcome.trace.delivery(wants))
    return float(np.mean(delivered))


class _Health:
    """Observer: how right the views are, and what they deliver beside exact ones."""

    name = "health"

    def __init__(self, overlay: Hierarchy, events: NDArray[np.float64]) -> None:
        self.overlay, self.events = overlay, events

    def execute(self, simulation: Simulation) -> Row:
        """Compare with the views that the living should have."""
        layer, network = self.overlay.membership, self.overlay.network
        interests = (layer.voters.own[:, 0], layer.voters.own[:, 1])
        known, exact = layer.knowledge(), layer.exact(network.alive)
        found = audit(known.views(), exact.views(), network.alive)
        arguments = (interests, network, self.events, simulation.overlay.seed)
        return {
            "whole": found.whole,
            **{f"right_{i + 1}": float(share) for i, share in enumerate(found.right)},
            "dead": found.dead,
            "delivery": _delivery(known, *arguments),
            "exact": _delivery(exact, *arguments),
        }


@experiment("hpmcast-repair", title="Membership tables and delivery after 20 % of 10,648 participants crash")
def repair(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Crash, and watch tables and delivery recover cycle by cycle."""
    generator = np.random.Generator(np.random.Philox(seed))
    space = AddressSpace((10 if quick else 22,) * LEVELS)
    overlay = Hierarchy(_subscribers(space.capacity, generator), space, seed=seed)
    overlay.membership.settle()
    health = _Health(overlay, generator.random((5 if quick else 10, 1)))
    controls: list[tuple[Schedule, Any]] = [(Schedule(at=CRASH), Crash(CRASHED)), (Schedule(), health)]
    simulation = Simulation(cast(Overlay, overlay), controls)  # the engine takes all that quack like one
    simulation.run(LAST, progress=lambda cycle: progress(cycle, LAST))
    rows = simulation.tables["health"]
    table = {name: [float(row[name]) for row in rows] for name in rows[0]}
    table["cycle"] = [cycle - CRASH for cycle in table["cycle"]]
    save_table(out, "repair", table)
    traffic = simulation.tables["traffic"]
    save_table(out, "traffic", {name: [row[name] for row in traffic] for name in traffic[0]})
    _draw(out, table, space.capacity)
    return _claims(table)


def _draw(out: Path, table: dict[str, list[float]], n: int) -> None:
    with styled():
        fig, (left, right) = figure(columns=2)
        for level in (1, 2, 3):
            share, name = 100 * np.array(table[f"right_{level}"]), f"level {level} views right"
            line(left, level - 1, table["cycle"], share, name, marker="")
        line(left, 3, table["cycle"], 100 * np.array(table["dead"]), "entries dead", marker="")
        left.set(xlabel="cycles after the crash", ylabel="share (%)", ylim=(-3, 108))
        left.legend(fontsize=9, loc="center right")
        line(right, 0, table["cycle"], table["delivery"], "over the tables as they are")
        line(right, 1, table["cycle"], table["exact"], "over exact tables", marker="")
        right.set(xlabel="cycles after the crash", ylabel="probability of delivery")
        right.legend(loc="lower right")
        fig.suptitle(f"{n:,} participants, 20 % crash in cycle 0", fontsize=11)
        save_figure(out, "hpmcast-repair", fig)


def _claims(table: dict[str, list[float]]) -> list[Claim]:
    cycle, delivery, exact = (np.array(table[name]) for name in ("cycle", "delivery", "exact"))
    after = cycle >= 0
    wrong = cycle[after & (np.array(table["whole"]) < 1)]
    low = cycle[after & (delivery < exact - LEVEL)]
    repaired = int(wrong.max()) + 1 if len(wrong) else 0
    back = int(low.max()) + 1 if len(low) else 0
    return [
        Claim(
            "hpmcast-repair",
            "every view of every survivor is exactly right again: cycles after the crash",
            "not in the paper",
            repaired,
            repaired <= cycle.max(),
        ),
        Claim(
            "hpmcast-repair",
            f"delivery is within {LEVEL} of that over exact views, and stays there: cycles after the crash",
            "not in the paper",
            back,
            back <= cycle.max(),
        ),
        Claim(
            "hpmcast-repair",
            "delivery before the crash, the lowest after it, at the end, and over exact views",
            "not in the paper",
            [
                round(float(value), 4)
                for value in (delivery[~after].mean(), delivery[after].min(), delivery[-1], exact[-1])
            ],
            bool(delivery[-1] >= exact[-1] - LEVEL),
        ),
    ]
