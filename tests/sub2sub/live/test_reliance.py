"""Which peers a live peer relies on to forward events, and how it treats the others."""

from __future__ import annotations

import pytest

from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.kernels.dice import Dice
from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core
from sub2sub.live.core.reliance import (
    BARRED,
    CREDIT,
    EACH,
    FORMER,
    OF_A_HOST,
    PATIENCE,
    STRANGERS,
    TRIED,
    Reliance,
)
from sub2sub.live.core.settings import CoreSettings
from sub2sub.overlay.descriptors import Descriptor
from sub2sub.ring.peer import Neighbour
from tests.sub2sub.live.test_core import OWN, acquaint, draws
from tests.sub2sub.live.test_core import peer as peer_on_this_machine


def peer(id: int) -> Descriptor:
    """A peer at a host of its own."""
    return Descriptor.of(id, [0.0], [1.0], (f"10.{id % 251}.{id // 251 % 251}.1", 1))


OLD, NEW, OTHER = peer(9), peer(5), peer(2**63)  # OWN is 4: NEW hides OLD, OTHER is on the other side


def core(wary: bool = True) -> Core:
    settings = CoreSettings(dissemination=DisseminationSettings(shortcuts=0), wary=wary)
    made = Core(OWN, lambda event: None, settings)
    for other in (OLD, OTHER):
        acquaint(made, other, draws())
    return made


def answered_ticks(made: Core, cycles: int) -> None:
    """Let cycles pass in which everybody that is asked answers."""
    for _ in range(cycles):
        for send in made.tick(Dice):
            assert send.to
            if isinstance(send.message, m.Probe):
                made.receive(m.Probed(send.message.exchange), send.to.id, draws())
            elif isinstance(send.message, m.Ring):
                made.receive(
                    m.RingBack(send.message.exchange, m.Mentions(), m.Mentions()), send.to.id, draws()
                )


def targets(made: Core, number: int, took: bool = True) -> set[int]:
    """The peers to which an event published here is sent; all take it."""
    event = m.Event(number.to_bytes(16, "big"), (0.5,), 0, b"")
    sent = {send.to.id for send in made.publish(event, draws()) if send.to}
    for id in sent if took else ():
        made.receive(m.Taken(event.name, took=True), id, draws())
    return sent


def test_an_event_goes_past_a_new_neighbour_to_the_one_it_hides() -> None:
    made = core()
    assert targets(made, 1) == {OLD.id, OTHER.id}
    acquaint(made, NEW, draws())
    assert OLD.id not in made.ring.view
    assert targets(made, 2) == {NEW.id, OLD.id, OTHER.id}


def test_a_peer_that_sent_a_new_event_is_relied_on_and_an_old_neighbour_is_not() -> None:
    for brings, more in ((True, set[int]()), (False, {OLD.id})):
        made = core()
        acquaint(made, NEW, draws())
        answered_ticks(made, 25)
        for number, each in enumerate((NEW, OTHER) if brings else ()):
            made.receive(m.Event(bytes(15) + bytes([number]), (0.5,), 0, b""), each.id, draws())
        assert targets(made, 99) == {NEW.id, OTHER.id} | more


def test_while_no_peer_is_relied_on_an_event_goes_to_some_random_hosts() -> None:
    reliance, others, to = Reliance(OWN, unit=1), [peer(100 + k) for k in range(20)], set[int]()
    for other in others:
        reliance.answered(other)
    for number in range(40):
        order, passed = reliance.order((0.5,), [NEW, OTHER], [], Dice(number))
        assert {NEW.id, OTHER.id} < {each.id for each in order} == passed
        assert len(order) <= 4 + STRANGERS
        to |= passed
    assert to >= {other.id for other in others}
    reliance.brought(NEW.id)
    order, passed = reliance.order((0.5,), [NEW, OTHER], [], Dice(1))
    assert len(order) <= 4 + STRANGERS - 1
    assert NEW.id not in passed


def test_hosts_that_drop_events_get_fewer_than_others() -> None:
    reliance, others = Reliance(OWN, unit=1), [peer(100 + k) for k in range(20)]
    for other in others:
        reliance.answered(other)
    swallow, honest = others[:10], others[10:]

    def named() -> set[int]:
        orders = (reliance.order((0.5,), [NEW, OTHER], [], Dice(number))[0] for number in range(20))
        return {each.id for order in orders for each in order}

    for other in others:
        reliance.took(other.id)
    for other in honest:
        reliance.brought(other.id)
        for _ in range(CREDIT):
            reliance.took(other.id)
        reliance.brought(other.id)
        for _ in range(EACH):
            reliance.took(other.id)
    assert not any(reliance.relies_on(each.id) for each in others)
    for other in swallow:
        for _ in range(PATIENCE):
            reliance.took(other.id)
    chosen = named()
    assert chosen & {each.id for each in swallow} <= {swallow[0].id}, "the nearest, whoever it is"
    assert chosen >= {each.id for each in honest}
    for k, other in enumerate(swallow):  # another one at the same host has swallowed as much
        reliance.forget(other.id)
        reliance.answered(Descriptor.of(200 + k, [0.0], [1.0], other.address))
    assert not named() & set(range(200, 209))


