"""Gateways as the ones a member can be sure of: who turns to them when, and whom they hand events to."""

from __future__ import annotations

import pytest

from hierarchy.contacts import Contact
from hierarchy.live import Member, MemberSettings, Process
from hierarchy.live import messages as m
from hierarchy.live.backing import AGAIN, HANDED
from hierarchy.live.dependants import FAILURES, FEW, MOST, Dependants
from hierarchy.live.super_table_hosts import SharedOutTable
from hierarchy.live.supply import EVENTS
from hierarchy.membership.scamp.settings import ScampSettings
from sub2sub.kernels.dice import Dice
from sub2sub.live.wire.framing import Frame

LEASE = 40


def contact(id: int, host: int | None = None, topic: str = ".") -> Contact:
    return Contact(id, f"192.0.{id // 256}.{(id if host is None else host) % 256}", 7000 + id, topic)


GATEWAYS = [Contact(0, "192.0.9.1", 7000, "."), Contact(0, "192.0.9.2", 7000, ".")]


def dependants_of(*members: Contact, needy: bool = True) -> Dependants:
    found = Dependants(LEASE)
    for each in members:
        turn_to(found, each, needy)
    return found


def turn_to(dependants: Dependants, member: Contact, needy: bool, cycle: int = 0) -> None:
    dependants.turn_to(member, needy, member.host, cycle)
    for send in list(dependants.ask(cycle, Dice(member.id))):
        dependants.answered(send.message.exchange, cycle)


def event(name: int, topic: str = ".", publisher: int = 9, round: int = 1) -> m.Event:
    return m.Event(bytes([name]) * 16, topic, publisher, round, -1.0, b"")


def member_with(gateways: list[Contact], id: int = 1, **given: object) -> Member:
    settings = MemberSettings(scamp=ScampSettings(lease=LEASE))
    member = Member(contact(id), lambda event: None, settings, {".": gateways})
    list(member.join(None, Dice(1)))
    return member


def receivers(member: Member, message: m.Event, teller: str = "") -> list[tuple[str, int]]:
    member.teller = teller
    sends = list(member.receive(message, 5, Dice(3)))
    return [send.to.address for send in sends if send.to and isinstance(send.message, m.Event)]


def asked_in(member: Member, cycles: int, answer: str = "") -> list[tuple[int, Contact, bool]]:
    """When a member turned to which gateway, and whether it was in need; a gateway may answer."""
    found = []
    for _ in range(cycles):
        member.teller = ""
        sends = list(member.tick(Dice(member.cycle)))
        for send in sends:
            if isinstance(send.message, m.Depend) and send.to:
                found.append((member.cycle, send.to, send.message.needy))
                if answer:
                    member.teller = send.to.host
                    list(member.receive(m.Check(7), 3, Dice(1)))
    return found


def test_a_gateway_hands_events_to_so_many_at_most_however_many_are_in_need() -> None:
    found = dependants_of(*(contact(k, host=k) for k in range(1, 200)))
    assert len(found) == MOST
    assert {each.id for each in found.receivers((), Dice(1))} == set(range(200 - MOST, 200)), (
        "they take turns"
    )


def test_those_in_need_come_first_and_of_others_a_few_get_an_event() -> None:
    found = dependants_of(*(contact(k) for k in range(1, 40)), needy=False)
    assert len(found.receivers((), Dice(1))) == FEW
    for k in range(100, 100 + MOST):
        turn_to(found, contact(k), True)
    assert {each.id for each in found.receivers((), Dice(1))} == set(range(100, 100 + MOST))
    assert not found.receivers(set(range(100, 100 + MOST)), Dice(1)), "nobody that gets it anyway"


def test_a_host_has_its_share_of_dependants_and_inventions_have_none() -> None:
    found = dependants_of(*(contact(k, host=66) for k in range(1, 60)))
    assert len(found) == 8
    for k in range(100, 160):
        turn_to(found, contact(k), True)
    assert sum(each.host == contact(1, host=66).host for each in found.members()) == 2
    assert len(found) == 62
    found.turn_to(contact(250), True, "192.0.0.66", 0)
    assert len(list(found.ask(0, Dice(1)))) == 1
    assert contact(250) not in found.members()


def test_dependants_end_unless_they_turn_to_the_gateway_again_or_when_events_fail() -> None:
    found = dependants_of(contact(1), contact(2))
    turn_to(found, contact(2), True, cycle=10)
    found.expire(LEASE)
    assert found.members() == [contact(2)]
    for _ in range(FAILURES):
        assert len(found) == 1
        found.failed(2)
    assert not len(found)


def test_a_publisher_hands_its_events_to_gateways_and_others_do_not() -> None:
    member = member_with(GATEWAYS)
    own = event(1, publisher=member.own.id, round=0)
    sent = [send.to for send in member.publish(own, Dice(1))]
    assert {each.address for each in sent if each} == {each.address for each in GATEWAYS}
    assert len(GATEWAYS) == HANDED
    assert not receivers(member, event(2))


def test_a_gateway_hands_events_to_its_dependants_and_to_other_gateways() -> None:
    member = member_with(GATEWAYS[:1], id=2)
    turn_to(member.backing.dependants, contact(7), True)
    assert receivers(member, event(1)) == [contact(7).address, GATEWAYS[0].address]


