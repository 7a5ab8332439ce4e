"""The ring layer: what it converges to is what Figure 3 selects from everybody."""

from __future__ import annotations

import numpy as np
import pytest

from sub2sub.overlay import Overlay, OverlaySettings
from sub2sub.population import Population
from sub2sub.ring import RingSettings
from sub2sub.selection import select_ring


def subscriptions(d: int, n: int, grid: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    if grid:  # touching, identical, exact-value and wildcard ranges
        lows = rng.integers(0, 6, (n, d)).astype(float)
        highs = lows + rng.integers(0, 4, (n, d))
        open_ended = rng.random((n, d)) < 0.1
        return np.where(open_ended, -np.inf, lows), np.where(open_ended, np.inf, highs)
    centre, width = rng.random((n, d)), rng.random((n, d)) ** 2
    return centre - width / 2, centre + width / 2


def settled(overlay: Overlay, cycles: int) -> Overlay:
    overlay.bootstrap()
    for cycle in range(1, cycles + 1):
        assert overlay.step(cycle)["ring"]["given_up"] == 0
    return overlay


def views(overlay: Overlay) -> dict[int, set[int]]:
    holders, peers, _ = overlay.ring.links()
    held: dict[int, set[int]] = {peer: set() for peer in range(len(overlay.population))}
    for holder, peer in zip(holders.tolist(), peers.tolist(), strict=True):
        held[holder].add(peer)
    return held


@pytest.mark.parametrize("paper", [True, False])
@pytest.mark.parametrize(("d", "grid"), [(1, True), (1, False), (2, True), (3, False), (3, True), (5, False)])
def test_settled_views_are_the_selection_from_everybody(d: int, grid: bool, paper: bool) -> None:
    n = 120
    lows, highs = subscriptions(d, n, grid, seed=d)
    people = Population.of(lows, highs, seed=d)
    overlay = settled(Overlay(people, OverlaySettings.paper() if paper else None, seed=d), 60)
    low, high = lows[people.row], highs[people.row]
    held = views(overlay)
    for peer in range(n):
        others = np.delete(np.arange(n), peer)
        ring = select_ring(
            low[peer], high[peer], int(people.ids[peer]), low[others], high[others], people.ids[others]
        )
        assert held[peer] == set(others[ring.successors].tolist()) | set(others[ring.predecessors].tolist())


def test_a_capped_view_stays_within_its_cap() -> None:
    lows, highs = subscriptions(2, 150, False, seed=4)
    capped = OverlaySettings(ring=RingSettings.paper(cap=7))
    overlay = settled(Overlay(Population.of(lows, highs, seed=4), capped, seed=4), 25)
    assert max(len(view) for view in views(overlay).values()) == 7
