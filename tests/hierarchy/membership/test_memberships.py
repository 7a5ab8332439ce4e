"""CAMCAST's three memberships, and the unstructured one without gateways, under joins, leaves and crashes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, TopicSettings, disseminate, parameters
from hierarchy.membership import Flooding, MembershipService, SemiStructured, Structured, Unstructured
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.network import Network
from tests.hierarchy.camcast.populations import trees

GENEROUS = TopicSettings(c=4.0, g=1000.0, a=3.0, z=3)


KINDS = {
    "unstructured": Unstructured,
    "flooding": Flooding,
    "semi": SemiStructured,
    "structured": Structured,
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def _no_one(n: int) -> Network:
    return Network(np.zeros(n, np.uint8), np.zeros(n, np.uint8))


def _enter(membership, network: Network, order, per_cycle: int = 2, cycle: int = 0) -> int:
    """Let members in, a few a cycle, and return the next cycle."""
    for start in range(0, len(order), per_cycle):
        peers = np.asarray(order[start : start + per_cycle])
        network.alive[peers] = 1
        membership.join(peers, np.full(len(peers), -1), cycle)
        membership.step(cycle, network)
        cycle += 1
    return cycle


def _rest(membership, network: Network, cycle: int, cycles: int) -> None:
    for later in range(cycle, cycle + cycles):
        membership.step(later, network)


def _settled(kind: str, *sizes: int, own: TopicSettings = GENEROUS, seed: int = 1, rest: int = 30):
    group = Communities.chain(*sizes)
    membership, network = KINDS[kind](group.tree, group.topic, seed, own), _no_one(len(group))
    cycle = _enter(membership, network, np.random.default_rng(seed).permutation(len(group)))
    _rest(membership, network, cycle, rest)
    return membership, group, network, cycle + rest


def _assert_right_communities(group: Communities, tables) -> None:
    for member, t in enumerate(group.topic):
        own = tables.topic_table[member]
        above = tables.super_table[member]
        assert set(group.topic[own[own >= 0]].tolist()) <= {int(t)}
        assert set(group.topic[above[above >= 0]].tolist()) <= set(group.tree.supertopics(int(t)))


@every_kind
def test_it_is_a_layer_and_a_membership(kind) -> None:
    group = Communities.chain(3, 5)
    membership = KINDS[kind](group.tree, group.topic, 1, GENEROUS)
    assert isinstance(membership, Layer)
    assert isinstance(membership, MembershipService)


@every_kind
@given(data=st.data(), tree=trees(most_topics=6), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=25)
def test_no_parasite_event_ever_whoever_joins_leaves_and_crashes(kind, data, tree, seed) -> None:
    n = 24
    topic = np.array(data.draw(st.lists(st.integers(0, len(tree) - 1), min_size=n, max_size=n)))
    group = Communities.of(tree, topic)
    membership, network = KINDS[kind](tree, group.topic, seed, GENEROUS), _no_one(n)
    for cycle in range(20):
        network.loss = data.draw(st.sampled_from([0.0, 0.2]))
        joins = data.draw(st.lists(st.sampled_from(range(n)), max_size=4, unique=True))
        joins = [p for p in joins if not network.alive[p]]
        network.alive[joins] = 1
        membership.join(joins, np.full(len(joins), -1), cycle)
        gone = data.draw(st.lists(st.sampled_from(range(n)), max_size=2, unique=True))
        gone = [p for p in gone if network.alive[p] and p not in joins]
        network.alive[gone] = 0
        if gone and data.draw(st.booleans()):  # otherwise they crash
            membership.leave(gone, cycle)
        membership.step(cycle, network)
        tables = membership.tables()
        _assert_right_communities(group, tables)
        live = np.flatnonzero(network.alive)
        if len(live):
            publisher = int(live[cycle % len(live)])
            sizes = np.bincount(topic[live], minlength=tree.capacity)
            spread = disseminate(
                tables, parameters(sizes, GENEROUS), publisher, seed=seed, event=cycle, network=network
            )
            assert spread.parasites(group, int(topic[publisher])) == 0
            assert not np.any((spread.trace.first >= 0) & ~group.interested(int(topic[publisher])))


@every_kind
def test_everybody_interested_receives_an_event(kind) -> None:
    membership, group, network, _ = _settled(kind, 6, 20, 60)
    params = parameters(group.sizes, GENEROUS)._replace(fanout=np.full(3, 1000, np.int32))
    for event, publisher in enumerate(np.flatnonzero(group.topic == 2)[::6]):
        spread = disseminate(
            membership.tables(), params, int(publisher), seed=1, event=event, network=network
        )
        assert spread.delivered.tolist() == [6, 20, 60]


@every_kind
def test_an_empty_community_is_passed_over_until_somebody_comes(kind) -> None:
    tree = TopicTree.from_paths([".a.b"])
    topic = np.repeat([0, 1, 2], [8, 8, 30])
    membership, network = KINDS[kind](tree, topic, 3, GENEROUS), _no_one(46)
    without_a = np.r_[0:8, 16:46]
    cycle = _enter(membership, network, without_a)
    _rest(membership, network, cycle, 20)
    above = membership.tables().super_table[16:, 0]
    assert np.all(above[:, 0] >= 0)
    assert set(topic[above[above >= 0]]) == {0}

    cycle = _enter(membership, network, np.arange(8, 16), cycle=cycle + 20)
    _rest(membership, network, cycle, 60)
    above = membership.tables().super_table[16:, 0]
    assert set(topic[above[above >= 0]]) == {1}
    assert np.all(membership.tables().super_table[8:16, 0, 0] >= 0)


@every_kind
def test_every_ancestor_is_reached_where_topics_have_several_parents(kind) -> None:
    tree = TopicTree.from_dict({"a": {"x": {}}, "b": {"y": {}}, "c": {}})
    tree.add_parent(".a.x", ".b.y")
    tree.add_parent(".b.y", ".c")
    # .b.y has two parents and nobody in it: .b and .c have to be reached from .a.x past it.
    populated = [".", ".a", ".b", ".c", ".a.x"]
    topic = np.repeat([tree.number(name) for name in populated], 8)
    group = Communities.of(tree, topic)
    membership, network = KINDS[kind](tree, topic, 5, GENEROUS), _no_one(40)
    cycle = _enter(membership, network, np.random.default_rng(1).permutation(40))
    _rest(membership, network, cycle, 60)
    params = parameters(group.sizes, GENEROUS)._replace(fanout=np.full(tree.capacity, 1000, np.int32))
    spread = disseminate(membership.tables(), params, 39, seed=1, network=network)
    assert spread.delivered[[tree.number(name) for name in populated]].tolist() == [8] * 5


@every_kind
def test_each_topic_has_its_own_settings(kind) -> None:
    group = Communities.chain(12, 20, 30)
    own = {".t1": TopicSettings(c=0.0, z=1, tau=0), "*": TopicSettings(c=2.0, a=2.0, z=4)}
    membership, network = KINDS[kind](group.tree, group.topic, 1, own), _no_one(62)
    cycle = _enter(membership, network, np.random.default_rng(1).permutation(62))
    _rest(membership, network, cycle, 40)
    above = (membership.tables().super_table >= 0).sum(axis=(1, 2))
    assert set(above[group.topic == 1].tolist()) == {1}
    assert above[group.topic == 2].mean() > 3


@every_kind
def test_tables_heal_after_a_third_has_crashed(kind) -> None:
    membership, group, network, cycle = _settled(kind, 12, 30, 90)
    network.alive[np.random.default_rng(2).random(len(group)) < 0.33] = 0
    network.alive[[0, 12]] = 1  # not all of a community
    _rest(membership, network, cycle, 200)  # more than a lease
    tables = membership.tables()
    live = network.alive == 1
    above = tables.super_table[live & (group.topic > 0), 0]
    assert np.all((network.alive[above] * (above >= 0)).any(axis=1))
    own = tables.topic_table[live]
    assert (network.alive[own] * (own >= 0)).sum() > 0.9 * (own >= 0).sum()


@every_kind
def test_a_checkpoint_goes_on_as_the_uninterrupted_run(kind) -> None:
    membership, group, network, cycle = _settled(kind, 4, 10, 20, rest=3)
    other = KINDS[kind](group.tree, group.topic, 1, GENEROUS)
    other.load({name: array.copy() for name, array in membership.arrays().items()})
    network.alive[::5] = 0
    for later in range(cycle, cycle + 25):
        assert membership.step(later, network) == other.step(later, network)
    for name, array in membership.arrays().items():
        assert np.array_equal(array, other.arrays()[name]), name
