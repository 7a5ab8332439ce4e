from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, StaticTables, TopicSettings
from hierarchy.compiled.super_tables.flood import Flood
from hierarchy.compiled.super_tables.layer import SuperTables
from hierarchy.compiled.super_tables.rules import merge
from hierarchy.compiled.super_tables.slots import slots_of
from hierarchy.peers.contacts import Contact
from hierarchy.peers.super_table import Supers, SuperTable
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError
from sub2sub.peers.draws import Dice
from tests.hierarchy.camcast.populations import communities, networks, trees
from tests.hierarchy.super_tables.driver import driver_of


def _neighbourhood(n: int, k: int, seed: int) -> np.ndarray:
    table = np.random.default_rng(seed).integers(0, n, (n, k)).astype(np.int32)
    table[table == np.arange(n)[:, None]] = -1
    return table


def _layer(
    group: Communities, seed: int, ttl: int, z: int = 2, tau: int = 1, g: float = 3.0, neighbours: int = 2
):
    neighbourhood = _neighbourhood(len(group), neighbours, seed)
    own = TopicSettings(c=0.0, g=g, a=1.0, z=z, tau=tau)
    topic_table = StaticTables(group, own).draw(seed).topic_table
    layer = SuperTables(group.tree, group.topic, Flood(neighbourhood, ttl), lambda: topic_table, seed, own)
    layer.join(np.arange(len(group)), np.full(len(group), -1), 0)
    return layer, topic_table, neighbourhood


@given(communities(most_members=30), st.integers(0, 2**32), st.integers(1, 3), st.data())
@settings(deadline=None, max_examples=80)
def test_the_kernels_decide_as_peers_do_draw_for_draw(group, seed, ttl, data) -> None:
    layer, topic_table, neighbourhood = _layer(group, seed, ttl)
    peers = driver_of(layer, topic_table, neighbourhood, ttl)
    own = layer.settings
    for cycle in range(12):
        if cycle % 3 == 0:
            network = data.draw(networks(len(group)))
        cost = layer.step(cycle, network)
        sizes = np.bincount(group.topic[network.alive == 1], minlength=group.tree.capacity)
        p_sel = {group.tree.name(t): own.select(int(sizes[t])) for t in group.tree}
        assert cost["messages"] == peers.step(cycle, network, p_sel)
        for i, process in enumerate(peers.processes):
            for place, table in enumerate(process.tables):
                got = layer.state.table[i, place]
                assert got[got >= 0].tolist() == [entry.id - 1 for entry in table.entries]
                assert layer.state.scope[i, place] == table.scope
                assert layer.state.fresh[i, place] == table.fresh


@given(trees())
@settings(deadline=None)
def test_every_ancestor_is_on_some_chain_and_nothing_else(tree) -> None:
    s = slots_of(tree)
    for t in tree:
        chains = [s.chain[s.start[x] : s.start[x + 1]].tolist() for x in range(s.first[t], s.first[t + 1])]
        assert {u for chain in chains for u in chain} == set(tree.supertopics(t))
        assert [chain[0] for chain in chains[: len(tree.parents(t))]] == tree.parents(t)


def test_merge_prefers_nearer_supertopics_and_keeps_what_is_there() -> None:
    tree = TopicTree.from_paths([".a.b"])
    slots, slot = slots_of(tree), 1  # of .a.b: [.a, .]
    topic = np.array([0, 0, 1, 1, 1, 2], np.int32)
    row = np.full(2, -1, np.int32)
    assert merge(topic, row, 2, slots, slot, 0)
    assert not merge(topic, row, 2, slots, slot, 0)
    assert merge(topic, row, 2, slots, slot, 2)
    assert row.tolist() == [2, -1]
    assert not merge(topic, row, 2, slots, slot, 1)
    assert merge(topic, row, 2, slots, slot, 3)
    assert not merge(topic, row, 2, slots, slot, 4)
    assert not merge(topic, row, 2, slots, slot, 5)  # of the own topic: no super-process
    assert row.tolist() == [2, 3]


def test_a_search_widens_by_one_supertopic_each_timeout() -> None:
    """Only the root is populated above: found when the request names it, the third time."""
    tree = TopicTree.from_paths([".a.b.c"])
    group = Communities.of(tree, [0, 3])
    neighbourhood = np.array([[1], [0]], np.int32)
    none = np.full((2, 1), -1, np.int32)
    layer = SuperTables(tree, group.topic, Flood(neighbourhood), lambda: none, 1, timeout=2)
    layer.join([0, 1], [-1, -1], 0)
    found = []
    for cycle in range(6):
        layer.step(cycle, Network.whole(2))
        found.append(int(layer.state.table[1, 0, 0]))
    assert found == [-1, -1, -1, -1, 0, 0]


