"""A newcomer of a sparse world: few subscriptions overlap, and those that do need not know one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub import Overlay
from sub2sub.compiled.vicinity.proximity import overlap
from sub2sub.overlay.arrivals import enter
from workloads import named


def joined(seed: int) -> tuple[Overlay, NDArray[np.int64]]:
    """An overlay of 1,000 peers in six dimensions, in the first cycle of 40 newcomers."""
    lows, highs = named("uniform-6").subscriptions(1040, seed)
    overlay = Overlay.of(lows[:1000], highs[:1000], spare=40, seed=seed).run(25)
    keys = np.uint64(seed), np.uint64(seed + 1)
    newcomers = enter(overlay, keys, 26, lows[1000:], highs[1000:])
    overlay.step(26)
    return overlay, newcomers


def test_it_finds_those_it_overlaps_in_its_first_cycle() -> None:
    wanted, held = 0, 0
    for seed in (1, 2, 3):
        overlay, newcomers = joined(seed)
        boxes, live = overlay.vicinity.boxes, np.flatnonzero(overlay.network.alive)
        for newcomer in newcomers.tolist():
            pairs = {peer for peer in live.tolist() if peer != newcomer and overlap(boxes, newcomer, peer)}
            wanted += len(pairs)
            held += len(pairs & set(overlay.neighbours("ring", newcomer).tolist()))
    assert wanted > 30
    assert held >= 0.85 * wanted


def test_it_and_those_that_answered_are_proximity_links_at_once() -> None:
    overlay, newcomers = joined(4)
    known = [overlay.neighbours("vicinity", peer) for peer in range(len(overlay.population))]
    assert all(known[newcomer].size >= 10 for newcomer in newcomers)
    knowing = [sum(newcomer in row for row in known) for newcomer in newcomers]
    assert np.mean(knowing) > 5
