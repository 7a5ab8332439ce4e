"""What churn costs: hit ratio and upkeep while a share of the peers is replaced in every cycle.

    python benchmarks/churn.py --peers 2000 --share 0.05 --seeds 2

3 attributes, power law; events enter by publishers' walks. Beside the default, the ring layer without what
was added for churn: candidates taken up unseen, no immediate join, one try, nobody dropped at once, and
neighbours probed only from age 6 on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from sims.engine import Schedule, Simulation
from sims.engine.faults import Churn
from sub2sub import Links, Overlay, OverlaySettings, Population, disseminate, find_entry
from workloads import named

BUILD, FOLLOWED = 30, 24  # cycles before churn begins, and with it; the second half is measured
DEFAULT = OverlaySettings()
EARLIER = replace(DEFAULT.ring, verify=False, join=False, tries=1, most_tries=1, drop_failed=False)
WITHOUT = replace(DEFAULT, ring=EARLIER, suspect_age=6)


def measure(
    peers: int, share: float, loss: float, settings: OverlaySettings, seed: int
) -> tuple[float, float]:
    """Hit ratio and upkeep messages per peer and cycle in steady state."""
    spec = named("power-law-3")
    lows, highs = spec.subscriptions(peers, seed)
    events = spec.events(1000, seed, lows, highs)
    population = Population.of(lows, highs, spare=round((1 + share * FOLLOWED) * peers), seed=seed)
    overlay = Overlay(population, settings, seed=seed)
    simulation = Simulation(overlay, [(Schedule(start=BUILD), Churn(share))])
    overlay.bootstrap()
    hits = []
    for cycle in range(BUILD + FOLLOWED):
        overlay.network.loss = loss if cycle >= BUILD else 0.0
        simulation.step()
        if cycle >= BUILD + FOLLOWED // 2:
            links = Links.of(overlay)
            walks = find_entry(links, overlay.network, events, seed=seed, cycle=simulation.cycle)
            outcome = disseminate(
                links, overlay.network, events, entry=walks.entry, seed=seed, cycle=simulation.cycle
            )
            hits.append(outcome.hit_ratio)
    since = simulation.cycle - FOLLOWED // 2
    sent = sum(row["messages"] for row in simulation.tables["traffic"] if row["cycle"] > since)
    return float(np.mean(hits)), sent / (FOLLOWED // 2) / peers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=int, default=2000)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--loss", type=float, default=0.0)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    print(f"{given.peers:,} peers, {given.share:.1%} replaced a cycle, {given.loss:.0%} of messages lost")
    for name, settings in (("default", DEFAULT), ("without", WITHOUT)):
        for seed in range(1, given.seeds + 1):
            hit, upkeep = measure(given.peers, given.share, given.loss, settings, seed)
            print(
                f"  {name:8} seed {seed}: hit ratio {hit:.4f}, {upkeep:.1f} messages a peer and cycle",
                flush=True,
            )


if __name__ == "__main__":
    main()
