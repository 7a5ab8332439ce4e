"""Flooding over CYCLON: views stay in their groups, and an event costs a copy along each of their links."""

from __future__ import annotations

import numpy as np

from sims.compare.worlds import build_world
from sims.rivals.base.accounts import Retries
from sims.rivals.base.catalogue import entrant
from sims.rivals.others.cyclon_flooding import CyclonFlooding


def grown(world: str, cycles: int = 25) -> tuple[CyclonFlooding, np.ndarray, np.ndarray]:
    there = build_world(world, 200, events=20, probes=2, seed=2)
    system = entrant("cyclon flooding").make(there.wanted, 2)
    assert isinstance(system, CyclonFlooding)
    system.overlay.bootstrap()
    for cycle in range(1, cycles + 1):
        system.step(cycle)
    publishers = np.array([system.may_publish(event)[0] for event in there.events])
    return system, there.events, publishers


def test_views_hold_members_of_ones_own_group_only() -> None:
    system, _, _ = grown("topics")
    group = system.groups.of
    assert all(group[other] == group[peer] for peer, view in enumerate(system.views()) for other in view)


def test_everybody_has_an_event_for_a_copy_along_each_link() -> None:
    system, events, publishers = grown("ranges power-law-1")
    found = system.publish(events, publishers, Retries(retries=0), 1, record=True)
    assert np.array_equal(found.deliveries, found.owed)
    links = sum(map(len, system.views()))
    back = len(system.views())  # a copy does not go back along the link it came by, if there is one
    assert ((links - back <= found.messages) & (found.messages <= links)).all()


def test_views_are_mended_after_a_third_has_crashed() -> None:
    system, events, _ = grown("ranges power-law-1")
    system.network.alive[::3] = 0
    for cycle in range(26, 50):
        system.step(cycle)
    publishers = np.array([system.may_publish(event)[0] for event in events])
    found = system.publish(events, publishers, Retries(retries=0), 1)
    assert found.hit_ratio > 0.999
