"""Deliveries while 5 % of the peers are replaced in every cycle, by workload, with the upkeep beside them.

    PYTHONPATH=. python benchmarks/churn.py [--peers 3000] [--seeds 3] [--share 0.05] [--loss 0] [NAME ...]

Publishers search for a peer that matches; an event that finds none reaches nobody. Hit ratios and upkeep are
means over twelve cycles; a search's messages are those between a publisher and the peers that it asks. A
workload is one of `workloads.named`, or data that comes with the package: real places, and dependencies of
Debian, with as many peers as subscriptions.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.engine.faults import Churn, Loss
from sub2sub import Overlay, OverlaySettings, datasets, typical_widths
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.geometry.matching import match
from sub2sub.peers.settings import DisseminationSettings
from workloads import named

WORKLOADS = [
    "power-law-3", "power-law-5", "uniform-1", "uniform-2", "uniform-4", "uniform-6", "places", "debian",
]  # fmt: skip
BUILT, SETTLED, MEASURED, EVENTS = 30, 12, 12, 1000


def start(workload: str, peers: int, seed: int) -> tuple[Overlay, NDArray[np.float64]]:
    """An overlay with room for as many newcomers as churn brings, and events that somebody wants."""
    settings = OverlaySettings()
    if workload in datasets.names():
        data = datasets.load(workload)
        lows, highs = data.space.subscriptions(data.subscriptions)
        events = data.space.events(data.events)
        events = events[match(lows, highs, events).sizes() >= 2]
        settings = OverlaySettings(axes=typical_widths(lows, highs))
    else:
        spec = named(workload)
        lows, highs = spec.subscriptions(peers, seed)
        events = spec.events(EVENTS, seed, lows, highs, at_least=2)
    return Overlay.of(lows, highs, spare=2 * len(lows), settings=settings, seed=seed), events


def measure(workload: str, peers: int, seed: int, share: float, loss: float) -> dict[str, float]:
    """One overlay under churn: means over the measured cycles."""
    overlay, events = start(workload, peers, seed)
    simulation, rows = Simulation(overlay), []
    simulation.add(Loss(loss), until=1)
    simulation.add(Churn(share), start=BUILT)
    end = BUILT + SETTLED + MEASURED
    for cycle in range(1, end + 1):
        simulation.act()
        simulation.cycle = cycle
        cost = overlay.step(cycle)
        if cycle <= end - MEASURED:
            continue
        links, network = Links.of(overlay), overlay.network
        walks = find_entry(links, network, events, seed=seed, cycle=cycle, scale=overlay.population.scale)
        outcome = disseminate(
            links,
            network,
            events,
            entry=walks.entry,
            settings=DisseminationSettings(),
            seed=seed,
            cycle=cycle,
        )
        alive = network.alive == 1
        found = outcome.entry >= 0
        rows.append(
            {
                "hit ratio": outcome.hit_ratio,
                "found": float(found.mean()),
                "once found": float(outcome.hit_ratios[found & outcome.wanted].mean()),
                "search": float(walks.messages.mean()),
                "links": float(overlay.ring.pool.size[alive].mean()),
                "messages": sum(layer["messages"] for layer in cost.values()) / alive.sum(),
                "bytes": sum(layer["bytes"] for layer in cost.values()) / alive.sum(),
            }
        )
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def main() -> None:
    """Print a row for each workload and seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workloads", nargs="*", default=WORKLOADS)
    parser.add_argument("--peers", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--loss", type=float, default=0.0)
    given = parser.parse_args()
    print("workload, seed: hit ratio, publishers that find a match, hit ratio of theirs, messages of")
    print("a search, ring links a peer, messages and bytes of upkeep a peer and cycle")
    for workload in given.workloads:
        for seed in range(1, given.seeds + 1):
            row = measure(workload, given.peers, seed, given.share, given.loss)
            print(
                f"{workload:12} {seed} {row['hit ratio']:.4f} {row['found']:.4f} {row['once found']:.4f} "
                f"{row['search']:6.1f} {row['links']:6.2f} {row['messages']:6.1f} {row['bytes']:8.0f}",
                flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
