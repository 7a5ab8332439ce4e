"""Forgetting: the links are removed, all others stay, and the views can still heal."""

from __future__ import annotations

import numpy as np
import pytest

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.errors import InputError
from sub2sub.overlay.forgetting import drop_ring_links, forget
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings

EVENTS = np.random.default_rng(2).random((200, 2))


@pytest.fixture
def overlay() -> Overlay:
    low = np.random.default_rng(1).random((300, 2)) * 0.7
    overlay = Overlay(Population.of(low, low + 0.3), OverlaySettings.paper(), seed=1)
    overlay.run(40)
    return overlay


def pairs(links: tuple[np.ndarray, ...]) -> set[tuple[int, int]]:
    return set(zip(links[0].tolist(), links[1].tolist(), strict=True))


def test_exactly_the_links_to_the_forgotten_are_gone(overlay: Overlay) -> None:
    layers = (overlay.cyclon, overlay.vicinity, overlay.ring)
    before = [pairs(layer.links()) for layer in layers]
    gone = {3, 99, 200}
    forget(overlay, np.array(sorted(gone)), cycle=41)
    for layer, links in zip(layers, before, strict=True):
        assert any(peer in gone for _, peer in links)
        assert pairs(layer.links()) == {(holder, peer) for holder, peer in links if peer not in gone}
    for layer in (overlay.cyclon, overlay.vicinity):
        places = np.arange(layer.view.shape[1])
        assert ((layer.view != FREE) == (places < layer.size[:, None])).all()


def test_a_forgotten_peer_that_joins_again_is_found_by_all_it_needs(overlay: Overlay) -> None:
    before = pairs(overlay.ring.links())
    forget(overlay, np.array([99]), cycle=41)
    overlay.admit(np.array([99]), np.array([5]), cycle=41)
    for cycle in range(41, 100):
        overlay.step(cycle)
    assert {pair for pair in before if 99 in pair} <= pairs(overlay.ring.links())


def test_ring_links_reported_as_failed_can_be_dropped(overlay: Overlay) -> None:
    """As published, dead links are never dropped; if failed ones are, the next events use fewer of them."""
    overlay.network.alive[::10] = 0
    how = DisseminationSettings(retries=8)
    failed = []
    for cycle in range(41, 45):
        outcome = disseminate(Links.of(overlay), overlay.network, EVENTS, settings=how, seed=1, cycle=cycle)
        failed.append(int(outcome.failed.sum()))
        links = pairs(overlay.ring.links())
        dropped = drop_ring_links(overlay.ring, outcome.failures, cycle)
        assert dropped == len(outcome.failures)
        assert pairs(overlay.ring.links()) == links - set(map(tuple, outcome.failures.tolist()))
    assert failed[-1] < failed[0] / 2


def test_links_that_are_not_there_are_not_dropped(overlay: Overlay) -> None:
    before = pairs(overlay.ring.links())
    missing = next((0, peer) for peer in range(1, 300) if (0, peer) not in before)
    assert drop_ring_links(overlay.ring, [missing], cycle=41) == 0
    assert drop_ring_links(overlay.ring, np.empty((0, 2), int), cycle=41) == 0
    assert pairs(overlay.ring.links()) == before


@pytest.mark.parametrize(
    ("links", "message"),
    [([[0, 300]], "pairs row 0: expected peers from 0 to 299"), ([1, 2], r"pairs: expected shape \(f, 2\)")],
)
def test_pairs_that_are_none_are_refused(overlay: Overlay, links: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        drop_ring_links(overlay.ring, links, cycle=41)
