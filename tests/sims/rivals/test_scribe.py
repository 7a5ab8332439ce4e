"""Scribe over Pastry: routes end at the nearest identifier, trees are shallow, and are mended."""

from __future__ import annotations

from functools import cache
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sims.compare.worlds import build_world
from sims.rivals.base.accounts import RouteSender
from sims.rivals.below.pastry import Arrive, PastryPeer, PastrySettings, Probe, apart
from sims.rivals.others.scribe import Scribe, ScribePush
from sub2sub.compiled.timing.latency import Clock
from sub2sub.compiled.timing.settings import Timing
from sub2sub.peers.draws import Dice

N = 300


def grown(cycles: int = 30, loss: float = 0.0) -> Scribe:
    system = Scribe(build_world("topics", N, events=8, probes=2, seed=2).wanted, 2)
    system.network.loss = loss
    system.overlay.bootstrap()
    for cycle in range(1, cycles + 1):
        system.step(cycle)
    return system


@cache
def settled() -> Scribe:
    return grown()


def route(system: Scribe, node: int, key: int) -> list[int]:
    way = [node]
    while (following := system.layer.peers[way[-1]].next_hop(key)) != way[-1]:
        way.append(following)
        assert len(way) < 40
    return way


def owner(system: Scribe, key: int) -> int:
    live = np.flatnonzero(system.network.alive).tolist()
    return min(live, key=lambda node: (apart(system.layer.peers[0].ids[node], key), node))


@settings(max_examples=60, deadline=None)
@given(node=st.integers(0, N - 1), key=st.integers(0, 2**64 - 1))
def test_a_route_ends_at_the_node_nearest_to_the_key_in_a_logarithmic_number_of_hops(
    node: int, key: int
) -> None:
    system = settled()
    way = route(system, node, key)
    assert way[-1] == owner(system, key)
    assert len(way) - 1 <= log(N, 16) + 4


@settings(max_examples=80, deadline=None)
@given(ids=st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=60, unique=True))
def test_leaves_are_the_nearest_on_either_side(ids: list[int]) -> None:
    node = PastryPeer(0, ids, PastrySettings(leaves=4))
    for other in range(1, len(ids)):
        node.learn(other)
    ahead = sorted(range(1, len(ids)), key=lambda other: (ids[other] - ids[0]) % 2**64)
    assert set(node.leaves) == set(ahead[:2]) | set(ahead[-2:])


def wrong_leaves(system: Scribe) -> int:
    """Nodes whose leaves are not the nearest on either side."""
    peers, ids = system.layer.peers, system.layer.peers[0].ids
    order, half = sorted(range(len(ids)), key=lambda node: ids[node]), PastrySettings().leaves // 2
    near = {
        node: {order[(rank + step) % len(order)] for step in range(-half, half + 1)} - {node}
        for rank, node in enumerate(order)
    }
    return sum(set(peer.leaves) != near[node] for node, peer in enumerate(peers))


def test_a_newcomer_is_routed_to_the_nearest_node_and_not_to_itself() -> None:
    ids = [0x10 << 56, 0x80 << 56, 0x7F << 56]
    contact = PastryPeer(0, ids, PastrySettings())
    contact.learn(2)
    sends = list(contact.receive(1, Arrive(1), Dice(1)))
    assert [(target, type(message).__name__) for target, message in sends] == [(1, "Tell"), (2, "Arrive")]


def test_all_who_start_at_once_form_one_ring_soon() -> None:
    """With one contact each, leaves are complete after 16 to 24 cycles, and at 10,000 nodes not after 50."""
    assert wrong_leaves(grown(cycles=10)) == 0


def test_parts_that_know_nothing_of_one_another_become_one_ring_again() -> None:
    system = grown(cycles=10)
    for node, peer in enumerate(system.layer.peers):
        for other in [*peer.leaves, *peer.table.values()]:
            if (node - other) % 2:
                peer.forget(other)
        peer.gone.clear()
    system.network.group[::2] = 1
    for cycle in range(11, 17):
        system.step(cycle)
    system.network.group[:] = 0
    assert wrong_leaves(system) == N  # each part has a ring of its own
    for cycle in range(17, 50):
        system.step(cycle)
    assert wrong_leaves(system) == 0


