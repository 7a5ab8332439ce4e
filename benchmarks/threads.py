"""What several threads bring: the same overlay stepped by one and by all of them, cycle by cycle.

    python benchmarks/threads.py --peers 100000 --cycles 14

Seconds by the clock for each layer while rings form; both overlays end with the same links, or it says so.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sub2sub import Overlay, OverlaySettings, Population
from sub2sub.compiled.common.threads import threads, use_threads
from workloads import named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=int, default=100_000)
    parser.add_argument("--cycles", type=int, default=14)
    given, numbers = parser.parse_args(), (1, threads())
    lows, highs = named("power-law-3").subscriptions(given.peers, 1)
    overlays = [Overlay(Population.of(lows, highs, seed=1), OverlaySettings.paper(), seed=1) for _ in numbers]
    for overlay in overlays:
        overlay.bootstrap()
        overlay.step(1)  # loads the kernels
    taken: dict[str, list[float]] = {}
    for cycle in range(2, given.cycles + 1):
        for k, (number, overlay) in enumerate(zip(numbers, overlays, strict=True)):
            use_threads(number)
            for layer in overlay.layers:
                before = time.perf_counter()
                layer.step(cycle, overlay.network)
                taken.setdefault(layer.name, [0.0, 0.0])[k] += time.perf_counter() - before
    print(f"{given.peers:,} peers, {given.cycles} cycles: seconds with 1 and {numbers[1]} threads, ratio")
    for name, (one, several) in {**taken, "all": np.sum(list(taken.values()), axis=0)}.items():
        print(f"{name:12} {one:8.2f} {several:8.2f} {one / max(several, 1e-9):6.2f}")
    pairs = zip(*(overlay.layers for overlay in overlays), strict=True)
    same = all(np.array_equal(*links) for a, b in pairs for links in zip(a.links(), b.links(), strict=True))
    print("the same links" if same else "DIFFERENT links")


if __name__ == "__main__":
    main()
