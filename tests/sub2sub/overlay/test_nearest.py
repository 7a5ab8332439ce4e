"""VICINITY with a distance given as a function: the peers of `sub2sub.peers` decide, as in the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from sub2sub import InputError, Overlay, OverlaySettings, Stack, VicinitySettings
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.overlay.nearest import Nearest


def _apart(a, b):
    """Distance of two boxes, 0 if they overlap."""
    total = 0.0
    for k in range(a.shape[1]):
        gap = max(a[0, k] - b[1, k], b[0, k] - a[1, k])
        if gap > 0.0:
            total += gap * gap
    return total


def _on_map(a, b):
    x, y = a[0] - b[0], a[1] - b[1]
    return x * x + y * y


def _stack(distance, loss: float = 0.0) -> Stack:
    place = np.random.default_rng(3).random((80, 2))
    stack = Stack(80, [lambda s: Cyclon(80, seed=4)], seed=4)
    layer = Nearest(place, distance, stack["cyclon"], VicinitySettings(view=6, shuffle=4, max_age=15), seed=4)
    stack = Stack(80, [stack["cyclon"], layer], seed=4)
    stack.network.loss = loss
    return stack


def test_with_the_distance_of_boxes_as_a_function_views_are_those_of_the_kernels() -> None:
    low = np.random.default_rng(1).random((150, 2)) * 0.9
    settings = OverlaySettings(vicinity=VicinitySettings(view=6, shuffle=4, max_age=15))
    overlays = [
        Overlay.of(low, low + 0.05, seed=1, settings=settings, proximity=near) for near in (None, _apart)
    ]
    for loss in (0.0, 0.2):
        for overlay in overlays:
            overlay.network.loss = loss
            overlay.run(8)
        compiled, own = (overlay.vicinity for overlay in overlays)
        assert np.array_equal(compiled.size, own.size)
        assert np.array_equal(compiled.view, own.view)


def test_peers_find_the_nearest_of_all() -> None:
    place = np.random.default_rng(3).random((80, 2))
    stack = _stack(_on_map).run(25)
    gaps = ((place[:, None] - place[None]) ** 2).sum(axis=2)
    for peer in range(80):
        nearest = set(np.argsort(gaps[peer])[1:7].tolist())
        assert set(stack.neighbours("vicinity", peer).tolist()) == nearest


def test_with_the_usual_distance_as_a_function_all_events_arrive() -> None:
    low = np.random.default_rng(1).random((150, 2)) * 0.7
    overlay = Overlay.of(low, low + 0.3, seed=1, proximity=_apart).run(30)
    assert overlay.publish(np.random.default_rng(2).random((60, 2))).hit_ratio == 1.0


def test_a_dead_peer_is_forgotten() -> None:
    stack = _stack(_on_map).run(5)
    stack.network.alive[:20] = 0
    stack.run(25)
    holders, peers, _ = stack["vicinity"].links()
    assert not (peers[stack.network.alive[holders] == 1] < 20).any()


@pytest.mark.parametrize(
    ("distance", "message"),
    [
        (3, "expected a function of two profiles, got 3"),
        (lambda a: 1.0, "expected a function of two profiles"),
        (lambda a, b: np.nan, "got NaN"),
        (lambda a, b: "near", "expected a function of two profiles"),
    ],
)
def test_a_function_that_is_no_distance_is_refused(distance, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Overlay.of([[0.0], [0.2]], [[1.0], [0.9]], proximity=distance, settings=OverlaySettings())
    with pytest.raises(InputError, match="expected none beside"):
        Overlay.of([[0.0], [0.2]], [[1.0], [0.9]], proximity=_apart, vicinity=lambda o: o.cyclon)
