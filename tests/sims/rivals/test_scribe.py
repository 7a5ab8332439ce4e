"""Scribe over Pastry: routes end at the nearest identifier, trees are shallow, and are mended."""

from __future__ import annotations

from functools import cache
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sims.compare.worlds import build_world
from sims.rivals.base.accounts import Retries
from sims.rivals.below.pastry import Arrive, PastryPeer, PastrySettings, apart
from sims.rivals.others.scribe import Scribe
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
    found = system.publish(np.arange(8), publishers, Retries(**system.probe), 1)
    assert found.deliveries.sum() >= (1.0 if loss == 0 else 0.97) * found.owed.sum()
