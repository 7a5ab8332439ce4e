"""Events in the order of time beside events hop by hop: processor time over the same rings.

python benchmarks/milliseconds.py                        # 10,000 events over 10,000 peers
python benchmarks/milliseconds.py --workload power-law-1 --peers 2000
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sims.config.interests import WorkloadSettings
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.timing.settings import Timing
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import DisseminationSettings

NETWORKS = {
    "hops": None,
    "constant": Timing(latency="constant", jitter=0.0, bandwidth=0.0),
    "log-normal": Timing(),
    "sphere": Timing(latency="sphere"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--workload", default="power-law-3")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    found = WorkloadSettings(spec=given.workload, events=given.events).load(given.peers, seed=1)
    overlay = Overlay(Population.of(found.lows, found.highs, seed=1), seed=1)
    overlay.run(given.cycles)
    links, settings = Links.of(overlay), DisseminationSettings(shortcuts=2)
    print(f"{given.events:,} events over {given.peers:,} peers, {given.workload}, one thread")
    first = None
    for name, timing in NETWORKS.items():
        overlay.network.timing, taken = timing, []
        for _ in range(given.repeat + 1):  # the first compiles
            began = time.process_time()
            outcome = disseminate(links, overlay.network, found.points, settings=settings, threads=1)
            taken.append(time.process_time() - began)
        best = min(taken[1:])
        first = first or best
        last = f", last at {np.nanmedian(outcome.times.last):.0f} ms" if outcome.times else ""
        deliveries = int(outcome.deliveries.sum())
        print(
            f"{name:11} {best:6.2f} s, {best / first:4.2f} of hops, {1e9 * best / deliveries:5.0f} ns a "
            f"delivery, hit ratio {outcome.hit_ratio:.4f}{last}"
        )


if __name__ == "__main__":
    main()
