"""What RingIndex costs, beside a loop over select_ring and beside shapely's STRtree, in one run.

    python benchmarks/ring_index.py [SUBSCRIPTIONS]

Subscriptions have three attributes (two for shapely's tree, which has no more), widths and centres as in
Sub-2-Sub's power-law workload. Seconds are processor seconds. All results are compared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np
import shapely
from numpy.typing import NDArray

from sub2sub import RingIndex, select_ring

Floats = NDArray[np.float64]
T = TypeVar("T")


def workload(n: int, d: int, seed: int = 1) -> tuple[Floats, Floats, NDArray[np.uint64]]:
    rng = np.random.default_rng(seed)
    width, centre = 1 - rng.random((n, d)) ** (1 / 5), (rng.random((n, d)) + rng.random((n, d))) / 2
    ids = rng.choice(2**62, n, replace=False).astype(np.uint64)
    return np.clip(centre - width / 2, 0, 1), np.clip(centre + width / 2, 0, 1), ids


def timed(what: str, work: Callable[[], T], times: int = 1) -> T:
    clock, used = perf_counter(), process_time()
    result = work()
    used, clock = (process_time() - used) / times, (perf_counter() - clock) / times
    scale, unit = (1, "s") if used > 0.5 else (1e3, "ms")
    print(
        f"{what:64} {used * scale:9.3f} {unit} of processor, {clock * scale:9.3f} {unit} by the clock",
        flush=True,
    )
    return result


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    lows, highs, ids = workload(n + 1000, 3)
    RingIndex(lows[:200], highs[:200], ids[:200]).ring_links()  # compiles
    select_ring(lows[0], highs[0], int(ids[0]), lows[1:300], highs[1:300], ids[1:300])
    events = np.random.default_rng(2).random((10_000, 3))

    def built() -> RingIndex:
        index = RingIndex(lows[:n], highs[:n], ids[:n])
        index.ring(events[0])
        return index

    index = timed(f"{n:,} subscriptions, to the first ring", built)
    rings = timed("10,000 events, their rings", lambda: index.match(events))
    timed("one event, its ring", lambda: [index.ring(event) for event in events[:100]], 100)

    def insert() -> None:
        for row in range(n, n + 1000):
            index.add(lows[row : row + 1], highs[row : row + 1], ids[row : row + 1])

    def remove() -> None:
        for row in range(n, n + 1000):
            index.remove(ids[row : row + 1])

    timed("an insertion (of 1,000)", insert, 1000)
    timed("a removal (of 1,000)", remove, 1000)
    again = index.match(events)
    assert (again.members == rings.members).all()
    assert (again.offsets == rings.offsets).all()
    timed("links of one subscription", lambda: [index.links(int(one)) for one in ids[:20]], 20)
    timed("what changes without one", lambda: [index.what_changes_without(int(one)) for one in ids[:5]], 5)

    few = 10_000
    small = RingIndex(lows[:few], highs[:few], ids[:few])
    links = timed(f"all ring links of {few:,}", small.ring_links)

    def loop() -> list[tuple[int, list[int], list[int]]]:
        selected = []
        for row in range(0, few, 500):
            others = np.delete(np.arange(few), row)
            ring = select_ring(lows[row], highs[row], int(ids[row]), lows[others], highs[others], ids[others])
            selected.append(
                (row, ids[others[ring.successors]].tolist(), ids[others[ring.predecessors]].tolist())
            )
        return selected

    for row, *sides in timed("the same by select_ring, a node (of 20)", loop, 20):
        place = int(np.searchsorted(small.ids, ids[row]))
        assert sides == [small.ids[side.of(place)].tolist() for side in links]

    flat = RingIndex(lows[:n, :2], highs[:n, :2], ids[:n])
    flat.ring(events[0, :2])
    found = timed("10,000 events of two attributes", lambda: flat.match(events[:, :2]))
    tree = shapely.STRtree(shapely.box(lows[:n, 0], lows[:n, 1], highs[:n, 0], highs[:n, 1]))
    tree.query(shapely.points(events[:1, :2]))
    pairs = timed("the same by shapely's STRtree", lambda: tree.query(shapely.points(events[:, :2])))
    assert len(found.members) == pairs.shape[1]


if __name__ == "__main__":
    main()
