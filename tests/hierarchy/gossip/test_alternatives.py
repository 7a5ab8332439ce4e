from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, disseminate
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError
from tests.hierarchy.camcast.populations import communities


@given(communities(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_multicast_reaches_everybody_interested_and_nobody_else(group, seed) -> None:
    gossip = GossipMulticast(group, c=60.0)
    publisher = seed % len(group)
    topic = int(group.topic[publisher])
    spread = disseminate(gossip.tables(topic, seed), gossip.parameters(topic), publisher, seed=seed)
    assert np.array_equal(spread.trace.first >= 0, group.interested(topic))
    assert spread.parasites(group, topic) == 0


@given(communities(), st.integers(0, 2**32), st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_both_broadcasts_reach_everybody(group, seed, groups) -> None:
    publisher = seed % len(group)
    topic = int(group.topic[publisher])
    flat = GossipBroadcast(group, c=60.0)
    two_level = HierarchicalBroadcast(group, min(groups, len(group)), c1=60.0, c2=60.0)
    for gossip in (flat, two_level):
        spread = disseminate(gossip.tables(topic, seed), gossip.parameters(topic), publisher, seed=seed)
        assert np.all(spread.trace.first >= 0)


def test_a_subscriber_of_the_root_keeps_a_table_for_every_topic_in_multicast_only() -> None:
    group = Communities.chain(10, 100, 1000)
    memory = {
        "broadcast": GossipBroadcast(group).memory(),
        "multicast": GossipMulticast(group).memory(),
        "hierarchical": HierarchicalBroadcast(group, 30).memory(),
    }
    assert memory["broadcast"].tolist() == [12] * 1110
    assert memory["multicast"][0] == 7 + 9 + 12
    assert memory["multicast"][1109] == 12
    assert memory["hierarchical"].tolist() == [16] * 1110


def test_memory_is_what_the_tables_hold() -> None:
    group = Communities.chain(10, 100, 1000)
    two_level = HierarchicalBroadcast(group, 30)
    flat = GossipBroadcast(group)
    for gossip in (flat, two_level):
        tables = gossip.tables(0, seed=2)
        held = (tables.topic_table >= 0).sum(axis=1) + (tables.super_table >= 0).sum(axis=(1, 2))
        assert np.array_equal(held, gossip.memory())
    multicast = GossipMulticast(group)
    held = sum((multicast.tables(t, seed=2).topic_table >= 0).sum(axis=1) for t in group.tree)
    assert np.array_equal(held, multicast.memory())


def test_representatives_are_of_different_other_groups() -> None:
    group = Communities.chain(200)
    tables = HierarchicalBroadcast(group, groups=20).tables(0, seed=4)
    # With at most ten processes a group, the topic tables hold whole groups.
    own_group = [
        frozenset([i, *(x for x in row if x >= 0)]) for i, row in enumerate(tables.topic_table.tolist())
    ]
    for member, row in enumerate(tables.super_table[:, 0].tolist()):
        others = [own_group[x] for x in row]
        assert own_group[member] not in others
        assert len(set(others)) == len(others)


def test_lost_messages_thin_out_parasites_in_proportion() -> None:
    group = Communities.chain(10, 100, 1000)
    gossip = GossipBroadcast(group)
    network = Network.whole(len(group))
    network.loss = 0.15
    counts = [
        disseminate(
            gossip.tables(0, 1, run), gossip.parameters(0), 0, seed=1, event=run, network=network
        ).parasites(group, 0)
        for run in range(20)
    ]
    assert np.mean(counts) == pytest.approx(12 * 0.85 * 1100, rel=0.01)


@pytest.mark.parametrize("groups", [0, 4])
def test_groups_beyond_the_members_are_refused(groups) -> None:
    with pytest.raises(InputError, match="groups: expected a number from 1 to the 3 members"):
        HierarchicalBroadcast(Communities.chain(3), groups)
