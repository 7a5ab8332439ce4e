"""Live members keep their tables as the simulator's do: in lockstep with it, and ticking when they like."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, Search, StaticTables, SuperTables, TopicSettings
from hierarchy.contacts import Contact, Sends
from hierarchy.live import Member, MemberSettings
from hierarchy.live import messages as m
from hierarchy.membership.scamp.peer import Link, ScampPeer
from hierarchy.membership.scamp.settings import ScampSettings
from hierarchy.super_tables.layer import STREAM
from hierarchy.super_tables.steps import KEEP_UPDATED, PASS_ON, SEARCH
from sub2sub.kernels.dice import Dice
from sub2sub.kernels.randomness import cycle_key
from sub2sub.overlay.network import Network
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
        everybody = [Contact(i + 1, "h", i + 1, topic) for i, topic in enumerate(topics)]
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
            list(member.begin_cycle(key))
        for phase, turn in ((PASS_ON, "pass_on"), (KEEP_UPDATED, "keep_updated")):
            for i in live:
                dice = key.of_peer(phase).of_peer(i)
                self.carry(i, getattr(self.members[i], turn)(dice), dice)
                self.conclude(i, dice)
        requests = []
        for i in live:
            member = self.members[i]
            asked = list(member.search(key.of_peer(SEARCH).of_peer(i)))
            requests += [(i, member.supers.scope)] * bool(asked)
        return requests

    def conclude(self, i: int, dice: Dice) -> None:
        """Let the time of a check be over."""
        member = self.members[i]
        while member.supers.is_checking:
            self.carry(i, member.conclude(dice), dice)

    def carry(self, i: int, sends: Sends, dice: Dice) -> None:
        for send in sends:
            assert send.to is not None
            j, n = send.to.id - 1, self.network
            through = dice.next_unit() >= n.loss and n.alive[j] and n.group[i] == n.group[j]
            if isinstance(send.message, m.Supers):
                if through:
                    self.carry(j, self.members[j].receive(send.message, i + 1, dice), dice)
                    self.conclude(j, dice)
                continue
            if dice.next_unit() >= n.loss and through:
                (answer,) = self.members[j].receive(send.message, i + 1, dice)
                self.carry(i, self.members[i].receive(answer.message, j + 1, dice), dice)


@given(st.integers(0, 2**32), st.integers(0, 3), st.data())
@settings(deadline=None, max_examples=40)
def test_super_topic_tables_are_checked_refilled_and_passed_on_as_in_the_simulator(seed, tau, data) -> None:
    group = Communities.chain(6, 0, 10, 14)
    own = TopicSettings(c=0.0, a=1.0, z=3, tau=tau, p_sel=0.4)
    topic_table = StaticTables(group, own).draw(seed).topic_table
    finder = Nobody()
    layer = SuperTables(group.tree, group.topic, finder, lambda: topic_table, seed, own, tries=1)
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


OWN = ScampSettings(c=1, lease=12, indirection=4, isolation=5)


class Swarm:
    """Members that tick one after the other in an order of their own, and messages that take a while."""

    def __init__(self, n: int, own: ScampSettings = OWN, seed: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.members: dict[int, Member] = {}
        self.gone: set[int] = set()
        self.keys = iter(range(1, 1 << 30))
        self.waiting: deque[tuple[int, Contact, m.Message]] = deque()
        for number in range(1, n + 1):
            member = Member(Contact(number, "h", number, "."), lambda event: None, MemberSettings(scamp=own))
            contact = self.members[int(self.rng.integers(1, number))].own if number > 1 else None
            self.members[number] = member
            self.send(number, member.join(contact, self.dice()))
            self.deliver()
            if number % 5 == 0:
                self.cycle()

    def dice(self) -> Dice:
        return Dice(next(self.keys) * 7919)

    def live(self) -> list[int]:
        return [number for number in self.members if number not in self.gone]

    def send(self, number: int, sends: Sends, back: Contact | None = None) -> None:
        targets = [(send.to or back, send.message) for send in sends]
        self.waiting.extend((number, to, message) for to, message in targets if to is not None)

    def deliver(self) -> None:
        while self.waiting:
            sender, to, message = self.waiting.popleft()
            if to.id not in self.gone:
                answers = self.members[to.id].receive(message, sender, self.dice())
                self.send(to.id, answers, self.members[sender].own)
            elif sender not in self.gone:
                self.send(sender, self.members[sender].unreachable(to, message, self.dice()))

    def cycle(self) -> None:
        for number in self.rng.permutation(self.live()).tolist():
            self.send(number, self.members[number].tick(self.dice()))
            if self.rng.random() < 0.5:
                self.deliver()
        self.deliver()

    def leave(self, number: int) -> None:
        self.send(number, self.members[number].leave())
        self.gone.add(number)  # as in `Process`: who leaves does not answer any more
        self.deliver()

    def known(self, number: int) -> set[int]:
        return {each.id for each in self.members[number].topic_table()}

    def reached(self, start: int) -> set[int]:
        """Whom gossip from one of them reaches."""
        found, waiting = {start}, [start]
        while waiting:
            new = self.known(waiting.pop()) - found - self.gone
            found |= new
            waiting += new
        return found


def test_leases_end_and_are_renewed() -> None:
    swarm = Swarm(40)
    for _ in range(3 * OWN.lease):
        swarm.cycle()
        for member in swarm.members.values():
            assert member.cycle < member.scamp.lease_end <= member.cycle + OWN.lease * 3 // 2
            assert all(link.expires > member.cycle for link in member.scamp.view)
    after = np.mean([len(swarm.known(number)) for number in swarm.live()])
    assert after == pytest.approx((OWN.c + 1) * np.log(40), rel=0.3)
    assert swarm.reached(1) == set(swarm.live())


def test_the_crashed_leave_views_when_they_are_silent_and_inviews_with_a_lease() -> None:
    swarm = Swarm(40)
    swarm.gone = set(range(1, 41, 4))
    for _ in range(OWN.isolation + 2):
        swarm.cycle()
    assert not any(swarm.known(number) & swarm.gone for number in swarm.live())  # silent, so dropped
    for _ in range(3 * OWN.lease):
        swarm.cycle()
    for number in swarm.live():
        assert not {each.id for each in swarm.members[number].scamp.inward} & swarm.gone
    assert swarm.reached(2) == set(swarm.live())


def test_who_hears_no_heartbeat_subscribes_again_and_nobody_else_does() -> None:
    own = ScampSettings(c=1, lease=10_000, indirection=4, isolation=5)
    swarm = Swarm(30, own)
    for member in swarm.members.values():
        member.scamp.view = [link for link in member.scamp.view if link.peer.id != 17]
    known = {number: swarm.known(number) for number in swarm.live()}
    for _ in range(own.isolation):
        swarm.cycle()
    assert {number: swarm.known(number) for number in known} == known
    swarm.cycle()
    swarm.cycle()
    assert any(17 in swarm.known(number) for number in swarm.live())
    assert {number: swarm.known(number) - {17} for number in known} == known


def one_that_knows(other: Contact, lease: int) -> Member:
    """A member with one entry in its view, who answers heartbeats or not, and never renews."""
    member = Member(Contact(1, "h", 1, "."), lambda event: None, MemberSettings(scamp=OWN))
    list(member.scamp.keep(other, lease, cycle=0))
    return member


def test_an_entry_ends_with_its_lease_and_grace_though_its_owner_answers() -> None:
    member = one_that_knows(Contact(2, "h", 2, "."), lease=4)
    last = 4 + member.scamp.grace
    assert last > 4  # clocks differ
    for cycle in range(1, last + 2):
        list(member.tick(Dice(cycle)))
        list(member.receive(m.Beaten(), 2, Dice(cycle)))
        assert member.scamp.has(2) == (cycle < last), cycle


def test_an_entry_ends_after_isolation_cycles_of_silence_though_it_has_a_lease() -> None:
    member = one_that_knows(Contact(2, "h", 2, "."), lease=10_000)
    for cycle in range(1, OWN.isolation + 4):
        list(member.tick(Dice(cycle)))
        assert member.scamp.has(2) == (cycle <= OWN.isolation + 1), cycle


def test_a_heartbeat_that_fails_once_costs_nobody_its_place_and_six_do() -> None:
    other, contact = (Contact(i, "h", i, ".") for i in (2, 3))
    member = one_that_knows(other, lease=10_000)
    list(member.join(contact, Dice(1)))
    for failures in range(1, 7):
        sends = list(member.unreachable(other, m.Beat(), Dice(1)))
        assert member.scamp.has(2) == (failures < 6)
        asked = [(send.to, type(send.message)) for send in sends]
        assert asked == ([] if failures < 6 else [(contact, m.Subscribe)])  # now it knows nobody


def test_an_answer_between_heartbeats_that_fail_keeps_an_entry() -> None:
    other = Contact(2, "h", 2, ".")
    member = one_that_knows(other, lease=10_000)
    for _ in range(4):
        for _ in range(5):
            list(member.unreachable(other, m.Beat(), Dice(1)))
        list(member.receive(m.Beaten(), 2, Dice(1)))
    assert member.scamp.has(2)


def test_nobody_is_believed_to_have_a_lease_longer_than_there_are() -> None:
    longest = OWN.lease + OWN.lease // 2
    for message in (m.Copy(Contact(3, "h", 3, "."), 10**6, 5), m.Served(Contact(3, "h", 3, "."), 10**6)):
        member = Member(Contact(1, "h", 1, "."), lambda event: None, MemberSettings(scamp=OWN))
        list(member.join(Contact(3, "h", 3, "."), Dice(1)))
        list(member.receive(message, 3, Dice(2)))
        assert [link.expires for link in member.scamp.view] == [longest + member.scamp.grace]


def test_who_cannot_be_reached_leaves_the_super_topic_table_at_once() -> None:
    member = Member(Contact(1, "h", 1, ".a"), lambda event: None)
    gone, there = (Contact(i, "h", i, ".") for i in (2, 3))
    member.supers.merge([gone, there])
    list(member.unreachable(gone, m.Check(1), Dice(1)))
    assert member.supers.entries == [there]


def test_who_is_lost_asks_a_gateway_for_a_contact_more_often_than_others() -> None:
    gateways = {".": [Contact(9, "h", 9, ".")]}
    asked = {}
    for lost in (True, False):
        member = Member(
            Contact(1, "h", 1, "."), lambda event: None, MemberSettings(scamp=OWN, timeout=3), gateways
        )
        list(member.join(None, Dice(1)))
        if not lost:
            list(member.scamp.keep(Contact(2, "h", 2, "."), 10_000, cycle=0))
        asked[lost] = 0
        for cycle in range(1, 2 * OWN.lease + 1):
            sends = list(member.tick(Dice(cycle)))
            asked[lost] += sum(isinstance(send.message, m.Find) for send in sends)
            list(member.receive(m.Beaten(), 2, Dice(cycle)))
            list(member.receive(m.Beat(), 2, Dice(cycle)))
    assert asked == {True: 2 * OWN.lease // 3, False: 4}


def test_one_may_publish_when_it_is_served_and_knows_who_is_above_or_that_nobody_is() -> None:
    founder, newcomer = (Member(Contact(i, "h", i, ".a"), lambda event: None) for i in (1, 2))
    list(founder.join(None, Dice(1)))
    assert not founder.is_ready
    for cycle in range(1, 30):
        list(founder.tick(Dice(cycle)))
    assert founder.is_ready  # after a search up to the root
    list(newcomer.join(founder.own, Dice(1)))
    newcomer.supers.merge([Contact(5, "h", 5, ".")])
    assert not newcomer.is_ready
    list(newcomer.receive(m.Served(founder.own, 9), 1, Dice(2)))
    assert newcomer.is_ready


def test_a_goodbye_is_believed_when_nobody_objects_and_not_before() -> None:
    for objects in (False, True):
        member = one_that_knows(Contact(2, "h", 2, "."), lease=10_000)
        list(member.tick(Dice(1)))
        heir = Contact(3, "h", 3, ".")
        (check,) = member.receive(m.Replace((heir,), 9), 2, Dice(2))
        for cycle in range(1, member.settings.patience + 1):
            list(member.tick(Dice(cycle)))
            assert member.scamp.has(2)
        if objects:
            list(member.receive(m.Checked(check.message.exchange), 2, Dice(3)))
        list(member.tick(Dice(9)))
        assert (member.scamp.has(2), member.scamp.has(3)) == (objects, not objects)


def test_a_leaver_names_all_but_c_plus_1_heirs_and_nobody_knows_it_any_more() -> None:
    own = ScampSettings(c=1, lease=10_000, indirection=4)
    swarm = Swarm(40, own)
    leaver = max(swarm.members.values(), key=lambda member: len(member.scamp.inward)).own.id
    heirs = list(swarm.members[leaver].topic_table())
    holders = [each.id for each in swarm.members[leaver].scamp.inward]
    before = {number: swarm.known(number) for number in swarm.live()}
    swarm.leave(leaver)
    for _ in range(4):  # until nobody objects
        swarm.cycle()
    for i, holder in enumerate(holders):
        named = {heirs[i % len(heirs)].id} if i < len(holders) - own.c - 1 else set()
        assert swarm.known(holder) == before[holder] - {leaver} | (named - {holder}), i
    for number in swarm.live():
        member = swarm.members[number]
        assert leaver not in swarm.known(number) | {each.id for each in member.scamp.inward}


def test_a_check_waits_as_long_as_it_may_and_no_longer() -> None:
    own = MemberSettings(TopicSettings(z=3, tau=0, p_sel=1.0), patience=2)
    for late in range(1, 5):
        member = Member(Contact(1, "h", 1, ".a"), lambda event: None, own)
        quick, slow = (Contact(i, "h", i, ".") for i in (2, 3))
        member.supers.merge([quick, slow])
        checks = [send for send in member.tick(Dice(1)) if isinstance(send.message, m.Check)]
        assert {send.to for send in checks} == {quick, slow}
        list(member.receive(m.Checked(checks[0].message.exchange), 2, Dice(2)))
        for _ in range(late - 1):
            list(member.tick(Dice(3)))
        list(member.receive(m.Checked(checks[1].message.exchange), 3, Dice(4)))
        list(member.tick(Dice(5)))
        assert member.supers.entries == ([quick, slow] if late <= own.patience else [quick]), late


def test_weights_of_links_become_even() -> None:
    """So a walk ends anywhere with about the same chance: what flows into a member sums up to 1."""
    own = ScampSettings(c=1, lease=10_000, indirection=4)
    swarm = Swarm(40, own, seed=2)

    def spread() -> float:
        into = dict.fromkeys(swarm.members, 0.0)
        for member in swarm.members.values():
            total = sum(link.weight for link in member.scamp.view)
            for link in member.scamp.view:
                into[link.peer.id] += link.weight / total
        return float(np.std(list(into.values())))

    for member in swarm.members.values():
        for link in member.scamp.view:
            link.weight = 1.0
    uneven = spread()
    for _ in range(40):
        swarm.cycle()
    assert spread() < 0.25 * uneven


def test_who_is_held_by_nobody_since_it_renewed_asks_again() -> None:
    """Served by one that knows nobody else who is there: seed 3013 of the histories."""
    own, server = ScampSettings(lease=10, isolation=1000), Contact(2, "h", 2, ".")
    peer = ScampPeer(Contact(1, "h", 1, "."), own, grace=10)
    list(peer.join(server, 0, Dice(1)))
    list(peer.receive(m.Kept(server), 2, 0, Dice(1)))
    renewed = peer.lease_end
    list(peer.renew(renewed, Dice(2)))
    list(peer.receive(m.Served(server, 10), 2, renewed, Dice(3)))
    assert not peer.is_due(renewed + own.patience - 1)
    assert peer.is_due(renewed + own.patience)
    list(peer.receive(m.Kept(server), 2, renewed, Dice(4)))
    assert not peer.is_due(renewed + own.patience)
