"""CAMCAST's routing beside the rings where topics and ranges mix, with default settings; fails at its bounds.

    PYTHONPATH=. python benchmarks/mixed_populations.py [--hosts 3000] [--seeds 1]
        [--kinds chain star tree graph] [--shares 0 0.05 0.3 0.9] [--faults none loss crash churn]

A chain of 13 topics, a star of 300, a random tree of 400 topics with popularity by Zipf's law, and the same
as a graph. Outcomes are judged by brute force: every reception against every box. `auto` is the route that
each publisher chooses; its bytes, questions included, are compared with those of the better route: the one
that costs less, or the other one if that reaches more than one in 200 more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np

from sims.engine import Simulation
from sims.engine.faults import Churn, Crash, Loss
from sub2sub.peers.settings import DisseminationSettings
from tests.hierarchy.shared.mixed import Judged, judged, judged_by_choice, mixed, topic_events

SETTLED, EVENTS, RINGS = 40, 200, DisseminationSettings()
AFTER = {41: "crash", 43: "crash, 2 cycles later", 51: "crash, 10 cycles later"}
FAULTS = {"none": (None, [40]), "loss": (Loss(0.05), [40]), "crash": (Crash(0.2), [*AFTER]),
          "churn": (Churn(0.01), [*range(57, 62)])}  # fmt: skip
BOUNDS = {
    "none": 1.0, "loss": 0.999, "crash": 0.0, "crash, 2 cycles later": 0.98, "crash, 10 cycles later": 1.0,
    "churn": 0.998,
}  # fmt: skip
Row = tuple[Judged, Judged, Judged, float]


def moments(kind: str, share: float, hosts: int, seed: int, fault: str) -> Iterator[tuple[str, Row]]:
    """Each moment at which a world is judged: by CAMCAST's routing, along the rings, and by choice."""
    control, when = FAULTS[fault]
    overlay = mixed(kind, share, hosts, seed, hosts if fault == "churn" else 0, star=300, topics=400)
    simulation, churned = Simulation(overlay), []
    if control is not None:
        start = 0 if fault == "loss" else SETTLED
        simulation.add(control, start=start, until=None if fault == "churn" else start + 1)

    def judge(cycle: int) -> Row:
        events = topic_events(overlay, EVENTS, seed + cycle)
        return judged(overlay, *events), judged(overlay, *events, RINGS), *judged_by_choice(overlay, *events)

    for cycle in range(1, when[-1] + 1):
        simulation.act()
        if cycle in when and fault == "crash":
            yield AFTER[cycle], judge(cycle)
        simulation.cycle = cycle
        overlay.step(cycle)
        if cycle in when and fault == "churn":
            churned.append(judge(cycle))
        elif cycle in when and fault != "crash":
            yield fault, judge(cycle)
    if churned:
        yield fault, mean(churned)


def mean(rows: list[Row]) -> Row:
    """The mean over cycles; the worst for wrong receivers and hops."""

    def over(parts: tuple[Judged, ...]) -> Judged:
        hit_ratio, _, _, copies, deliveries, size = np.mean(parts, axis=0).tolist()
        wrong, hops = (max(getattr(part, name) for part in parts) for name in ("wrong", "hops"))
        return Judged(hit_ratio, wrong, hops, copies, int(deliveries), int(size))

    tables, rings, auto, shares = zip(*rows, strict=True)
    return over(tables), over(rings), over(auto), float(np.mean(shares))


def main() -> int:
    """Print a row for each world and moment; return how many miss their bounds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=["chain", "star", "tree", "graph"])
    parser.add_argument("--shares", nargs="+", type=float, default=[0.0, 0.05, 0.3, 0.9])
    parser.add_argument("--faults", nargs="+", default=list(FAULTS), choices=list(FAULTS))
    given = parser.parse_args()
    missed = 0
    print("tree, ranges, seed, fault: hit ratio CAMCAST / rings / auto, wrong, hops, messages a delivery, ")
    print("share of publishers that choose CAMCAST's route, bytes of auto over those of the better route")
    worlds = [
        (kind, share, seed, fault)
        for kind in given.kinds
        for share in given.shares
        for seed in range(1, given.seeds + 1)
        for fault in given.faults
    ]
    for kind, share, seed, fault in worlds:
        for moment, (tables, rings, auto, chosen) in moments(kind, share, given.hosts, seed, fault):
            better = better_of(tables, rings)
            least = max(BOUNDS[moment], rings.hit_ratio - 0.01 if moment == "crash" else 0)
            ratio = auto.bytes / better.bytes
            beyond = [
                name
                for name, is_bad in {
                    "hit ratio": tables.hit_ratio < least,
                    "wrong": tables.wrong + rings.wrong + auto.wrong > 0,
                    "hops": moment == "none" and tables.hops > 2 * rings.hops,
                    "auto": moment != "crash" and (ratio > 1.1 or auto.hit_ratio < better.hit_ratio - 0.002),
                }.items()
                if is_bad
            ]
            missed += bool(beyond)
            print(
                f"{kind:5} {share:.2f} {seed} {moment:22}",
                " / ".join(f"{route.hit_ratio:.5f}" for route in (tables, rings, auto)),
                f"{tables.wrong + rings.wrong:3} {tables.hops:4} / {rings.hops:<3}",
                " / ".join(f"{route.per_delivery:.2f}" for route in (tables, rings, auto)),
                f"{chosen:6.2f} {ratio:5.2f}",
                f"beyond its bound: {', '.join(beyond)}" if beyond else "",
                flush=True,
            )
    return missed


def better_of(tables: Judged, rings: Judged) -> Judged:
    """The route that costs less, unless the other one reaches more than one in 200 more."""
    best = max(tables.hit_ratio, rings.hit_ratio)
    return min((route for route in (tables, rings) if route.hit_ratio >= best - 0.005), key=lambda r: r.bytes)


if __name__ == "__main__":
    sys.exit(main() > 0)