def test_a_request_goes_no_farther_than_its_time_to_live() -> None:
    tree = TopicTree.from_paths([".a"])
    group = Communities.of(tree, [1, 1, 1, 0])
    line = np.array([[1], [2], [3], [-1]], np.int32)
    none = np.full((4, 1), -1, np.int32)
    for ttl, expected in ((2, -1), (3, 3)):
        layer = SuperTables(tree, group.topic, Flood(line, ttl), lambda: none, 1)
        layer.join([0, 3], [-1, -1], 0)
        layer.step(0, Network.whole(4))
        assert layer.state.table[0, 0, 0] == expected


def test_what_one_finds_spreads_to_its_community() -> None:
    """Only member 0 has a neighbour; all others learn the contact from it."""
    group = Communities.chain(5, 100)
    n = len(group)
    own = TopicSettings(c=3.0, g=5.0, z=3)
    topic_table = StaticTables(group, own).draw(1).topic_table
    neighbourhood = np.full((n, 1), -1, np.int32)
    neighbourhood[5, 0] = 0
    layer = SuperTables(group.tree, group.topic, Flood(neighbourhood), lambda: topic_table, 1, own)
    layer.join(np.arange(n), np.full(n, -1), 0)
    for cycle in range(12):
        layer.step(cycle, Network.whole(n))
    assert np.all(layer.state.table[5:, 0, 0] >= 0)


def test_a_community_populated_later_takes_the_place_of_the_farther_one() -> None:
    tree = TopicTree.from_paths([".a.b"])
    topic = np.repeat([0, 1, 2], [10, 10, 40])
    group = Communities.of(tree, topic)
    own = TopicSettings(c=3.0, g=20.0, z=3)
    topic_table = StaticTables(group, own).draw(2).topic_table
    layer = SuperTables(
        tree, group.topic, Flood(_neighbourhood(60, 4, 3), ttl=3), lambda: topic_table, 2, own
    )
    network = Network.whole(60)
    network.alive[10:20] = 0  # nobody is interested in .a yet
    first = np.flatnonzero(network.alive)
    layer.join(first, np.full(len(first), -1), 0)
    for cycle in range(15):
        layer.step(cycle, network)
    assert set(topic[layer.state.table[20:][layer.state.table[20:] >= 0]]) == {0}
    network.alive[10:20] = 1
    layer.join(np.arange(10, 20), np.full(10, -1), 15)
    for cycle in range(15, 60):
        layer.step(cycle, network)
    assert set(topic[layer.state.table[20:][layer.state.table[20:] >= 0]]) == {1}
    assert np.all(layer.state.table[10:, 0, 0] >= 0)


def test_tables_recover_when_all_their_entries_crash() -> None:
    group = Communities.chain(30, 60)
    layer, _, _ = _layer(group, seed=4, ttl=3, z=3, g=10.0, neighbours=5)
    network = Network.whole(90)
    for cycle in range(10):
        layer.step(cycle, network)
    network.alive[np.unique(layer.state.table[30:][layer.state.table[30:] >= 0])[:20]] = 0
    for cycle in range(10, 80):
        layer.step(cycle, network)
    known = layer.state.table[30:, 0]
    alive = (known >= 0) & (network.alive[known] == 1)
    assert np.all(alive.any(axis=1))
    assert alive.sum() > 0.9 * (known >= 0).sum()


def test_a_checkpoint_goes_on_as_the_uninterrupted_run() -> None:
    group = Communities.chain(5, 10, 40)
    layer, _, _ = _layer(group, 1, 2)
    other, _, _ = _layer(group, 1, 2)
    network = Network.whole(len(group))
    network.alive[::7] = 0
    for cycle in range(5):
        layer.step(cycle, network)
    other.load(layer.arrays())
    for cycle in range(5, 15):
        assert layer.step(cycle, network) == other.step(cycle, network)


def test_a_time_to_live_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="ttl: expected a whole number not below 1"):
        Flood(np.zeros((1, 1), np.int32), ttl=0)


def test_of_the_tables_received_during_a_check_only_the_last_are_kept() -> None:
    """Four tables of z entries: a community that passes tables on all the time does not fill the memory."""
    table, dice = SuperTable(["."], z=2), Dice(1)
    table.merge([Contact(0, "h", 1, ".")])
    for id in range(1, 41):
        list(table.receive(Supers((Contact(id, "h", 1, "."),)), dice))
    list(table.conclude(dice))
    assert [entry.id for entry in table.entries] == [33, 34]
