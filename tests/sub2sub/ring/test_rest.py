"""Peers whose ring views do not change exchange other links less often."""

from __future__ import annotations

import numpy as np

from sub2sub import Overlay, OverlaySettings


def overlay_of(calm: int) -> Overlay:
    low = np.random.default_rng(3).random((200, 2)) * 0.7
    return Overlay.of(low, low + 0.3, settings=OverlaySettings(calm=calm), seed=1)


def requests(overlay: Overlay) -> float:
    """Mean number of exchanges of random and proximity links that a live peer begins in the last cycles."""
    (random, _), (near, _) = overlay.cyclon.spent(), overlay.vicinity.spent()  # type: ignore[attr-defined]
    return float((random.sum() + near.sum()) / 4 / overlay.network.alive.sum())


def test_at_rest_other_links_are_exchanged_in_every_fifth_cycle_until_something_changes() -> None:
    overlay = overlay_of(calm=5).run(40)
    assert requests(overlay) < 0.3
    overlay.network.alive[::3] = 0
    overlay.run(5)
    assert requests(overlay) > 0.7
    overlay.run(30)
    assert requests(overlay) < 0.3
    assert overlay.publish(np.random.default_rng(4).random((100, 2))).hit_ratio == 1.0


def test_without_rest_all_peers_exchange_in_every_cycle() -> None:
    assert requests(overlay_of(calm=0).run(40)) == 1.0


def test_a_peer_without_ring_neighbours_does_not_rest() -> None:
    low = np.arange(50.0)[:, None]
    overlay = Overlay.of(low, low + 0.5, settings=OverlaySettings(calm=2), seed=1).run(20)
    assert overlay.ring.pool.size.max() == 0
    assert requests(overlay) == 1.0