def test_only_a_gateway_has_dependants() -> None:
    member = member_with(GATEWAYS)
    member.teller, member.backing.is_gateway = contact(7).host, False
    assert not list(member.receive(m.Depend(contact(7), True), 7, Dice(1)))
    member.backing.is_gateway = True
    assert not list(member.receive(m.Depend(contact(7, topic=".x"), True), 7, Dice(1)))
    (asked,) = member.receive(m.Depend(contact(7), True), 7, Dice(1))
    assert (asked.to, type(asked.message)) == (contact(7), m.Check)
    list(member.receive(m.Checked(asked.message.exchange), 7, Dice(1)))
    assert member.backing.dependants.members() == [contact(7)]
    (found,) = member.receive(m.Find(5, (".",)), 8, Dice(1))
    assert set(found.message.contacts) == {member.own, contact(7)}, "and tells others of these"


def test_a_gateway_that_answers_is_turned_to_twice_a_lease_another_otherwise_soon() -> None:
    answered = asked_in(member_with(GATEWAYS), 2 * LEASE, answer="yes")
    assert [cycle for cycle, _, _ in answered] == [1, 1 + LEASE // 2, 1 + LEASE, 1 + 3 * LEASE // 2]
    assert len({to for _, to, _ in answered}) == 1
    silent = asked_in(member_with(GATEWAYS), 2 * LEASE)
    assert [cycle for cycle, _, _ in silent] == list(range(1, 2 * LEASE + 1, AGAIN))
    assert {to for _, to, _ in silent} == set(GATEWAYS)


@pytest.mark.parametrize(("teller", "needy"), [(GATEWAYS[0].host, True), ("192.0.2.7", False)])
def test_who_gets_events_from_gateways_only_is_in_need_and_subscribes_again(teller: str, needy: bool) -> None:
    member = member_with(GATEWAYS[:1])
    list(member.scamp.keep(Contact(50, member.own.host, 7050, "."), 99, 0))
    member.scamp.contact = GATEWAYS[0]
    asked_in(member, 1, answer="yes")
    assert member.scamp.in_need, "nothing is proven yet"
    for k in range(EVENTS):
        receivers(member, event(k), teller)
    member.teller = ""
    sends = [send for _ in range(AGAIN) for send in member.tick(Dice(member.cycle))]
    assert member.scamp.in_need == needy
    subscribed = [send for send in sends if isinstance(send.message, m.Subscribe) and send.message.steps == 0]
    assert bool(subscribed) == needy


def test_gateways_on_the_same_machine_are_a_way_in_and_nothing_else() -> None:
    given = {".": [Contact(0, "127.0.0.1", 7000, ".")], ".a": [Contact(0, "127.0.0.1", 7001, ".a")]}
    member = Member(Contact(1, "127.0.0.1", 7002, ".a"), lambda event: None, gateways=given)
    list(member.join(None, Dice(1)))
    assert not asked_in(member, 30)
    assert not member.supers.gateways


def test_a_question_to_a_gateway_is_for_the_member_of_that_topic() -> None:
    process = Process(seed=1)
    above, below = (Member(contact(k, topic=topic), lambda event: None) for k, topic in ((1, "."), (2, ".a")))
    process.cores = {each.own.id: each for each in (above, below)}
    newcomer = contact(3, topic=".a")
    for message in (m.Depend(newcomer, True), m.Subscribe(newcomer, 9, 0, 0), event(1, topic=".a")):
        assert process.core_for(Frame(0, 3, message)) is below
    assert process.core_for(Frame(77, 3, m.Depend(newcomer, True))) is None


def test_a_gateway_of_the_topic_above_keeps_its_place_in_a_super_topic_table() -> None:
    gateway = contact(9, topic=".a")
    table = SharedOutTable([".a", "."], z=3)
    table.gateways = {gateway.address}
    table.merge(contact(k, topic=".a") for k in (1, 2, 3))
    assert table.wanted(cycle=1, p_sel=0.0, timeout=3, dice=Dice(1)) == (".a",), "it is asked for"
    assert not table.wanted(cycle=4, p_sel=0.0, timeout=3, dice=Dice(1)), "not again at once"
    assert table.merge([gateway])
    assert gateway in table.entries
    assert not table.merge([contact(10, topic=".a"), Contact(11, gateway.host, gateway.port, ".a")])
    assert not table.wanted(cycle=99, p_sel=0.0, timeout=3, dice=Dice(1))
    crowded = SharedOutTable([".a"], z=2)
    crowded.gateways = {gateway.address}
    crowded.merge([gateway, contact(1, host=9, topic=".a")])
    crowded.merge([contact(2, topic=".a")])
    assert gateway in crowded.entries


def test_what_a_member_publishes_itself_proves_nothing() -> None:
    member = member_with(GATEWAYS[:1])
    member.teller = "192.0.2.7"  # of the last message
    for k in range(EVENTS):
        list(member.publish(event(k, publisher=member.own.id, round=0), Dice(1)))
    assert not member.backing.supply.is_proven(member.cycle + 5)
    for k in range(EVENTS):
        receivers(member, event(k), "192.0.2.7")
    assert member.backing.supply.is_proven(member.cycle + 5), "copies that come back do"
