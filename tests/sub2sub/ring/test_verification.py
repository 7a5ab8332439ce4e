"""Verification of candidates: what several messages at once, whose probes overlap, may do."""

from __future__ import annotations

from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.ring import RingPeer
from sub2sub.peers.settings import RingSettings
from sub2sub.peers.verification import Verification

OWN, NEAR, FAR = (Descriptor.of(id, [0.0], [1.0]) for id in (10, 20, 30))


def test_a_candidate_that_another_message_has_probed_is_not_probed_again() -> None:
    ring = RingPeer(OWN, RingSettings())
    first = Verification(ring, [Link(NEAR, 3)])
    assert first.next(now=9) is NEAR
    second = Verification(ring, [Link(NEAR, 3), Link(FAR, 3)])
    assert second.next(now=9) is FAR


def test_a_candidate_may_be_probed_again_after_a_verification_gave_it_up() -> None:
    ring = RingPeer(OWN, RingSettings())
    first = Verification(ring, [Link(NEAR, 3)])
    first.next(now=9)
    first.give_up()
    assert Verification(ring, [Link(NEAR, 3)]).next(now=9) is NEAR
