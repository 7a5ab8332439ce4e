"""Cores that receive any messages, true or false."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core, Draws
from sub2sub.live.core.messages import Mentions
from sub2sub.live.wire.format import decode, encode
from sub2sub.live.wire.framing import Frame
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.draws import Dice
from tests.sub2sub.live.strategies import ids, mention, mentioned, messages

OWN = Descriptor.of(4, [0.0], [1.0], ("127.0.0.1", 1))


def draws() -> Draws:
    numbers = itertools.count()
    return lambda stream: Dice.of(1, stream, 0).of_peer(next(numbers))


def core(heard: list[m.Event] | None = None, events: int | None = None) -> Core:
    made = Core(OWN, (heard if heard is not None else []).append)
    if events:
        made.events.memory = events
    return made


def peer(id: int, low: float = 0.0, high: float = 1.0) -> Descriptor:
    return Descriptor.of(id, [low], [high], ("127.0.0.1", 1000 + id))


def acquaint(made: Core, other: Descriptor, dice: Draws) -> None:
    """Let a core accept a neighbour."""
    assert made.receive(m.Hello(other), other.id, dice) == []


def sound(peer: Core) -> None:
    """Invariants of a core's state after any messages."""
    s = peer.settings.overlay
    views = [[link.peer.id for link in view] for view in (peer.random.view, peer.near.view)]
    for view, room in zip(views, (s.cyclon.view, s.vicinity.view), strict=True):
        assert len(view) <= room
        assert len(set(view)) == len(view)
        assert peer.own.id not in view
    assert peer.own.id not in peer.ring.view
    assert len(peer.ring.view) <= s.ring.cap
    assert all(id == each.peer.id for id, each in peer.ring.view.items())
    assert all(each.peer.d == peer.own.d for each in peer.ring.view.values())


steps = st.lists(st.one_of(st.none(), st.tuples(messages(1), ids), st.tuples(messages(), ids)), max_size=12)


@given(steps)
@settings(max_examples=150)
def test_no_messages_break_a_core_and_all_it_sends_can_be_sent(
    steps: list[tuple[m.Message, int] | None],
) -> None:
    peer, dice = core(), draws()
    for step in steps:
        sends = peer.tick(dice) if step is None else peer.receive(*step, dice)
        for send in sends:
            frame = Frame(send.to.id if send.to else 0, peer.own.id, send.message)
            sent = encode(frame)  # in which ages are capped
            assert encode(decode(sent[4:])) == sent
            if send.to:
                assert send.to.id != peer.own.id
        sound(peer)
    for send in [send for _ in range(3) for send in peer.tick(dice)]:
        if send.to:
            peer.unreachable(send.to, send.message)
    sound(peer)


def test_an_event_is_delivered_once_however_often_it_comes() -> None:
    heard: list[m.Event] = []
    peer, dice = core(heard), draws()
    event = m.Event(bytes(16), (0.5,), 0, b"")
    answers = [peer.receive(event, 9, dice) for _ in range(3)]
    assert heard == [event]
    assert [answer[0].message for answer in answers] == [m.Taken(event.name, took=True)] * 3
    assert peer.counts["duplicates"] == 2


def test_an_event_that_does_not_match_is_neither_delivered_nor_forwarded() -> None:
    heard: list[m.Event] = []
    made, dice = core(heard), draws()
    acquaint(made, peer(9), dice)
    for point in ((2.0,), (0.5, 0.5)):
        sends = made.receive(m.Event(bytes(16), point, 0, b""), 9, dice)
        assert [send.message for send in sends] == [m.Taken(bytes(16), took=False)]
    assert heard == []


def test_memory_of_events_is_bounded() -> None:
    made, dice = core(events=10), draws()
    for k in range(50):
        made.receive(m.Event(k.to_bytes(16, "big"), (0.5,), 0, b""), 9, dice)
    assert len(made.events.seen) == 10
    assert len(made.events.open) <= 10


