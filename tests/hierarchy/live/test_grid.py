"""Live members in a P-Grid: the tables they end up with, without sockets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hierarchy.live.grid_member import GridMember
from hierarchy.peers.contacts import Contact
from hierarchy.peers.pgrid import (
    GridPeer,
    Listed,
    Meet,
    Met,
    Placed,
    Position,
    Post,
    Posting,
    Route,
    key_of,
    peers_in,
)
from hierarchy.peers.scamp import Link
from hierarchy.peers.scamp_messages import Beat
from hierarchy.peers.super_table import Check
from sub2sub.peers.draws import Dice
from tests.hierarchy.live.grid_overlay import SETTINGS, TOPICS, Overlay, built


@pytest.mark.parametrize("keeps_scamp", [False, True], ids=["structured", "semi-structured"])
def test_everybody_finds_its_community_and_the_one_above(keeps_scamp: bool) -> None:
    overlay = built(keeps_scamp)
    lengths = {len(member.grid.peer.path) for member in overlay.members.values()}
    assert max(lengths) >= 2
    for member in overlay.members.values():
        table = member.topic_table()
        assert table
        assert {each.topic for each in table} == {member.own.topic}
        assert member.own.id not in {each.id for each in table}
        assert {each.topic for each in member.supers.entries} == set(member.supers.chain[:1])


def test_structured_tables_have_ln_n_entries_and_hold_a_ring() -> None:
    overlay = built(keeps_scamp=False)
    for topic, wanted in zip(TOPICS, (2, 3, 4), strict=True):
        members = {id: each for id, each in overlay.members.items() if each.own.topic == topic}
        assert abs(np.mean([len(each.topic_table()) for each in members.values()]) - wanted) < 0.5
        following = dict(zip(sorted(members), [*sorted(members)[1:], min(members)], strict=True))
        assert {id: each.topic_table()[0].id for id, each in members.items()} == following


def test_the_dead_are_forgotten_and_the_others_still_found() -> None:
    overlay = built(keeps_scamp=False)
    overlay.dead = set(range(1, 61, 5))
    for _ in range(40):
        overlay.step()
    for number, member in overlay.members.items():
        if number not in overlay.dead:
            known = {each.id for each in (*member.topic_table(), *member.supers.entries)}
            assert known
            assert not known & overlay.dead


def test_others_stand_where_everybody_is_gone() -> None:
    """Both peers of a leaf were members of one process, which left: nobody found its community again."""
    overlay, topic = built(keeps_scamp=False), TOPICS[2]

    def holders() -> set[int]:
        there = {number: each for number, each in overlay.members.items() if number not in overlay.dead}
        return {number for number, each in there.items() if each.grid.peer.belongs(key_of(topic))}

    overlay.dead = holders()
    assert 0 < len(overlay.dead) < 40
    for _ in range(70):
        overlay.step()
    live = {n for n, each in overlay.members.items() if each.own.topic == topic} - overlay.dead
    assert holders()
    for number in holders():
        assert {each.id for each in overlay.members[number].grid.peer.known(topic)} == live
    for number in live:
        assert {each.id for each in overlay.members[number].topic_table()} <= live


def test_who_enters_at_once_does_not_part_for_ever() -> None:
    """A crowd starts as replicas of the root, and parts. If those who part forgot one another, small groups
    would know only themselves, and each would hold and find announcements of its own.
    """
    overlay = built(keeps_scamp=False, at_once=60)
    for topic in TOPICS:
        community = {each.own.id for each in overlay.members.values() if each.own.topic == topic}
        for member in overlay.members.values():
            if member.grid.peer.belongs(key_of(topic)):
                assert {each.id for each in member.grid.peer.known(topic)} == community


def test_everybody_has_all_the_acquaintances_it_may_but_itself() -> None:
    overlay = built(keeps_scamp=False, at_once=60)
    for member in overlay.members.values():
        known = {each.id for each in peers_in(member.grid.peer.acquaintances)}
        assert member.own.id not in known
        assert len(known) == 4 * member.grid.settings.replication


A, B = (Contact(i, "h", i, ".") for i in (2, 3))


def placed() -> GridMember:
    """A structured member with the path 0, which knows two peers across its bit and two buddies."""
    member = GridMember(Contact(1, "h", 1, "."), lambda event: None, SETTINGS)
    member.grid.placed, peer = True, member.grid.peer
    peer.path, peer.references = "0", [[A, B]]
    peer.buddies[:2] = [Contact(i, "h", i, ".") for i in (4, 5)]
    member.found = [A, B]
    return member


def test_who_cannot_be_reached_is_forgotten_at_the_second_failure_and_not_at_the_first() -> None:
    member = placed()
    list(member.unreachable(A, Check(1), Dice(1)))
    assert (peers_in(member.grid.peer.references[0]), member.topic_table()) == ([A, B], [A, B])
    list(member.receive(Check(2), A.id, Dice(2)))  # it is there after all
    list(member.unreachable(A, Check(3), Dice(3)))
    assert peers_in(member.grid.peer.references[0]) == [A, B]
    list(member.unreachable(A, Check(4), Dice(4)))
    assert (peers_in(member.grid.peer.references[0]), member.topic_table()) == ([B], [A, B])


def test_announcements_end_while_a_process_is_stopped() -> None:
    """It waited for a member that had left long ago, and told others of it."""
    member = GridMember(Contact(1, "h", 1, "."), lambda event: None, SETTINGS)
    lease = member.grid.settings.lease
    member.grid.peer.hold([Posting(A, lease), Posting(B, lease - 1)], cycle=0)
    member.miss_cycles(lease - 1)
    member.grid.peer.expire(0)
    assert member.grid.peer.known(A.topic) == [A]


@pytest.mark.parametrize("missed", [3, 30])
def test_a_table_outlasts_the_announcements_that_end_while_a_process_is_stopped(missed: int) -> None:
    """A process that went on searched its own announcements, found nobody, and sent events nowhere."""
    overlay = built(keeps_scamp=False)
    for number in range(1, 7):
        member = overlay.members[number]
        member.miss_cycles(missed)
        member._search_in = 0  # due at once
        for _ in range(8):
            overlay.carry(member, member.tick(overlay.dice()))
            assert {each.id for each in member.topic_table()} <= set(range(1, 7)) - {number}
            assert member.topic_table()


def test_entries_of_tables_stay_until_a_search_brings_others() -> None:
    """An event would not be sent to those that were dropped, and so never be sent again."""
    member = GridMember(Contact(1, "h", 1, ".d"), lambda event: None, SETTINGS)
    member.grid.placed = True
    above, own, further = (Contact(i, "h", i, topic) for i, topic in ((2, "."), (3, ".d"), (5, ".d")))
    member.found, member.supers.entries = [own, further], [above]

    def searches() -> list[Listed]:  # all of them are served by the member itself
        return [each.message for each in member.tick(Dice(2)) if isinstance(each.message, Listed)]

    assert [len(searches()) for _ in range(3)] == [1, 0, 0]  # an announcement
    first, _ = searches()
    list(member.receive(replace(first, known=0), 1, Dice(3)))
    for tables in ([Contact(0, "g", 9, ".")], [own, above]):  # a gateway is in no table
        assert not searches()
        for to in [*tables, *tables]:
            list(member.unreachable(to, Check(1), Dice(1)))
        assert member.known() == [own, further, above]
    first, _ = searches()
    other = own._replace(id=4)
    list(member.receive(replace(first, known=2, contacts=(other,)), 1, Dice(3)))
    assert member.topic_table() == [other]


def test_a_request_that_cannot_be_delivered_goes_to_another_reference() -> None:
    member = placed()
    request = Route(9, B, 1, 1 << 63, ".", 5)  # its key begins with 1
    list(member.unreachable(A, request, Dice(1)))
    (send,) = member.unreachable(A, request, Dice(2))  # by now A is forgotten
    assert (send.to, send.message.exchange, send.message.steps) == (B, 9, 4)


def test_an_announcement_is_passed_on_to_all_replicas() -> None:
    member = placed()
    sends = list(member.receive(Route(9, A, 2, 0, ".", 5), A.id, Dice(1)))
    assert {send.to.id for send in sends if isinstance(send.message, Post)} == {4, 5}
    assert [each.id for each in member.grid.peer.known(".")] == [A.id]


def test_the_outcome_of_a_meeting_nobody_asked_for_changes_nothing() -> None:
    member = placed()
    before = member.grid.peer.position()
    forged = Position(member.own, 0, 1, ((A,),), ())
    posting = Posting(A, 50)
    assert list(member.receive(Met(77, forged, (A,), (posting,)), A.id, Dice(1))) == []
    assert member.grid.peer.position() == before
    assert not member.grid.peer.held
    assert not peers_in(member.grid.peer.acquaintances)


def partners(member: GridMember, cycle: int) -> list[Contact | None]:
    return [each.to for each in list(member.tick(Dice(cycle))) if isinstance(each.message, Meet)]


def test_a_buddy_that_never_answers_does_not_keep_one_from_meeting_others() -> None:
    member = placed()
    member.grid.peer.acquaintances[0] = A
    buddies = peers_in(member.grid.peer.buddies)
    met = [each for cycle in range(4) for each in partners(member, cycle)]
    assert [each in buddies for each in met] == [True, False, True, False]
    member.grid.peer.buddies[:2] = [None, None]
    assert [each for cycle in range(4) for each in partners(member, cycle)] == [A] * 4


def test_who_has_lost_everybody_meets_a_gateway_in_every_cycle() -> None:
    member = placed()
    gateway = Contact(0, "g", 9, ".")
    member.grid.gateways, member.grid.peer.path = [gateway], "0" * 8  # among many: it would seldom meet one
    member.grid.peer.references, member.grid.peer.buddies = [[A]] * 8, [None]
    assert [each for cycle in range(5) for each in partners(member, cycle)] == [gateway] * 5


def test_the_earlier_life_of_a_process_is_forgotten_when_the_next_answers() -> None:
    member = placed()
    member.grid.peer.buddies[:2] = [A, None]
    (send,) = (each for each in list(member.tick(Dice(1))) if isinstance(each.message, Meet))
    returned = Contact(77, A.host, A.port, ".")
    answer = Met(send.message.exchange, send.message.position, (returned,), ())
    list(member.receive(answer, returned.id, Dice(2)))
    peer = member.grid.peer
    assert A not in [
        *peers_in(peer.buddies),
        *peers_in(peer.references[0]),
        *peers_in(peer.acquaintances),
    ]
    assert returned in peers_in(peer.acquaintances)


@pytest.mark.parametrize(
    ("served", "silent", "searches"), [(True, False, 0), (False, False, 3), (True, True, 3)]
)
def test_a_member_that_is_not_in_or_that_nobody_answers_searches_often(
    served: bool, silent: bool, searches: int
) -> None:
    member = GridMember(Contact(1, "h", 1, "."), lambda event: None, SETTINGS, keeps_scamp=True)
    member.grid.placed = True
    for cycle in range(4):
        list(member.tick(Dice(cycle)))
    member.scamp.served, member.scamp.view, member.scamp.lease_end = served, [Link(A, 1000)], 1000
    for _ in range(6 if silent else 0):
        list(member.unreachable(A, Beat(), Dice(7)))
    sends = [send for cycle in range(4, 13) for send in list(member.tick(Dice(cycle)))]
    assert sum(isinstance(each.message, Listed) for each in sends) == searches


def test_the_outcome_of_a_meeting_takes_nothing_away_that_was_learnt_meanwhile() -> None:
    peer, many = placed().grid.peer, [Contact(i, "h", i, ".") for i in range(20, 24)]
    peer.references = [[A, B, None, None]]
    outcome = Position(peer.own, 0, 1, ((A, many[0]),), (many[1],))
    peer.move(GridPeer.at(outcome, peer.settings, 16), Dice(1))
    assert peers_in(peer.references[0]) == [A, B, many[0]]
    assert [each.id for each in peers_in(peer.buddies)] == [4, 5, many[1].id]
    outcome = Position(peer.own, 0, 2, ((A,), (B,)), (many[2],))
    peer.move(GridPeer.at(outcome, peer.settings, 16), Dice(1))
    assert (peer.path, peers_in(peer.buddies)) == ("00", [many[2]])
    assert {4, 5, many[1].id} <= {each.id for each in peers_in(peer.acquaintances)}


def test_peers_that_ask_one_another_at_the_same_time_become_replicas() -> None:
    """Where answers take long, everybody waits for one whenever it is asked."""
    one, two = members = [placed(), placed()]
    two.own = two.grid.own = two.grid.peer.own = Contact(9, "h", 9, ".")
    for member, other in (members, members[::-1]):
        member.grid.peer.buddies, member.grid.peer.acquaintances[0] = [None] * 20, other.own
    asked = [
        next(each.message for each in list(x.tick(Dice(1))) if isinstance(each.message, Meet))
        for x in members
    ]
    answers = [
        next(iter(member.receive(message, 0, Dice(2))))
        for member, message in zip(members, asked[::-1], strict=True)
    ]
    for member, other, answer in zip(members, members[::-1], answers[::-1], strict=True):
        list(member.receive(answer.message, other.own.id, Dice(3)))
    assert [peers_in(each.grid.peer.buddies) for each in members] == [[two.own], [one.own]]


def test_a_peer_that_waits_for_the_outcome_of_a_meeting_keeps_its_path() -> None:
    """Both outcomes could not hold; where it does not wait, it parts from its replica."""
    member = placed()
    many = tuple(Contact(i, "h", i, ".") for i in range(20, 32))
    asks = Meet(5, Position(B, 0, 1, ((A,),), many), ())
    list(member.tick(Dice(1)))
    (answer,) = member.receive(asks, B.id, Dice(2))
    assert (member.grid.peer.path, answer.message.position.length) == ("0", 1)
    assert B in peers_in(member.grid.peer.buddies)
    longer = Meet(6, Position(B, 0, 2, ((A,), (A,)), ()), ())
    list(member.receive(longer, B.id, Dice(2)))
    assert member.grid.peer.path == "0"
    free = placed()
    (answer,) = free.receive(asks, B.id, Dice(2))
    assert (free.grid.peer.path, answer.message.position.length) == ("01", 2)


@pytest.mark.parametrize("left", [1, 3])
def test_members_whose_contact_crashes_before_it_is_served_found_the_community(left: int) -> None:
    """Also those that have been told of members that do not exist, and so think they know some."""
    overlay = Overlay(keeps_scamp=True)
    for number in range(1, left + 2):
        overlay.enter(number, ".d")
    while not all(each.scamp.contact for number, each in overlay.members.items() if number > 1):
        overlay.step()
    overlay.dead = {1, 99}
    for member in list(overlay.members.values())[1:]:
        member.scamp.view = [Link(Contact(99, "h", 99, ".d"), 1000)]
    assert not any(each.scamp.served for each in overlay.members.values())
    for _ in range(30):
        overlay.step()
    assert all(each.scamp.served for number, each in overlay.members.items() if number > 1)


@pytest.mark.parametrize(("is_there", "can_be_reached"), [(False, False), (False, True), (True, True)])
def test_a_newcomer_does_not_wait_until_the_announcement_of_one_that_is_gone_ends(
    is_there: bool, can_be_reached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes published nothing for twenty cycles: the only contact had crashed, silently or not."""
    overlay = Overlay(keeps_scamp=True)
    overlay.enter(9, ".d")
    member = overlay.members[9]
    lease = member.grid.settings.lease
    other = GridMember(Contact(5, "h", 5, ".d"), lambda event: None, SETTINGS, keeps_scamp=True)
    overlay.members[5] = other  # which is not in either, and serves nobody
    if not is_there:
        monkeypatch.setattr(other, "receive", lambda *message: ())
    overlay.dead = set() if can_be_reached else {5}
    member.grid.peer.hold([Posting(other.own, lease)], member.cycle)
    for _ in range(lease - 2):
        overlay.carry(member, member.tick(overlay.dice()))
    assert member.scamp.served != is_there
    assert other.own in member.grid.peer.known(".d")


def test_a_place_that_nobody_asked_for_is_not_taken() -> None:
    member = GridMember(Contact(1, "h", 1, "."), lambda event: None)
    (request,) = member.enter_by([A], Dice(1))
    position = Position(B, 0, 1, ((A,),), ())
    list(member.receive(Placed(77, position, ()), B.id, Dice(1)))
    assert not member.grid.placed
    list(member.receive(Placed(request.message.exchange, position, ()), B.id, Dice(1)))
    assert (member.grid.placed, member.grid.peer.path) == (True, "0")


def test_one_may_publish_when_a_search_for_its_community_was_answered() -> None:
    member, own = placed(), Contact(1, "h", 1, ".")
    assert not member.is_ready
    for cycle in range(1, 9):
        for send in list(member.tick(Dice(cycle))):
            if isinstance(send.message, Route) and send.message.wish == 1:
                list(member.receive(Listed(send.message.exchange, 1, (A,)), A.id, Dice(99)))
            elif isinstance(send.message, Listed) and send.to == own:
                list(member.receive(send.message, own.id, Dice(99)))
    assert member.is_ready
