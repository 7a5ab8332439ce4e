"""Super-topic tables of live members, in lockstep with the simulator's."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, Search, StaticTables, SuperTables, TopicSettings
from hierarchy.compiled.super_tables.layer import STREAM
from hierarchy.compiled.super_tables.steps import KEEP_UPDATED, PASS_ON, SEARCH
from hierarchy.live import Member, MemberSettings
from hierarchy.live.topics_above import CHECKS
from hierarchy.peers.contacts import Contact, Sends
from hierarchy.peers.scamp import Link
from hierarchy.peers.super_table import Supers
from sub2sub.compiled.common.network import Network
from sub2sub.peers.draws import Dice, cycle_key
from tests.hierarchy.camcast.populations import networks


class Nobody:
    """A finder that finds nobody, and remembers what was searched for."""

    def find(self, search: Search) -> tuple[Any, int]:
        self.requests = [tuple(row) for row in search.requests.tolist()]
        return search.nothing(), 0


class Lockstep:
    """The live counterpart of super-topic tables, in the simulator's order with the simulator's draws."""

    def __init__(self, layer: SuperTables, topic_table: Any, contacts: Any, own: TopicSettings) -> None:
        self.seed, tree = layer.seed, layer.tree
        topics = [tree.name(int(t)) for t in layer.state.topic]
        everybody = [Contact(i + 1, "127.0.0.1", i + 1, topic) for i, topic in enumerate(topics)]
        self.members = [Member(each, lambda event: None, MemberSettings(own)) for each in everybody]
        for i, member in enumerate(self.members):
            member.scamp.view = [Link(everybody[j], 1 << 20) for j in topic_table[i] if j >= 0]
            member.supers.merge([everybody[contacts[i]]] if contacts[i] >= 0 else [])
            member.supers.fresh = False

    def step(self, cycle: int, network: Network) -> list[tuple[int, int, int]]:
        """Let a cycle pass; returns who searches, for how many topics."""
        self.network = network
        key = Dice(cycle_key(self.seed, STREAM, cycle))
        live = [i for i in range(len(self.members)) if network.alive[i]]
        for member in self.members:
            member.cycle = cycle
            member.above.begin_cycle(cycle)
        for i in live:
            dice, member = key.of_peer(PASS_ON).of_peer(i), self.members[i]
            self.carry(i, member.above.pass_on(member.topic_table()), dice)
            self.conclude(i, dice)
        for i in live:
            dice, member = key.of_peer(KEEP_UPDATED).of_peer(i), self.members[i]
            self.carry(i, member.above.keep_updated(member.p_sel(), dice), dice)
            self.conclude(i, dice)
        requests = []
        for i in live:
            member = self.members[i]
            dice = key.of_peer(SEARCH).of_peer(i)
            asked = list(member.above.search(member.topic_table(), member.p_sel(), dice))
            requests += [(i, member.supers.scope)] * bool(asked)
        return requests

    def conclude(self, i: int, dice: Dice) -> None:
        """Let the time of a check be over."""
        member = self.members[i]
        while member.supers.is_checking:
            self.carry(i, member.above.conclude(dice), dice)

    def carry(self, i: int, sends: Sends, dice: Dice) -> None:
        for send in sends:
            assert send.to is not None
            j, n = send.to.id - 1, self.network
            through = dice.next_unit() >= n.loss and n.alive[j] and n.group[i] == n.group[j]
            if isinstance(send.message, Supers):
                if through:
                    self.carry(j, self.members[j].receive(send.message, i + 1, dice), dice)
                    self.conclude(j, dice)
                continue
            if dice.next_unit() >= n.loss and through:
                (answer,) = self.members[j].receive(send.message, i + 1, dice)
                self.carry(i, self.members[i].receive(answer.message, j + 1, dice), dice)


@patch("hierarchy.live.topics_above.FORGOTTEN", 0)  # in the simulator nobody remembers who was silent
@given(st.integers(0, 2**32), st.integers(0, 3), st.data())
@settings(deadline=None, max_examples=40)
def test_super_topic_tables_are_checked_refilled_and_passed_on_as_in_the_simulator(seed, tau, data) -> None:
    group = Communities.chain(6, 0, 10, 14)
    own = TopicSettings(c=0.0, a=1.0, z=3, tau=tau, p_sel=0.4)
    topic_table = StaticTables(group, own).draw(seed).topic_table
    finder = Nobody()
    layer = SuperTables(group.tree, group.topic, finder, lambda: topic_table, seed, own, tries=CHECKS)
    contacts = np.full(30, -1)
    contacts[6:16] = data.draw(st.lists(st.integers(-1, 5), min_size=10, max_size=10))
    contacts[16:30] = data.draw(st.lists(st.integers(-1, 15), min_size=14, max_size=14))
    layer.join(np.arange(30), contacts, 0)
    members = Lockstep(layer, topic_table, contacts, own)
    for cycle in range(10):
        if cycle % 3 == 0:
            network = data.draw(networks(30))
        layer.step(cycle, network)
        searching = members.step(cycle, network)
        rows = [[int(x) for x in row if x >= 0] for row in layer.state.table[:, 0]]
        assert [[each.id - 1 for each in member.supers.entries] for member in members.members] == rows
        assert [bool(fresh) for fresh in layer.state.fresh[:, 0]] == [x.supers.fresh for x in members.members]
        with_a_view = [(i, scope) for i, _, scope in finder.requests if members.members[i].topic_table()]
        assert searching == with_a_view
