"""A peer that has lost one of its few neighbours looks for the next one at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sub2sub import Overlay, OverlaySettings
from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core
from sub2sub.live.core.settings import CoreSettings
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.ring import SEARCHING, RingPeer
from sub2sub.peers.settings import RingSettings
from tests.sub2sub.live.test_core import OWN, draws, peer


def closed(searches: int, cycles: int) -> float:
    """The share of a ring of 2,000 that knows its successor, some cycles after a fifth of it crashed."""
    settings = OverlaySettings(ring=RingSettings(max_age=9, searches=searches))
    overlay = Overlay.of(np.zeros((2000, 1)), np.ones((2000, 1)), settings=settings, seed=5).run(40)
    overlay.network.alive[np.random.default_rng(6).permutation(2000)[:400]] = 0
    overlay.run(cycles)
    holders, peers, _ = overlay.ring.links()
    live = np.flatnonzero(overlay.network.alive == 1)
    held = set(zip(holders.tolist(), peers.tolist(), strict=True))
    return float(
        np.mean([pair in held for pair in zip(live.tolist(), np.roll(live, -1).tolist(), strict=True)])
    )


def test_a_long_ring_is_whole_six_cycles_after_a_fifth_of_it_crashed() -> None:
    assert closed(searches=8, cycles=6) == 1.0
    assert closed(searches=0, cycles=6) < 1.0


def test_it_searches_while_a_neighbour_was_lost_lately_and_one_is_not_met() -> None:
    own, *others = (Descriptor.of(id, [0.0], [1.0]) for id in (10, 20, 30, 40))
    ring = RingPeer(own, RingSettings())
    ring.consider([Link(other, 1) for other in others], 1)
    assert not ring.is_searching(1)
    ring.remove(20, 2)
    ring.consider([Link(others[1], 2)], 2)
    assert ring.is_searching(2)
    assert not ring.is_searching(2 + SEARCHING)
    for each in ring.view.values():
        each.met = 2
    assert not ring.is_searching(2)


def test_a_live_peer_exchanges_with_the_nearer_peer_that_an_answer_names() -> None:
    settings = OverlaySettings()
    core = Core(OWN, lambda event: None, CoreSettings(replace(settings, ring=RingSettings(verify=False))))
    core.clock.tick()
    dice, gone, far, near = draws(), peer(6), peer(9), peer(7)
    core.ring.consider([Link(gone, core.now)], core.now)
    core.meet_ring(dice)
    core.ring.remove(gone.id, core.now)
    core.exchanges.open.clear()
    core.ring.consider([Link(far, core.now)], core.now)
    sent = core.ring_exchanges.begin(far)[0].message
    assert isinstance(sent, m.Ring)
    answer = m.RingBack(sent.exchange, m.Mentions((near,), (0,), (0,)), m.Mentions())
    asked = [each.to for each in core.receive(answer, far.id, dice) if isinstance(each.message, m.Ring)]
    assert asked == [near]
