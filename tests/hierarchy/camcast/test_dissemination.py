from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters
from hierarchy.compiled.camcast.dissemination import STREAM
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError
from sub2sub.peers.draws import cycle_key
from tests.hierarchy.camcast.populations import communities, networks, settings_of_topics
from tests.hierarchy.camcast.reference import Process, Simulation


def _entries(row) -> list[int]:
    return [int(entry) for entry in row if entry >= 0]


def _reference(tables, params, publisher, network, seed, event) -> Simulation:
    processes = [
        Process(
            i,
            int(t),
            _entries(tables.topic_table[i]),
            [_entries(slot) for slot in tables.super_table[i]],
            int(params.fanout[t]),
            float(params.p_sel[t]),
            float(params.p_a[t]),
        )
        for i, t in enumerate(tables.topic)
    ]
    key = cycle_key(seed, STREAM, event)
    simulation = Simulation(processes, network.alive, network.group, 1.0 - network.loss, key)
    simulation.publish(publisher)
    return simulation


@given(communities(), settings_of_topics, st.data(), st.integers(0, 2**32), st.integers(0, 100))
@settings(deadline=None, max_examples=150)
def test_the_kernel_decides_as_the_reference_draw_for_draw(group, own, data, seed, event) -> None:
    network = data.draw(networks(len(group)))
    publisher = int(data.draw(st.sampled_from(list(np.flatnonzero(network.alive)))))
    tables = StaticTables(group, own).draw(seed)
    params = parameters(group.sizes, own)
    spread = disseminate(tables, params, publisher, seed=seed, event=event, network=network)
    reference = _reference(tables, params, publisher, network, seed, event)

    assert spread.trace.first.tolist() == [p.received_in for p in reference.processes]
    for t in group.tree:
        of_t = [m for m in reference.sent if m.sender.topic == t]
        assert spread.sent[t] == sum(not m.upward for m in of_t)
        assert spread.upward[t] == sum(m.upward for m in of_t)
        assert spread.upward_arrived[t] == sum(m.upward and m.sender.topic == t for m in reference.arrived)
        assert spread.arrived[t] == sum(m.target.topic == t for m in reference.arrived)
        rounds = [p.received_in for p in reference.processes if p.topic == t and p.received_in >= 0]
        assert spread.delivered[t] == len(rounds)
        assert spread.last_round[t] == max(rounds, default=0)


@given(communities(), settings_of_topics, st.data(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=150)
def test_nobody_ever_receives_a_parasite_event(group, own, data, seed) -> None:
    network = data.draw(networks(len(group)))
    publisher = int(data.draw(st.sampled_from(list(np.flatnonzero(network.alive)))))
    tables = StaticTables(group, own).draw(seed)
    spread = disseminate(tables, parameters(group.sizes, own), publisher, seed=seed, network=network)
    interested = group.interested(int(group.topic[publisher]))
    reached = spread.trace.first >= 0
    assert not np.any(reached & ~interested)
    assert not np.any(reached & (network.alive == 0))


@given(communities(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=100)
def test_without_faults_and_with_generous_settings_every_ancestor_gets_the_event(group, seed) -> None:
    """Each community is flooded and each link sends to all: what is missing would be missing a table."""
    own = TopicSettings(c=60.0, g=1e6, a=3.0, z=3)
    publisher = seed % len(group)
    tables = StaticTables(group, own).draw(seed)
    spread = disseminate(tables, parameters(group.sizes, own), publisher, seed=seed)
    assert np.array_equal(spread.trace.first >= 0, group.interested(int(group.topic[publisher])))


def test_an_event_of_the_root_stays_in_the_root_community() -> None:
    group = Communities.chain(10, 100, 1000)
    spread = disseminate(StaticTables(group).draw(3), parameters(group.sizes), 0, seed=3)
    assert spread.delivered.tolist() == [10, 0, 0]
    assert spread.upward.sum() == 0


def test_settings_of_one_topic_leave_the_others_alone() -> None:
    group = Communities.chain(10, 100, 1000)
    params = parameters(group.sizes, tree=group.tree, settings={".t1": TopicSettings(c=0.0, g=50.0, a=3.0)})
    assert params.fanout.tolist() == [7, 4, 11]
    assert params.p_sel.tolist() == [0.5, 0.5, 0.005]
    assert params.p_a.tolist() == [1 / 3, 1.0, 1 / 3]


def test_tables_hold_different_members_of_the_right_communities() -> None:
    group = Communities.chain(2, 30, 400)
    tables = StaticTables(group).draw(seed=5)
    for member, t in enumerate(group.topic):
        own = _entries(tables.topic_table[member])
        above = _entries(tables.super_table[member, 0])
        assert (
            len(set(own)) == len(own) == min(TopicSettings().table_size(group.sizes[t]), group.sizes[t] - 1)
        )
        assert member not in own
        assert {int(group.topic[x]) for x in own} == {t}
        assert len(set(above)) == len(above) == (0 if t == 0 else min(3, group.sizes[t - 1]))
        assert {int(group.topic[x]) for x in above} <= {t - 1}


def test_table_entries_are_uniform() -> None:
    group = Communities.chain(200)
    drawn = np.zeros(200, int)
    for run in range(50):
        np.add.at(drawn, StaticTables(group).draw(7, run).topic_table.ravel(), 1)
    expected = drawn.sum() / 200
    assert ((drawn - expected) ** 2 / expected).sum() < 280  # 99.99 % of chi squared with 199 degrees


@pytest.mark.parametrize("publisher", [-1, 3, 0])
def test_only_a_live_member_can_publish(publisher) -> None:
    group = Communities.chain(3)
    network = Network.whole(3)
    network.alive[0] = 0
    with pytest.raises(InputError, match="publisher: expected a live member below 3"):
        disseminate(StaticTables(group).draw(1), parameters(group.sizes), publisher, seed=1, network=network)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"c": -1.0}, "c: expected 0 or more, got -1"),
        ({"g": 0.5}, "g: expected 1 or more, got 0.5"),
        ({"g": "many"}, "g: expected a number, 1 or more, got 'many'"),
        ({"z": 2.5}, "z: expected a whole number, 1 or more, got 2.5"),
        ({"a": 4.0, "z": 3}, "a: expected 1 to 3, got 4.0"),
        ({"tau": 4}, "tau: expected 0 to 3, got 4"),
        ({"p_sel": 1.5}, "p_sel: expected 0 to 1, got 1.5"),
    ],
)
def test_settings_outside_their_domain_are_refused(options, message) -> None:
    with pytest.raises(InputError, match=message):
        TopicSettings(**options)
