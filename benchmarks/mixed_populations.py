"""CAMCAST's routing beside the rings where topics and ranges mix, with default settings; fails at its bounds.

    PYTHONPATH=. python benchmarks/mixed_populations.py [--hosts 3000] [--seeds 1]
        [--kinds chain star tree graph] [--shares 0 0.05 0.3 0.9] [--faults none loss crash churn]

Outcomes are judged by brute force: every reception against every box.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from sims.engine import Simulation
from sims.engine.faults import Churn, Crash, Loss
from sub2sub.peers.settings import DisseminationSettings
from tests.hierarchy.shared.mixed import Judged, judged, mixed, topic_events

SETTLED, EVENTS, RINGS = 40, 200, DisseminationSettings()
FAULTS = {
    "none": (None, (40,)),
    "loss": (Loss(0.05), (40,)),
    "crash": (Crash(0.2), (41, 43, 51)),
    "churn": (Churn(0.01), (61,)),
}
BOUNDS = {
    "none": 1.0,
    "loss": 0.999,
    "crash": 0.0,
    "crash, 2 cycles later": 0.98,
    "crash, 10 cycles later": 0.9995,
    "churn": 0.998,
}


def moments(
    kind: str, share: float, hosts: int, seed: int, fault: str
) -> Iterator[tuple[str, Judged, Judged]]:
    """Each moment at which a world is judged: by CAMCAST's routing and along the rings."""
    control, when = FAULTS[fault]
    overlay = mixed(kind, share, hosts, seed, spare=hosts if fault == "churn" else 0)
    simulation = Simulation(overlay)
    if control is not None:
        start = 0 if fault == "loss" else SETTLED
        simulation.add(control, start=start, until=None if fault == "churn" else start + 1)
    for cycle in range(1, when[-1] + 1):
        simulation.act()
        if cycle in when and fault == "crash":
            yield _named(fault, cycle), *_both(overlay, seed + cycle)
        simulation.cycle = cycle
        overlay.step(cycle)
        if cycle in when and fault != "crash":
            yield fault, *_both(overlay, seed + cycle)


def _named(fault: str, cycle: int) -> str:
    return fault if cycle == SETTLED + 1 else f"{fault}, {cycle - SETTLED - 1} cycles later"


def _both(overlay, seed: int) -> tuple[Judged, Judged]:  # type: ignore[no-untyped-def]
    events = topic_events(overlay, EVENTS, seed)
    return judged(overlay, *events), judged(overlay, *events, RINGS)


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
    print("tree, ranges, seed, fault: hit ratio, wrong, hops, messages a delivery (each / rings)")
    worlds = [
        (k, s, r, f)
        for k in given.kinds
        for s in given.shares
        for r in range(given.seeds)
        for f in given.faults
    ]
    for kind, share, seed, fault in worlds:
        for moment, tables, rings in moments(kind, share, given.hosts, seed + 1, fault):
            least = max(BOUNDS[moment], rings.hit_ratio - 0.01 if moment == "crash" else 0)
            is_bad = tables.hit_ratio < least or tables.wrong > 0
            is_bad |= moment == "none" and tables.hops > 2 * rings.hops
            missed += is_bad
            print(
                f"{kind:6} {share:.2f} {seed + 1} {moment:24} {tables.hit_ratio:.5f} / {rings.hit_ratio:.5f} "
                f"{tables.wrong:7} {tables.hops:6} / {rings.hops:<5} {tables.per_delivery:8.2f} / "
                f"{rings.per_delivery:.2f}{'   beyond its bound' if is_bad else ''}", flush=True,
            )  # fmt: skip
    return missed


if __name__ == "__main__":
    sys.exit(main() > 0)