def test_trees_are_as_deep_as_routes_are_long_and_hold_every_subscriber() -> None:
    system = settled()
    peers = system.layer.peers
    for node, peer in enumerate(peers):
        depth, at = 0, node
        while peers[at].parents[peer.topic] != at:
            parent = peers[at].parents[peer.topic]
            assert at in peers[parent].children[peer.topic]
            at, depth = parent, depth + 1
            assert depth <= log(N, 16) + 4
        assert at == owner(system, system.layer.peers[0].keys[peer.topic])


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_trees_are_mended_after_a_fifth_has_crashed(loss: float) -> None:
    system = grown(loss=loss)
    system.network.alive[::5] = 0
    for cycle in range(31, 50):
        system.step(cycle)
    publishers = np.array([system.may_publish(event)[0] for event in range(8)])
    system.network.loss = 0.0
    found = system.publish(np.arange(8), publishers, ScribePush(**system.probe), 1)
    assert found.deliveries.sum() >= (1.0 if loss == 0 else 0.97) * found.owed.sum()


def test_a_publisher_sends_to_the_root_it_knows_and_routes_when_that_is_down() -> None:
    system = settled()
    events = np.arange(8)
    publishers = np.array([system.may_publish(event)[0] for event in range(8)])
    sent = {}
    for cached in (False, True):
        found = system.publish(events, publishers, ScribePush(retries=2, cached=cached), 1)
        assert np.array_equal(found.deliveries, found.owed)
        sent[cached] = found.messages.sum()
        assert found.control.any() == cached
    assert sent[True] < sent[False]
    topics = system.wanted.tree.of_event[events]
    roots = {system.root_of(int(own), int(topic)) for own, topic in zip(publishers, topics, strict=True)}
    own = int(np.flatnonzero(~np.isin(publishers, list(roots)))[0])
    system.network.alive[list(roots)] = 0
    try:
        way = system.way(int(publishers[own]), int(topics[own]), True, sender(system))
    finally:
        system.network.alive[:] = 1
    assert len(way.payers) > 3  # three copies to a silent root, then around it
    assert not roots & {member for member, _, _ in way.reached}


def sender(system: Scribe) -> RouteSender:
    clock = Clock.of(None, np.arange(N))
    return RouteSender(system.network, clock, Dice(3), retries=2)


def test_tables_keep_the_nearest_of_the_nodes_that_answer() -> None:
    ids = [0x10 << 56, 0x80 << 56, 0x81 << 56, 0x82 << 56]
    node = PastryPeer(0, ids, PastrySettings(), lambda _, other: {1: 40.0, 2: 90.0, 3: 20.0}[other])
    for other in (1, 2, 3):
        node.learn(other)
    asked = [target for target, message in node.turn(2, Dice(1)) if isinstance(message, Probe)]
    assert asked == [3]  # one of those for whom there is no room
    assert node.table[8] == 1
    for other in (2, 3):
        node.receive(other, Probe(answer=True), Dice(1))
    assert node.table[8] == 3


def test_routes_in_a_network_with_latencies_are_shorter_where_tables_prefer_near_nodes() -> None:
    mean = {}
    for probes in (0, 2):
        world = build_world("topics", N, events=8, probes=2, seed=2)
        system = Scribe(world.wanted, 2, PastrySettings(probes=probes))
        system.network.timing = Timing(jitter=0.0)
        system.overlay.bootstrap()
        for cycle in range(1, 25):
            system.step(cycle)
        tables = [list(peer.table.values()) for peer in system.layer.peers]
        mean[probes] = np.mean([
            system.round_trip(node, other) for node, own in enumerate(tables) for other in own
        ])  # fmt: skip
    assert mean[2] < 0.9 * mean[0]