def test_of_each_host_the_first_that_has_answered_is_remembered_until_it_fails() -> None:
    reliance = Reliance(OWN, unit=1)
    for k in range(2 * TRIED):
        reliance.answered(peer(10 + k // 2))
    first = {peer(10 + k).id for k in range(TRIED)}
    assert {each.id for each in reliance.tried.values()} == first
    reliance.answered(peer(9999))
    reliance.answered(Descriptor.of(7, [5.0], [6.0], ("192.0.2.9", 1)))  # it wants no event of this one's
    assert {each.id for each in reliance.tried.values()} == first
    reliance.forget(10)
    reliance.answered(peer(9999))
    assert {each.id for each in reliance.tried.values()} == first - {10} | {9999}


def test_an_event_goes_past_a_neighbour_to_any_peer_that_has_sent_one() -> None:
    made, known = core(), peer(2**62)
    made.join([known])
    assert targets(made, 1) == {OLD.id, OTHER.id}
    made.receive(m.Event(bytes(16), (0.5,), 0, b""), known.id, draws())
    assert targets(made, 2) == {OLD.id, OTHER.id, known.id}


def test_credit_is_used_up_by_events_taken() -> None:
    made = core()
    made.receive(m.Event(bytes(16), (0.5,), 0, b""), OLD.id, draws())
    for number in range(EACH):
        assert made.reliance.relies_on(OLD.id)
        targets(made, 1 + number)
    assert not made.reliance.relies_on(OLD.id)
    for _ in range(9):
        made.reliance.brought(OLD.id)
    for _ in range(CREDIT):
        assert made.reliance.relies_on(OLD.id)
        made.reliance.took(OLD.id)
    assert not made.reliance.relies_on(OLD.id)


def test_a_host_on_both_sides_is_not_relied_on_whatever_it_sends() -> None:
    made = core()
    host = ("192.0.2.1", 1)
    beside = [Descriptor.of(id, [0.0], [1.0], host) for id in (OWN.id - 1, OWN.id + 1)]
    for number, attacker in enumerate(beside):
        acquaint(made, attacker, draws())
        made.receive(m.Event(bytes(15) + bytes([number]), (0.5,), 0, b""), attacker.id, draws())
        assert made.reliance.relies_on(attacker.id)
    assert set(made.ring.view) == {attacker.id for attacker in beside}
    assert targets(made, 9) == {OLD.id, OTHER.id, *made.ring.view}


def test_on_one_machine_events_go_the_usual_way() -> None:
    made = Core(OWN, lambda event: None, core().settings)
    for id in (9, 2**63, 5):
        acquaint(made, peer_on_this_machine(id), draws())
    assert targets(made, 1) == {5, 2**63}
    assert targets(core(wary=False), 1) == {OLD.id, OTHER.id}


def test_a_former_neighbour_that_fails_is_forgotten() -> None:
    made = core()
    acquaint(made, NEW, draws())
    event = m.Event(bytes(16), (0.5,), 0, b"")
    assert OLD.id in {send.to.id for send in made.publish(event, draws()) if send.to}
    made.unreachable(OLD, event)
    assert targets(made, 2) == {NEW.id, OTHER.id}


def test_a_neighbour_that_takes_events_and_sends_none_is_barred_from_the_view() -> None:
    made = core()
    for number in range(PATIENCE + 1):
        made.receive(m.Event(bytes(15) + bytes([number]), (0.5,), 0, b""), OTHER.id, draws())
        made.receive(m.Taken(bytes(15) + bytes([number]), took=True), OLD.id, draws())
    made.tick(draws())
    assert OLD.id not in made.ring.view
    assert OTHER.id in made.ring.view
    assert made.counts["barred"] == 1
    made.receive(m.Hello(OLD), OLD.id, draws())
    assert OLD.id not in made.ring.view | dict.fromkeys(made.ring.asking)
    assert targets(made, 999) == {OLD.id, OTHER.id}, "an honest one must not miss events"
    answered_ticks(made, BARRED)
    acquaint(made, OLD, draws())
    assert OLD.id in made.ring.view


def test_forged_acknowledgements_do_not_count_against_a_peer() -> None:
    made = core()
    for number in range(2 * PATIENCE):
        made.receive(m.Taken(number.to_bytes(16, "big"), took=True), OLD.id, draws())
    made.tick(draws())
    assert OLD.id in made.ring.view


def test_former_neighbours_are_few_and_few_of_a_host() -> None:
    hosts = {"192.0.2.{}": FORMER, "192.0.2.1": OF_A_HOST, "2001:db8::{}": OF_A_HOST}  # a network is one host
    for host, most in hosts.items():
        reliance = Reliance(OWN, unit=1)
        for k in range(10, 50):
            other = Descriptor.of(k, [0.0], [1.0], (host.format(k), k))
            reliance.look({k: Neighbour(other, 0, since=k)}, now=100)
        reliance.look({}, now=100)
        assert sorted(reliance.former) == list(range(10, 10 + most)), "those that were neighbours first"


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::{}"])
def test_of_one_host_a_view_takes_few_links(host: str) -> None:
    for wary in (True, False):
        made = core(wary)
        peers = tuple(Descriptor.of(100 + k, [0.0], [1.0], (host.format(k), 1 + k)) for k in range(20))
        links = m.Mentions(peers, (0,) * 20)
        made.receive(m.Near(1, links), 100, draws())
        made.receive(m.Shuffle(2, links), 100, draws())
        for view in (made.near.view, made.random.view):
            count = sum(link.peer in peers for link in view)
            assert (count <= made.settings.of_a_host) == wary
