"""Meghdoot: zones tile the space, neighbours know each other, each zone gets an event once, zones heal."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sims.compare.worlds import build_world
from sims.rivals.base.accounts import Retries
from sims.rivals.below.can import MeghdootPeer
from sims.rivals.below.zones import Zone, comes_from, cut, holds, touch, volume
from sims.rivals.others.meghdoot import Meghdoot, zones_of

WORLDS = ("ranges power-law-1", "ranges uniform-2", "topics")
N = 120


def grown(world: str, cycles: int = 25) -> Meghdoot:
    system = Meghdoot(build_world(world, N, events=6, probes=2, seed=3).wanted, 3)
    system.overlay.bootstrap()
    for cycle in range(1, cycles + 1):
        system.step(cycle)
    return system


@cache
def settled(world: str) -> Meghdoot:
    return grown(world)


def overlap(a: Zone, b: Zone) -> bool:
    return all(low < its_high and its_low < high for low, high, its_low, its_high in zip(*a, *b, strict=True))


def live(system: Meghdoot) -> list[MeghdootPeer]:
    return [peer for peer in system.layer.peers if system.network.alive[peer.own]]


@pytest.mark.parametrize("world", WORLDS)
def test_zones_tile_the_space_and_each_holds_its_peers_subscription(world: str) -> None:
    peers = live(settled(world))
    zones = [zone for peer in peers for zone in peer.zones]
    assert abs(sum(map(volume, zones)) - 1.0) < 1e-9
    assert not any(overlap(a, b) for k, a in enumerate(zones) for b in zones[:k])
    assert all(holds(peer.zones[0], peer.point) for peer in peers)


@pytest.mark.parametrize("world", WORLDS)
def test_neighbours_are_those_whose_zones_touch_and_know_each_others_zones(world: str) -> None:
    peers = live(settled(world))
    for peer in peers:
        beside = {b.own: b.zones for b in peers if b is not peer and touch(peer.zones[0], b.zones[0])}
        assert peer.near == beside


@pytest.mark.parametrize("world", WORLDS)
def test_every_zone_that_an_event_concerns_gets_it_from_one_neighbour_and_one_is_the_root(world: str) -> None:
    system = settled(world)
    zones = zones_of(system.layer)
    for event in range(6):
        corner = system.scale.corner(system.points[event])
        corner[::2] *= -1
        concerned = np.flatnonzero((zones.high > corner).all(axis=1)).tolist()
        sources = [[b for b in concerned if comes_from(zones, a, corner, b)] for a in concerned]
        assert sorted(map(len, sources)) == [0, *[1] * (len(concerned) - 1)]
        publisher = system.may_publish(event)[:1]
        found = system.publish(np.array([event]), publisher, Retries(retries=0), 1, record=True)
        assert found.deliveries[0] == found.owed[0]
        assert found.messages[0] >= len(concerned) - 1  # and the way to the root


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 0.999), st.floats(0, 0.999)), min_size=2, max_size=2, unique=True))
def test_a_cut_parts_two_points_and_leaves_nothing_out(points: list[tuple[float, float]]) -> None:
    whole: Zone = ((0.0, 0.0), (1.0, 1.0))
    mine, given_away = cut(whole, *points)
    assert holds(mine, points[0])
    assert holds(given_away, points[1])
    assert touch(mine, given_away)
    assert abs(volume(mine) + volume(given_away) - 1.0) < 1e-12


@pytest.mark.parametrize("world", ["ranges power-law-1", "topics"])
def test_zones_of_the_dead_are_taken_over_and_events_get_through_again(world: str) -> None:
    system = grown(world)
    system.network.alive[::5] = 0
    for cycle in range(26, 46):
        system.step(cycle)
    assert sum(volume(zone) for peer in live(system) for zone in peer.zones) >= 1.0 - 1e-9
    publishers = np.array([system.may_publish(event)[0] for event in range(6)])
    found = system.publish(np.arange(6), publishers, Retries(**system.probe), 1)
    assert found.deliveries.sum() >= 0.97 * found.owed.sum()


def test_everybody_finds_a_zone_although_messages_are_lost_from_the_first_on() -> None:
    system = Meghdoot(build_world("ranges power-law-1", N, events=2, probes=2, seed=3).wanted, 3)
    system.network.loss = 0.1
    system.overlay.bootstrap()
    for cycle in range(1, 40):
        system.step(cycle)
    assert all(peer.zones for peer in system.layer.peers)
