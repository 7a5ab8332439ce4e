"""How fast an overlay is stepped, layer by layer, and what it costs per peer as the population grows.

    python benchmarks/overlay.py                    10,000 and 100,000 peers
    python benchmarks/overlay.py 10000 1000000      other sizes

Prints peers stepped per second and core, the ratio to PeerSim's rate (measured once on a machine of the same
class, with an array-based CYCLON of view 20 and shuffle 8; see ANCHORS), the cost per peer relative to the
smallest population of this run, and memory. Times are processor time of one thread: the machine may be busy.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from sub2sub.overlay import Overlay, OverlaySettings
from sub2sub.population import Population
from workloads import named

# Peers stepped per second by PeerSim on one core: {peers: (CYCLON, CYCLON and VICINITY)}; None: not measured.
ANCHORS = {10_000: (1.5e6, 0.4e6), 100_000: (0.575e6, 0.1e6), 1_000_000: (0.25e6, None)}
CYCLES = 40


def stepped(n: int, cycles: int, whole: bool = True) -> tuple[dict[str, float], float, dict[str, float]]:
    """Median seconds per cycle and layer when settled, the mean of the whole stack, and bytes per peer."""
    lows, highs = named("power-law-3").subscriptions(n, 1)
    overlay = Overlay(Population.of(lows, highs, seed=1), OverlaySettings.paper(), seed=1)
    overlay.bootstrap()
    times: dict[str, list[float]] = {layer.name: [] for layer in overlay.layers}
    for cycle in range(1, cycles + 1):
        for layer in overlay.layers:
            if layer.name == "ring" and not whole:
                continue
            before = time.thread_time()
            layer.step(cycle, overlay.network)
            times[layer.name].append(time.thread_time() - before)
    settled = {name: float(np.median(values[len(values) // 2 :])) for name, values in times.items() if values}
    mean = float(sum(np.sum(values[1:]) for values in times.values()) / (cycles - 1))
    memory = {
        layer.name: sum(array.nbytes for array in layer.arrays().values()) / n for layer in overlay.layers
    }
    return settled, mean, memory


def main(sizes: list[int]) -> None:
    stepped(500, 3)  # compile
    base = None
    for n in sizes:
        settled, mean, memory = stepped(n, CYCLES)
        cyclon, both = n / settled["cyclon"], n / (settled["cyclon"] + settled["vicinity"])
        anchors = ANCHORS.get(n, (None, None))
        print(f"\n{n:,} peers, 3 attributes, power law, {CYCLES} cycles")
        for title, rate, anchor in (("CYCLON", cyclon, anchors[0]), ("CYCLON + VICINITY", both, anchors[1])):
            ratio = f"{rate / anchor:5.1f} x PeerSim" if anchor else ""
            print(f"  {title:20} {rate / 1e6:7.2f} M peers/s  {ratio}")
        base = base or mean / n
        flat = f"{1e6 * mean / n:.2f} us a peer, {mean / n / base:.2f} x smallest"
        print(f"  whole stack          {mean:7.3f} s/cycle     {flat}")
        print(f"  settled ring         {settled['ring']:7.3f} s/cycle")
        print("  bytes per peer       " + ", ".join(f"{name} {size:.0f}" for name, size in memory.items()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\npeak memory {peak:.2f} GiB")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [10_000, 100_000])
