"""A million peers build their rings on one machine, cycle by cycle.

    python benchmarks/million.py                      a million peers, as published
    python benchmarks/million.py --default            with the additions that the default settings make
    python benchmarks/million.py --peers 100000       fewer

Three attributes, power law. After each cycle: seconds by the clock, complete rings of 2,000 test events, ring
links a peer, and the most memory taken so far. It ends when 99.9 % of the rings are complete, or after
`--cycles` cycles.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from sims.observers.rings import rings_in_place
from sub2sub.geometry.matching import match
from sub2sub.kernels.threads import threads
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from sub2sub.overlay.population import Population
from workloads import named

EVENTS, ENOUGH = 2_000, 0.999


def rings(overlay: Overlay, offsets: np.ndarray, members: np.ndarray) -> float:
    """Share of complete rings."""
    links, needed = (np.zeros(offsets.size - 1, np.int64) for _ in range(2))
    pool, alive = overlay.ring.pool, overlay.network.alive == 1
    n = len(overlay.population)
    rings_in_place(offsets, members, alive, pool.start, pool.size, pool.peer, n, links, needed)
    return float((links == needed)[needed > 0].mean())


def main() -> None:
    """Build the rings that the command line asks for."""
    parser = argparse.ArgumentParser(description="A million peers build their rings.")
    parser.add_argument("--peers", type=int, default=1_000_000)
    parser.add_argument("--cycles", type=int, default=80, help="most cycles to run")
    parser.add_argument("--default", action="store_true", help="default settings instead of the paper's")
    asked = parser.parse_args()
    workload = named("power-law-3")
    lows, highs = workload.subscriptions(asked.peers, 1)
    settings = OverlaySettings() if asked.default else OverlaySettings.paper()
    overlay = Overlay(Population.of(lows, highs, seed=1), settings, seed=1)
    true = match(*overlay.population.ranges(), workload.events(EVENTS, 1, lows, highs))
    overlay.bootstrap()
    began, total = time.perf_counter(), 0.0
    for cycle in range(1, asked.cycles + 1):
        before = time.perf_counter()
        overlay.step(cycle)
        seconds = time.perf_counter() - before
        total += seconds
        complete = rings(overlay, true.offsets, true.members)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        links = overlay.ring.pool.size.mean()
        print(f"cycle {cycle:3}  {seconds:7.2f} s  {complete:8.3%} of the rings  "
              f"{links:5.1f} links a peer  peak {peak:.2f} GiB", flush=True)  # fmt: skip
        if complete >= ENOUGH:
            break
    print(f"{asked.peers:,} peers, {cycle} cycles: {total / cycle:.2f} s a cycle on {threads()} threads, "
          f"{1e6 * total / cycle / asked.peers:.2f} us a peer, {time.perf_counter() - began:.0f} s in all, "
          f"peak memory {peak:.2f} GiB")  # fmt: skip


if __name__ == "__main__":
    main()
