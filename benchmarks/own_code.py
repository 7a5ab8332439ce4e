"""What protocols and distances in plain Python cost: seconds of processor per cycle, on one core.

    NUMBA_NUM_THREADS=1 python benchmarks/own_code.py

Push-sum is the protocol of `examples/push_sum.py`, a `PerPeer` over CYCLON. The distance is a function of two
boxes with two attributes, given to `Overlay.of(proximity=...)`, beside VICINITY's own.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from sub2sub import Overlay, Stack
from sub2sub.compiled.cyclon.layer import Cyclon

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from push_sum import PushSum

CYCLES = 5


def per_cycle(stack: Stack) -> float:
    """Seconds of processor per cycle, after ten in which kernels are compiled and views fill."""
    stack.run(10)
    began = time.process_time()
    stack.run(CYCLES)
    return (time.process_time() - began) / CYCLES


def apart(a: Any, b: Any) -> float:
    """How far the lower ends of two boxes are apart, in the first attribute."""
    return abs(a[0, 0] - b[0, 0])


def main() -> None:
    """Measure both."""
    for n in (1_000, 10_000):
        stack = Stack(n, [Cyclon(n, seed=1), PushSum], seed=1)
        print(f"push-sum, {n:,} peers: {per_cycle(stack):.3f} s a cycle", flush=True)

    calls = 0

    def counted(a: Any, b: Any) -> float:
        nonlocal calls
        calls += 1
        return apart(a, b)

    n = 1_000
    low = np.random.default_rng(1).random((n, 2)) * 0.7
    for name, distance in (("of one's own", apart), ("of VICINITY", None)):
        seconds = per_cycle(Overlay.of(low, low + 0.3, seed=1, proximity=distance))
        print(f"overlay, {n:,} peers, distance {name}: {seconds:.3f} s a cycle", flush=True)
    per_cycle(Overlay.of(low, low + 0.3, seed=1, proximity=counted))
    print(f"calls of the distance: {calls / n / (10 + CYCLES):.0f} per peer and cycle")


if __name__ == "__main__":
    main()