def test_a_reply_without_an_open_exchange_is_ignored() -> None:
    made, dice = core(), draws()
    for reply in (m.Shuffled, m.NearBack):
        made.receive(reply(1, mentioned(mention(peer(9), 0))), 9, dice)
    made.receive(m.RingBack(1, mentioned(mention(peer(9), 0)), mentioned(mention(peer(8), 0))), 9, dice)
    assert made.known() == []
    assert made.counts["ignored"] == 3


def test_a_replayed_reply_changes_nothing() -> None:
    made, dice = core(), draws()
    made.join([peer(9)])
    (request,) = made.shuffle(dice)
    assert isinstance(request.message, m.Shuffle)
    made.receive(m.Shuffled(request.message.exchange, mentioned(mention(peer(8), 0))), 9, dice)
    view = list(made.random.view)
    made.receive(m.Shuffled(request.message.exchange, mentioned(mention(peer(7), 0))), 9, dice)
    assert made.random.view == view


def test_nobody_else_changes_the_descriptor_of_a_known_link() -> None:
    made, dice = core(), draws()
    acquaint(made, peer(9), dice)
    lie = Descriptor.of(9, [0.0], [0.1], ("evil.example", 666))
    made.receive(m.Ring(1, peer(8), Mentions(), mentioned(mention(lie, 0))), 8, dice)
    made.receive(m.Hello(lie), 9, dice)
    assert made.ring.view[9].peer == peer(9)


def test_a_goodbye_is_believed_when_a_probe_is_not_answered() -> None:
    """It may come late: a peer that was told to be gone may be back."""
    made, dice = core(), draws()
    acquaint(made, peer(9), dice)
    made.receive(m.Leave(), 9, dice)
    assert 9 in made.ring.view
    (probe,) = made.probe(dice)
    assert isinstance(probe.message, m.Probe)
    made.receive(m.Probed(probe.message.exchange), 9, dice)
    assert made.probe(dice) == []


@pytest.mark.parametrize("age", [0, 1])
def test_peers_that_are_gone_are_forgotten_when_they_do_not_answer(age: int) -> None:
    """One that somebody heard from in this cycle is taken at once; others have to answer first."""
    made, dice = core(), draws()
    gone = mentioned(*(mention(peer(100 + k, k / 50, (k + 1) / 50), age) for k in range(50)))
    made.receive(m.Ring(1, peer(8), gone, gone), 8, dice)
    assert (len(made.ring.view) > 10) == (age == 0)
    for _ in range(30):
        for send in made.tick(dice):
            if send.to:
                made.unreachable(send.to, send.message)
    assert made.known() == []


def test_a_ring_view_never_grows_beyond_its_cap() -> None:
    made, dice = core(), draws()
    cap = made.settings.overlay.ring.cap
    for part in range(30):
        told = range(100 * part, 100 * part + 100)
        links = mentioned(*(mention(peer(10 + k, k / 3000, (k + 0.5) / 3000), 0) for k in told))
        made.receive(m.Ring(part, peer(8), links, Mentions()), 8, dice)
    assert len(made.ring.view) == cap


def test_an_event_with_the_most_hops_is_delivered_and_not_forwarded() -> None:
    heard: list[m.Event] = []
    made, dice = core(heard), draws()
    for id in (8, 9):
        acquaint(made, peer(id), dice)
    near, far = (m.Event(bytes(15) + bytes([k]), (0.5,), m.MAX_HOPS - 1 + k, b"") for k in range(2))
    assert any(isinstance(send.message, m.Event) for send in made.receive(near, 9, dice))
    sends = made.receive(far, 9, dice)
    assert [send.message for send in sends] == [m.Taken(far.name, took=True)]
    assert heard == [near, far]


def test_a_newcomer_also_learns_of_peers_that_its_ring_view_does_not_need() -> None:
    """On its walk it asks peers that do not overlap it, which its ring view has refused."""
    newcomer, contact, far = core(), peer(5, 8.0, 9.0), peer(6, 6.0, 7.0)
    (ask,) = newcomer.enter([contact])
    assert not newcomer.ring.need.may_be_needed(far)  # remembered as refused
    back = m.RingBack(ask.message.exchange, mentioned(mention(far, 0)), Mentions())
    (onward,) = newcomer.receive(back, contact.id, draws())
    assert isinstance(onward.message, m.Seek)
    assert onward.to == far
