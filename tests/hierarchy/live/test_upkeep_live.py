"""Live members keep their tables as the simulator's do, ticking when they like."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from hierarchy.camcast import TopicSettings
from hierarchy.live import Member, MemberSettings
from hierarchy.live.messages import Beaten, Message
from hierarchy.live.topics_above import CHECKS
from hierarchy.peers.contacts import Contact, Sends
from hierarchy.peers.scamp_messages import Beat, Copy, Replace, Served, Subscribe
from hierarchy.peers.settings import ScampSettings
from hierarchy.peers.super_table import Check, Checked, Find, Found
from sub2sub.peers.draws import Dice

OWN = ScampSettings(c=1, lease=12, indirection=4, isolation=5)


class Swarm:
    """Members that tick one after the other in an order of their own, and messages that take a while."""

    def __init__(self, n: int, own: ScampSettings = OWN, seed: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.members: dict[int, Member] = {}
        self.gone: set[int] = set()
        self.keys = iter(range(1, 1 << 30))
        self.waiting: deque[tuple[int, Contact, Message]] = deque()
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


def one_that_knows(other: Contact, lease: int, id: int = 1) -> Member:
    """A member with one entry in its view, who answers heartbeats or not, and never renews."""
    member = Member(Contact(id, "h", id, "."), lambda event: None, MemberSettings(scamp=OWN))
    list(member.scamp.keep(other, lease, cycle=0))
    return member


def test_an_entry_ends_with_its_lease_and_grace_though_its_owner_answers() -> None:
    member = one_that_knows(Contact(2, "h", 2, "."), lease=4)
    last = 4 + member.scamp.grace
    assert last > 4  # clocks differ
    for cycle in range(1, last + 2):
        list(member.tick(Dice(cycle)))
        list(member.receive(Beaten(), 2, Dice(cycle)))
        assert member.scamp.has(2) == (cycle < last), cycle


def test_an_entry_ends_after_isolation_cycles_of_silence_though_it_has_a_lease() -> None:
    member = one_that_knows(Contact(2, "h", 2, "."), lease=10_000)
    list(member.scamp.keep(Contact(3, "h", 3, "."), 10_000, cycle=0))
    for cycle in range(1, OWN.isolation + 4):
        list(member.tick(Dice(cycle)))
        list(member.receive(Beaten(), 3, Dice(cycle)))
        assert member.scamp.has(2) == (cycle <= OWN.isolation + 1), cycle


def test_an_entry_that_is_dropped_for_its_silence_is_told_and_subscribes_again() -> None:
    """Only its answers were lost. It counted on views that had dropped it while an earlier lease ended."""
    holder, other = one_that_knows(Contact(2, "h", 2, "."), lease=10_000), Contact(3, "h", 3, ".")
    list(holder.scamp.keep(other, 10_000, cycle=0))
    dropped = one_that_knows(other, lease=10_000, id=2)
    dropped.scamp.lease_end, dropped.scamp.inward, dropped.scamp._outdated = 10_000, [holder.own], [other]
    for cycle in range(1, OWN.isolation + 4):
        told = [send.message for send in holder.tick(Dice(cycle)) if send.to and send.to.id == 2]
        list(holder.receive(Beaten(), 3, Dice(cycle)))
        for message in told:
            list(dropped.receive(message, 1, Dice(cycle)))
        renewed = any(isinstance(send.message, Subscribe) for send in dropped.tick(Dice(cycle)))
        list(dropped.receive(Beaten(), 3, Dice(cycle)))
        list(dropped.receive(Beat(), 3, Dice(cycle)))
        assert renewed == (not holder.scamp.has(2)), cycle
        if renewed:
            break
    assert renewed


def test_a_heartbeat_that_fails_once_costs_nobody_its_place_and_six_do() -> None:
    other, another = (Contact(i, "h", i, ".") for i in (2, 3))
    member = one_that_knows(other, lease=10_000)
    list(member.scamp.keep(another, 10_000, cycle=0))
    for failures in range(1, 7):
        assert list(member.unreachable(other, Beat(), Dice(1))) == []
        assert member.scamp.has(2) == (failures < 6)


def test_the_last_entry_of_a_view_stays_until_there_is_another_though_it_does_not_answer() -> None:
    """At 100 members a view was empty while the answer to the request for another was lost."""
    other, contact = (Contact(i, "h", i, ".") for i in (2, 3))
    for is_stuck in (False, True):
        member = one_that_knows(other, lease=10_000)
        list(member.join(contact, Dice(1)))
        for cycle in range(1, OWN.isolation + 4 if is_stuck else 1):
            sends = list(member.tick(Dice(cycle)))
        for failures in range(1, 1 if is_stuck else 9):
            sends = list(member.unreachable(other, Beat(), Dice(1)))
            assert len(sends) == (failures >= 6)
        assert (contact, Subscribe) in [(send.to, type(send.message)) for send in sends]
        assert member.scamp.has(2)
        list(member.receive(Served(contact, 100), 3, Dice(2)))
        list(member.scamp.keep(contact, 100, cycle=member.cycle))
        list(member.tick(Dice(3)) if is_stuck else member.unreachable(other, Beat(), Dice(1)))
        assert [link.peer for link in member.scamp.view] == [contact]


def test_an_answer_between_heartbeats_that_fail_keeps_an_entry() -> None:
    other = Contact(2, "h", 2, ".")
    member = one_that_knows(other, lease=10_000)
    for _ in range(4):
        for _ in range(5):
            list(member.unreachable(other, Beat(), Dice(1)))
        list(member.receive(Beaten(), 2, Dice(1)))
    assert member.scamp.has(2)


def test_nobody_is_believed_to_have_a_lease_longer_than_there_are() -> None:
    longest = OWN.lease + OWN.lease // 2
    for message in (Copy(Contact(3, "h", 3, "."), 10**6, 5), Served(Contact(3, "h", 3, "."), 10**6)):
        member = Member(Contact(1, "h", 1, "."), lambda event: None, MemberSettings(scamp=OWN))
        list(member.join(Contact(3, "h", 3, "."), Dice(1)))
        list(member.receive(message, 3, Dice(2)))
        assert [link.expires for link in member.scamp.view] == [longest + member.scamp.grace]


def test_a_super_contact_that_cannot_be_reached_once_stays_and_leaves_if_it_answers_no_check() -> None:
    """Tables were empty after one refused connection, and events went nowhere until the next search."""
    own = MemberSettings(TopicSettings(z=3, tau=0, p_sel=0.0), patience=2)
    for is_there in (True, False):
        member = Member(Contact(1, "h", 1, ".a"), lambda event: None, own)
        doubted, there = (Contact(i, "h", i, ".") for i in (2, 3))
        member.supers.merge([doubted, there])
        checks = list(member.unreachable(doubted, Find(1, (".",)), Dice(1)))
        assert {send.to for send in checks} == {doubted, there}
        assert list(member.unreachable(doubted, Check(1), Dice(1))) == [], "one check at a time"
        for cycle in range(12):
            for send in checks if is_there or cycle == 0 else ():
                if send.to == there or (is_there and cycle > 3):
                    list(member.receive(Checked(send.message.exchange), send.to.id, Dice(2)))
            assert member.supers.entries
            again = [send for send in member.tick(Dice(cycle)) if isinstance(send.message, Check)]
            checks = again or checks
        assert member.supers.entries == ([doubted, there] if is_there else [there])


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
            asked[lost] += sum(isinstance(send.message, Find) for send in sends)
            list(member.receive(Beaten(), 2, Dice(cycle)))
            list(member.receive(Beat(), 2, Dice(cycle)))
    assert asked == {True: 2 * OWN.lease // 3, False: 4}


@pytest.mark.parametrize("answering", [None, 8, 9])
def test_who_is_not_in_founds_the_community_only_if_no_gateway_answers(answering: int | None) -> None:
    """Two that came back when everybody else was gone waited for ever: seed 1200067 of the histories."""
    crashed, gateways = Contact(7, "h", 7, "."), [Contact(0, "h", port, ".") for port in (8, 9)]
    member = Member(Contact(1, "h", 1, "."), lambda event: None, MemberSettings(scamp=OWN), {".": gateways})
    list(member.join(crashed, Dice(1)))
    asked = set()
    for cycle in range(1, 40):
        for send in member.tick(Dice(cycle)):
            if isinstance(send.message, Find):
                assert not member.scamp.served or answering is None
                asked.add(send.to.port)
                if send.to.port == answering:
                    found = Found(send.message.exchange, (crashed,))
                    list(member.receive(found, answering, Dice(cycle)))
            else:
                list(member.unreachable(send.to, send.message, Dice(cycle)))
        if cycle <= 9:
            assert not member.scamp.served, "each gateway has two chances"
    assert asked == {8, 9}
    assert member.scamp.served == (answering is None)


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
    list(newcomer.receive(Served(founder.own, 9), 1, Dice(2)))
    assert newcomer.is_ready


def test_a_goodbye_is_believed_when_nobody_objects_and_not_before() -> None:
    for objects in (False, True):
        member = one_that_knows(Contact(2, "h", 2, "."), lease=10_000)
        list(member.tick(Dice(1)))
        replacement = Contact(3, "h", 3, ".")
        (check,) = member.receive(Replace((replacement,), 9), 2, Dice(2))
        for cycle in range(1, member.settings.patience + 1):
            list(member.tick(Dice(cycle)))
            assert member.scamp.has(2)
        if objects:
            list(member.receive(Checked(check.message.exchange), 2, Dice(3)))
        list(member.tick(Dice(9)))
        assert (member.scamp.has(2), member.scamp.has(3)) == (objects, not objects)


def test_a_leaver_names_all_but_c_plus_1_heirs_and_nobody_knows_it_any_more() -> None:
    own = ScampSettings(c=1, lease=10_000, indirection=4)
    swarm = Swarm(40, own)
    leaver = max(swarm.members.values(), key=lambda member: len(member.scamp.inward)).own.id
    replacements = list(swarm.members[leaver].topic_table())
    holders = [each.id for each in swarm.members[leaver].scamp.inward]
    before = {number: swarm.known(number) for number in swarm.live()}
    swarm.leave(leaver)
    for _ in range(4):  # until nobody objects
        swarm.cycle()
    for i, holder in enumerate(holders):
        named = {replacements[i % len(replacements)].id} if i < len(holders) - own.c - 1 else set()
        assert swarm.known(holder) == before[holder] - {leaver} | (named - {holder}), i
    for number in swarm.live():
        member = swarm.members[number]
        assert leaver not in swarm.known(number) | {each.id for each in member.scamp.inward}


def test_a_check_waits_as_long_as_it_may_and_no_longer() -> None:
    own = MemberSettings(TopicSettings(z=3, tau=0, p_sel=1.0), patience=2)
    for late in range(1, 9):
        member = Member(Contact(1, "h", 1, ".a"), lambda event: None, own)
        quick, slow = (Contact(i, "h", i, ".") for i in (2, 3))
        member.supers.merge([quick, slow])
        checks = [send for send in member.tick(Dice(1)) if isinstance(send.message, Check)]
        assert {send.to for send in checks} == {quick, slow}
        list(member.receive(Checked(checks[0].message.exchange), 2, Dice(2)))
        for _ in range(late - 1):
            list(member.tick(Dice(3)))
        list(member.receive(Checked(checks[1].message.exchange), 3, Dice(4)))
        list(member.tick(Dice(5)))
        asked = CHECKS * (own.patience + 1)
        assert member.supers.entries == ([quick, slow] if late < asked else [quick]), late


def test_a_process_that_was_stopped_reads_answers_before_it_ends_a_check() -> None:
    member = Member(Contact(1, "h", 1, ".a"), lambda event: None, MemberSettings(TopicSettings(p_sel=1.0)))
    above = Contact(2, "h", 2, ".")
    member.supers.merge([above])
    (check,) = (send.message for send in member.tick(Dice(1)) if isinstance(send.message, Check))
    for _ in range(CHECKS * (member.settings.patience + 1) - 2):
        list(member.tick(Dice(2)))
    member.miss_cycles(5)
    list(member.tick(Dice(3)))  # without the stop, its answer would have come too late
    list(member.receive(Checked(check.exchange), above.id, Dice(4)))
    for _ in range(2):
        list(member.tick(Dice(5)))
    assert member.supers.entries == [above]


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
