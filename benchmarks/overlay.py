"""How fast an overlay is stepped, beside PeerSim and a prototype, and what it costs per peer as it grows.

    python benchmarks/overlay.py                    10,000 and 100,000 peers, then a cold and a warm start
    python benchmarks/overlay.py 10000 1000000      other sizes
    python benchmarks/overlay.py --start            the starts only

CYCLON is stepped alone, then with VICINITY alone, as the anchors were measured: in the whole stack the ring
layer empties the caches between two cycles. Times are processor time of one thread. The machine may be busy,
so a rate is that of the best of several windows, and a cycle of the whole stack takes what the quickest of
several identical runs took for it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

import numpy as np

from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.threads import use_threads
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import OverlaySettings
from workloads import named

# Measured on one core of a Zen 4, processor time of the best cycles: peers that PeerSim 1.0.5 steps in a
# second with an array-based CYCLON (view 20, shuffle 8), beside 7.5, 6.8 and 3.8 million of this library; and
# seconds a cycle of a prototype of the whole stack.
PEERSIM_CYCLON = {10_000: 2.9e6, 100_000: 1.7e6, 1_000_000: 0.70e6}
PEERSIM_BYTES = 360  # a peer, CYCLON alone, a million peers
PROTOTYPE = {10_000: 0.34, 100_000: 3.7}
CYCLES = 40
WINDOWS, WARM = 5, 10  # windows of as many cycles as take a moment, after so many cycles

FIRST_CYCLE = """
import time
began = time.process_time()
import numpy as np
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from sub2sub.overlay.population import Population
imported = time.process_time()
low = np.random.default_rng(1).random((1000, 3)) * 0.7
overlay = Overlay(Population.of(low, low + 0.3, seed=1), OverlaySettings.paper(), seed=1)
overlay.bootstrap()
overlay.step(1)
print(imported - began, time.process_time() - imported)
"""

FIRST_SELECTION = """
import time
began = time.process_time()
from sub2sub import select_ring
imported = time.process_time()
select_ring([0], [10], 50, [[0], [4], [0]], [[5], [10], [10]], [60, 70, 80])
print(imported - began, time.process_time() - imported)
"""


def new_overlay(n: int) -> Overlay:
    """The overlay that is measured: 3 attributes, power law, as published."""
    lows, highs = named("power-law-3").subscriptions(n, 1)
    overlay = Overlay(Population.of(lows, highs, seed=1), OverlaySettings.paper(), seed=1)
    overlay.bootstrap()
    return overlay


def seconds_of(layers: Sequence[Layer], overlay: Overlay, cycle: int) -> list[float]:
    """Processor time of one cycle of each layer."""
    seconds = []
    for layer in layers:
        before = time.thread_time()
        layer.step(cycle, overlay.network)
        seconds.append(time.thread_time() - before)
    return seconds


def alone(n: int, names: tuple[str, ...]) -> float:
    """Peers a second when only these layers are stepped: the best of several windows."""
    overlay = new_overlay(n)
    layers = [layer for layer in overlay.layers if layer.name in names]
    length = max(2, 200_000 // n)
    cycles = WARM + WINDOWS * length
    times = [sum(seconds_of(layers, overlay, cycle)) for cycle in range(1, cycles + 1)]
    return n / float(np.reshape(times[WARM:], (WINDOWS, length)).mean(axis=1).min())


def whole(n: int, repeats: int) -> tuple[np.ndarray, dict[str, float]]:
    """Seconds of the layers in each cycle, the least of several runs, and bytes a peer of each layer."""
    runs = []
    for _ in range(repeats):
        overlay = new_overlay(n)
        runs.append([seconds_of(overlay.layers, overlay, cycle) for cycle in range(1, CYCLES + 1)])
    memory = {
        layer.name: sum(array.nbytes for array in layer.arrays().values()) / n for layer in overlay.layers
    }
    return np.min(runs, axis=0), memory


def ratio(value: float, anchor: float | None, of: str) -> str:
    """How many times the anchor, if there is one."""
    return f"{value / anchor:5.1f} x {of}" if anchor else ""


def measure(n: int, repeats: int, smallest: float) -> float:
    """Print what a population of n costs; seconds a peer and cycle."""
    print(f"\n{n:,} peers, 3 attributes, power law, as published")
    for names, anchors in ((("cyclon",), PEERSIM_CYCLON), (("cyclon", "vicinity"), {})):
        rate = alone(n, names)
        title = " + ".join(names).upper()
        print(
            f"  {title:20} {rate / 1e6:8.2f} M peers/s   {ratio(rate, anchors.get(n), 'PeerSim')}", flush=True
        )
    seconds, memory = whole(n, repeats)
    mean, ring = float(seconds.sum(axis=1).mean()), seconds[:, -1]
    prototype = PROTOTYPE.get(n)
    faster = f"{prototype / mean:5.1f} x prototype (target 5)" if prototype else ""
    print(f"  {'whole stack':20} {mean:8.4f} s/cycle     {faster}")
    peak = f"peak {ring.max():.3f}, at the end {ring[-1]:.3f}"
    print(f"  {'  of it the ring':20} {ring.mean():8.4f} s/cycle     {peak}")
    flat = f"{mean / n / smallest:5.2f} x the smallest size" if smallest else ""
    print(f"  {'cost per peer':20} {1e6 * mean / n:8.2f} us/cycle    {flat}")
    print(
        "  bytes per peer       " + ", ".join(f"{name} {size:.0f}" for name, size in memory.items()), end=""
    )
    print(f" (CYCLON in PeerSim {PEERSIM_BYTES})", flush=True)
    return mean / n


def start() -> None:
    """Print what an import and a first call take, with kernels to compile and with kernels on disk."""
    print("\nprocessor seconds for import and first call")
    for what, program in (("first cycle", FIRST_CYCLE), ("select_ring", FIRST_SELECTION)):
        with tempfile.TemporaryDirectory() as folder:
            for kernels in ("cold", "warm"):
                done = subprocess.run(
                    [sys.executable, "-c", program], env={**os.environ, "NUMBA_CACHE_DIR": folder},
                    capture_output=True, text=True, check=True,
                )  # fmt: skip
                imported, called = (float(word) for word in done.stdout.split())
                print(
                    f"  {what}, {kernels} {imported + called:8.2f} s  (import {imported:.2f}, {called:.2f})",
                    flush=True,
                )


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description="How fast an overlay is stepped.")
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 100_000], help="numbers of peers")
    parser.add_argument("--repeats", type=int, default=3, help="runs of the whole stack to take the best of")
    parser.add_argument("--start", action="store_true", help="only a cold and a warm start")
    asked = parser.parse_args()
    use_threads(1)  # PeerSim has one
    if not asked.start:
        new_overlay(500).step(1)  # compile
        smallest = 0.0
        for n in asked.sizes:
            cost = measure(n, asked.repeats if n < 1_000_000 else 1, smallest)
            smallest = smallest or cost
        print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    start()


if __name__ == "__main__":
    main()
