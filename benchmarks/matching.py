"""Counting the matches of 100,000 events on a million subscriptions: the index against its alternatives.

Prints CPU seconds of one core per workload and method, and how many times faster than a scan the index is.
The scans take time in proportion to the events, so they are timed on a sample and scaled.

    python benchmarks/matching.py [SUBSCRIPTIONS [EVENTS]]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import workloads
from sub2sub.compiled.machinery.compilation import kernel
from workloads import Attribute, Spec
from workloads.match.bitmaps import Bitmaps
from workloads.spec.distributions import Constant, PowerLaw, Zipf

SAMPLE = 500
METHODS = ("scan", "sorted ends", "bitmaps")

WORKLOADS = {
    "power-law-3": workloads.named("power-law-3"),
    "uniform-5": workloads.named("uniform-5"),
    "power-law-5": workloads.named("power-law-5"),
    "narrow-3": Spec("narrow-3", tuple(Attribute(f"a{k}", width=PowerLaw(60)) for k in range(3))),
    "narrow-5": Spec("narrow-5", tuple(Attribute(f"a{k}", width=PowerLaw(60)) for k in range(5))),
    "overlap-3": Spec("overlap-3", tuple(Attribute(f"a{k}", wildcard=0.5) for k in range(3))),
    "overlap-5": Spec("overlap-5", tuple(Attribute(f"a{k}", wildcard=0.5) for k in range(5))),
    "exact-3": Spec(
        "exact-3",
        tuple(Attribute(f"a{k}", Zipf(50), Constant(), wildcard=0.3) for k in range(3)),
        events_follow="interest",
    ),
}


@kernel
def scan(lows, highs, points, counts):
    """Every subscription against every event, by columns and without branches: several at once."""
    d, n = lows.shape
    step = 4096
    y, z = min(1, d - 1), min(2, d - 1)
    for first in range(0, n, step):
        last = min(first + step, n)
        low_x, low_y, low_z = lows[0, first:last], lows[y, first:last], lows[z, first:last]
        high_x, high_y, high_z = highs[0, first:last], highs[y, first:last], highs[z, first:last]
        low_u, low_v = lows[min(3, d - 1), first:last], lows[min(4, d - 1), first:last]
        high_u, high_v = highs[min(3, d - 1), first:last], highs[min(4, d - 1), first:last]
        for event in range(points.shape[0]):
            px, py, pz = points[event, 0], points[event, y], points[event, z]
            found = 0
            if d <= 3:
                for s in range(last - first):
                    found += (
                        (low_x[s] <= px) & (px <= high_x[s]) & (low_y[s] <= py) & (py <= high_y[s])
                        & (low_z[s] <= pz) & (pz <= high_z[s])
                    )  # fmt: skip
            else:
                pu, pv = points[event, min(3, d - 1)], points[event, min(4, d - 1)]
                for s in range(last - first):
                    found += (
                        (low_x[s] <= px) & (px <= high_x[s]) & (low_y[s] <= py) & (py <= high_y[s])
                        & (low_z[s] <= pz) & (pz <= high_z[s]) & (low_u[s] <= pu) & (pu <= high_u[s])
                        & (low_v[s] <= pv) & (pv <= high_v[s])
                    )  # fmt: skip
            counts[event] += found


@kernel
def sorted_ends(lows, highs, points, widest, counts):
    """Subscriptions sorted by their low end of the first attribute: only those near the event are seen."""
    d = lows.shape[0]
    for event in range(points.shape[0]):
        x = points[event, 0]
        found = 0
        for s in range(np.searchsorted(lows[0], x - widest), np.searchsorted(lows[0], x, side="right")):
            inside = True
            for axis in range(d):
                inside &= (lows[axis, s] <= points[event, axis]) & (points[event, axis] <= highs[axis, s])
            found += inside
        counts[event] += found


def timed(method: Callable[..., None], *arguments: Any) -> float:
    began = time.process_time()
    method(*arguments)
    return time.process_time() - began


def compare(spec: Spec, n: int, m: int) -> None:
    lows, highs = spec.subscriptions(n, seed=1)
    points = spec.candidates(1, 0, m)
    seconds = {"bitmaps": timed(lambda: Bitmaps(lows, highs, points).count())}
    counts = Bitmaps(lows, highs, points[:SAMPLE]).count()
    sample, scale = points[:SAMPLE], m / SAMPLE
    columns = np.ascontiguousarray(lows.T), np.ascontiguousarray(highs.T)
    found = np.zeros(SAMPLE, np.int64)
    seconds["scan"] = timed(scan, *columns, sample, found) * scale
    assert np.array_equal(found, counts)
    order = np.argsort(lows[:, 0])
    ordered = np.ascontiguousarray(lows[order].T), np.ascontiguousarray(highs[order].T)
    found = np.zeros(SAMPLE, np.int64)
    widest = float((highs[:, 0] - lows[:, 0]).max())
    seconds["sorted ends"] = timed(sorted_ends, *ordered, sample, widest, found) * scale
    assert np.array_equal(found, counts)
    shown = " ".join(f"{seconds.get(name, np.nan):11.1f}" for name in METHODS)
    times = seconds["scan"] / seconds["bitmaps"]
    print(f"{spec.name:12} {counts.mean():12.1f} {shown} {times:7.0f}", flush=True)


def main() -> None:
    n, m = (int(value) for value in (sys.argv[1:] + [1_000_000, 100_000][len(sys.argv) - 1 :]))
    print(f"{m:,} events on {n:,} subscriptions, CPU seconds of one core")
    print(f"{'workload':12} {'matches each':>12} {' '.join(f'{name:>11}' for name in METHODS)} {'times':>7}")
    for spec in WORKLOADS.values():
        warm = spec.subscriptions(100, 1), spec.candidates(1, 0, 100)
        columns = tuple(np.ascontiguousarray(ends.T) for ends in warm[0])
        Bitmaps(*warm[0], warm[1]).count()
        scan(*columns, warm[1], np.zeros(100, np.int64))
        sorted_ends(*columns, warm[1], 1.0, np.zeros(100, np.int64))
        compare(spec, n, m)


if __name__ == "__main__":
    main()
