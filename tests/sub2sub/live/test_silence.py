"""How a core handles missing and late replies: an exchange is open for exactly `patience` cycles.

And the other places where live and simulated peers differ (docs/live.md, "Where live and simulated differ").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sub2sub.live.core import messages as m
from sub2sub.live.core.clock import Clock
from sub2sub.live.core.live_peer import PATIENT, Core, Draws
from sub2sub.live.core.settings import CoreSettings
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.publisher import Move, Walk
from sub2sub.peers.ring import RingLink
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings, PublisherSettings
from tests.sub2sub.live.strategies import mention, mentioned
from tests.sub2sub.live.test_core import OWN, draws, peer
from tests.sub2sub.overlay.engine import FigureThree

PARTNER, OTHER, THIRD = peer(9), peer(8), peer(7)
EVENT = m.Event(bytes(16), (0.5,), 0, b"")


def core(patience: int, unit: int, **ring: object) -> Core:
    overlay = OverlaySettings()
    overlay = replace(overlay, ring=replace(overlay.ring, **{"max_age": 0, "drop_failed": True, **ring}))
    settings = CoreSettings(overlay, DisseminationSettings(shortcuts=0), patience)
    made = Core(OWN, lambda event: None, settings, unit=unit)
    made.clock.tick()
    return made


def open_shuffle(made: Core, dice: Draws) -> list[m.Send]:
    made.join([PARTNER])
    return made.shuffle(dice)


def open_near(made: Core, dice: Draws) -> list[m.Send]:
    made.near.view = [Link(PARTNER, made.now)]
    return made.meet_near(dice)


def open_ring(made: Core, dice: Draws) -> list[m.Send]:
    made.ring.consider([Link(PARTNER, made.now)], made.now)
    return made.meet_ring(dice)


Opening = Callable[[Core, Draws], list[m.Send]]
Seen = Callable[[Core], bool]
KINDS: dict[str, tuple[Opening, Seen, Callable[[int], m.Message], Seen]] = {
    "shuffle": (
        open_shuffle,
        lambda made: made.random.lost == PARTNER,
        lambda number: m.Shuffled(number, mentioned(mention(OTHER, 0))),
        lambda made: [link.peer for link in made.random.view] == [OTHER],
    ),
    "near": (
        open_near,
        lambda made: made.near.view == [],
        lambda number: m.NearBack(number, mentioned(mention(OTHER, 0), mention(PARTNER, 0))),
        lambda made: OTHER in [link.peer for link in made.near.view],
    ),
    "ring": (
        open_ring,
        lambda made: made.ring.view == {},
        lambda number: m.RingBack(number, mentioned(mention(OTHER, 0)), m.Mentions()),
        lambda made: OTHER.id in made.ring.view,
    ),
}
everywhere = pytest.mark.parametrize("patience", [1, 2, 7])
fine_or_coarse = pytest.mark.parametrize("unit", [1, 100])
every_kind = pytest.mark.parametrize("kind", KINDS)


def number_of(sends: list[m.Send]) -> int:
    (number,) = (send.message.exchange for send in sends if hasattr(send.message, "exchange"))
    return int(number)


def next_cycle(made: Core) -> list[m.Send]:
    made.clock.tick()
    return made.give_up()


@everywhere
@fine_or_coarse
@every_kind
def test_an_exchange_fails_after_patience_cycles_of_silence_and_not_before(
    kind: str, unit: int, patience: int
) -> None:
    begin, has_failed, _, _ = KINDS[kind]
    made = core(patience, unit)
    begin(made, draws())
    for _ in range(patience):
        next_cycle(made)
        assert not has_failed(made)
    next_cycle(made)
    assert has_failed(made)
    assert made.exchanges.open == {}


def test_where_answers_come_late_they_are_waited_for_longer_but_not_for_ever() -> None:
    patience = 2
    made = core(patience, 100)

    def cycles_until_failure() -> int:
        made.near.view = [Link(PARTNER, made.now)]
        (sent,) = made.exchange_near(PARTNER, draws())
        cycles = 0
        while made.near.view:
            next_cycle(made)
            cycles += 1
        late.append(sent.message.exchange)
        return cycles

    late: list[int] = []
    assert cycles_until_failure() == patience + 1
    made.receive(m.NearBack(late[-1], m.Mentions()), PARTNER.id, draws())  # after all
    assert patience + 1 < cycles_until_failure() <= PATIENT * patience + 1
    for _ in range(50):
        made.exchange_near(PARTNER, draws())
        made.receive(m.NearBack(max(made.exchanges.open), m.Mentions()), PARTNER.id, draws())  # at once
    assert cycles_until_failure() == patience + 1


@everywhere
@fine_or_coarse
@every_kind
def test_a_reply_is_taken_up_in_time_and_ignored_when_it_is_late(kind: str, unit: int, patience: int) -> None:
    begin, _, reply, was_taken_up = KINDS[kind]
    for late, cycles in ((False, patience), (True, patience + 1)):
        made, dice = core(patience, unit), draws()
        number = number_of(begin(made, dice))
        for _ in range(cycles):
            next_cycle(made)
        made.receive(reply(number), PARTNER.id, dice)
        assert was_taken_up(made) is not late
        assert made.counts["ignored"] == int(late)


@everywhere
@fine_or_coarse
def test_an_event_goes_round_a_silent_neighbour_after_patience_cycles(unit: int, patience: int) -> None:
    made, dice = core(patience, unit), draws()
    ring = peer(9, 0, 0.6), peer(30, 0, 0.7), peer(40), peer(60)
    made.ring.consider([Link(each, made.now) for each in ring], made.now)
    assert [send.to.id for send in made.publish(EVENT, dice) if send.to] == [9, 60]
    made.receive(m.Taken(EVENT.name, took=True), 60, dice)
    for instead in (30, 40):  # whoever is sent to instead has as long
        for _ in range(patience):
            assert next_cycle(made) == []
        assert [send.to.id for send in next_cycle(made) if send.to] == [instead]


def test_an_event_that_is_refused_goes_to_the_next_at_once() -> None:
    made, dice = core(patience=7, unit=1), draws()
    made.ring.consider([Link(each, made.now) for each in (peer(9, 0, 0.6), peer(30), peer(60))], made.now)
    assert [send.to.id for send in made.publish(EVENT, dice) if send.to] == [9, 60]
    instead = made.receive(m.Taken(EVENT.name, took=False), 9, dice)
    assert [(send.to.id, send.message) for send in instead if send.to] == [(30, replace(EVENT, hops=1))]


@fine_or_coarse
def test_a_probe_that_is_answered_makes_a_link_fresh_and_silence_does_not(unit: int) -> None:
    for answered in (True, False):
        made, dice = core(patience=2, unit=unit, max_age=9), draws()
        made.ring.consider([Link(PARTNER, made.now)], made.now)
        for _ in range(OverlaySettings().suspect_age // 2):  # half as long, as it has one neighbour
            assert made.probe(dice) == []
            next_cycle(made)
        (probe,) = made.probe(dice)
        if answered:
            made.receive(m.Probed(number_of([probe])), PARTNER.id, dice)
        for _ in range(4):
            next_cycle(made)
        made.ring.expire(made.now)
        assert (PARTNER.id in made.ring.view) is answered


@pytest.mark.parametrize("since", ["nothing", "accepted", "met"])
def test_a_question_from_before_a_neighbour_was_heard_from_does_not_cost_it_its_place(since: str) -> None:
    """After standing still a peer gave up its last exchanges one by one, and its neighbour each time.

    Another dropped its only neighbour for a message that had got lost three cycles before, while it heard it.
    """
    made = core(patience=2, unit=1)
    open_ring(made, draws())
    if since != "nothing":
        made.clock.tick()
    if since == "accepted":  # it was dropped meanwhile, and has answered since
        made.ring.fail(PARTNER, made.now)
        made.ring.consider([Link(PARTNER, made.now)], made.now)
    elif since == "met":
        made.ring.heard_from(PARTNER.id, made.now)
    for _ in range(3):
        assert PARTNER.id in made.ring.view
        made.clock.tick()
        made.give_up()
    assert (PARTNER.id in made.ring.view) == (since != "nothing")


def test_without_two_sided_exchanges_a_missing_reply_is_no_failure() -> None:
    made = core(patience=1, unit=1, two_sided=False)
    open_ring(made, draws())
    for _ in range(5):
        next_cycle(made)
    assert PARTNER.id in made.ring.view
    assert made.exchanges.open == {}


def test_a_request_during_an_open_shuffle_loses_no_link() -> None:
    """Links that were sent and overwritten meanwhile are not overwritten again."""
    overlay = OverlaySettings()
    overlay = replace(overlay, cyclon=replace(overlay.cyclon, view=2, shuffle=2))
    made, dice = Core(OWN, lambda event: None, CoreSettings(overlay=overlay)), draws()
    made.random.view = [Link(PARTNER, 0), Link(OTHER, 1)]
    (request,) = made.shuffle(dice)
    assert isinstance(request.message, m.Shuffle)
    made.receive(m.Shuffle(5, mentioned(mention(peer(20), 0), mention(peer(21), 0))), 21, dice)
    assert {link.peer.id for link in made.random.view} == {20, 21}  # the sent one went to the asker
    made.receive(m.Shuffled(request.message.exchange, mentioned(mention(peer(30), 0))), PARTNER.id, dice)
    assert {link.peer.id for link in made.random.view} == {20, 21}


def test_a_contact_named_while_an_old_one_is_tried_in_vain_is_tried_next() -> None:
    made = core(patience=1, unit=1)
    made.introduce(PARTNER)
    (request,) = made.shuffle(draws())
    made.introduce(OTHER)
    made.unreachable(PARTNER, request.message)
    assert (made.random.lost, made.random.failed_again) == (OTHER, False)


def test_a_contact_with_other_attributes_or_that_is_the_peer_itself_is_ignored() -> None:
    made = core(patience=1, unit=1)
    for contact in (Descriptor.of(9, [0.0, 0.0], [1.0, 1.0]), OWN):
        made.introduce(contact)
        assert made.random.lost is None
    made.introduce(PARTNER)
    assert made.random.lost == PARTNER


def test_a_neighbour_that_said_goodbye_is_probed_and_dropped_sooner() -> None:
    made, dice = core(patience=1, unit=100, max_age=9), draws()
    made.ring.consider([Link(PARTNER, made.now), Link(OTHER, made.now)], made.now)
    made.receive(m.Leave(), PARTNER.id, dice)
    assert [send.to for send in made.probe(dice)] == [PARTNER]
    for _ in range(9 - OverlaySettings().suspect_age + 1):
        next_cycle(made)
    made.ring.expire(made.now)
    assert list(made.ring.view) == [OTHER.id]


def test_a_goodbye_is_not_undone_by_what_others_heard_before_it() -> None:
    made, dice = core(patience=1, unit=100, max_age=9), draws()
    made.ring.consider([Link(PARTNER, made.now), Link(OTHER, made.now)], made.now)
    made.receive(m.Leave(), PARTNER.id, dice)
    made.ring.renew(Link(PARTNER, made.now))
    assert [send.to for send in made.probe(dice)] == [PARTNER]
    assert made.probe(dice) == []


def test_goodbyes_in_the_names_of_strangers_are_not_remembered() -> None:
    made, dice = core(patience=1, unit=100), draws()
    for id in range(100, 200):
        made.receive(m.Leave(), id, dice)
    made.ring.consider([Link(peer(150), made.now)], made.now)
    assert made.probe(dice) == []


def test_a_clock_waits_for_its_tick_and_never_goes_back() -> None:
    clock = Clock(unit=100, now=0)
    for part, expected in ((0.25, 25), (0.1, 25), (7.0, 99), (0.5, 99)):
        clock.advance(part)
        assert clock.now == expected
    clock.tick()
    assert (clock.now, clock.turn) == (100, 1)


@fine_or_coarse
def test_links_last_as_many_cycles_with_any_unit_of_the_clock(unit: int) -> None:
    made, dice = core(patience=1, unit=unit, max_age=9), draws()
    near = OverlaySettings().vicinity.max_age
    made.near.view = [Link(PARTNER, made.now)]
    made.ring.consider([Link(PARTNER, made.now)], made.now)
    for cycle in range(1, near + 2):
        made.clock.tick()
        made.ring.expire(made.now)
        assert (PARTNER.id in made.ring.view) is (cycle <= 9)
        assert (made.near.feed([], made.now, dice(0)) == PARTNER) is (cycle <= near)


def test_ages_in_messages_are_converted_by_the_clocks_of_sender_and_receiver() -> None:
    teller, hearer = Clock(unit=100, now=5000), Clock(unit=100, now=70)
    mentions = teller.ring_mentions([RingLink(OTHER, 4700, 4900)])
    assert mentions == mentioned(mention(OTHER, 300, 100))
    assert hearer.ring_links(mentions, OWN) == [RingLink(OTHER, -230, -30)]
    assert hearer.links(mentions, OWN) == [Link(OTHER, -230)]
    assert hearer.links(mentioned(mention(OWN, 0)), OWN) == []


def test_several_ring_exchanges_of_a_cycle_are_begun_together() -> None:
    made = core(patience=1, unit=1, exchanges=2)
    made.ring.consider([Link(PARTNER, made.now), Link(OTHER, made.now)], made.now)
    assert [type(send.message) for send in made.meet_ring(draws())] == [m.Ring, m.Ring]


def test_a_request_is_sent_once_because_tcp_repeats() -> None:
    made = core(patience=1, unit=1)
    assert made.random.settings.tries > 1
    assert len(open_shuffle(made, draws())) == 1


def test_a_publisher_that_has_asked_everybody_it_knows_has_nobody_left_to_ask() -> None:
    walk = Walk((0.5,), PublisherSettings())
    walk.learn([peer(9, 0.8, 0.9)])
    assert walk.next() == Move(peer(9, 0.8, 0.9), hand_over=False)
    assert walk.next() == Move(None, hand_over=False)


class Delayed:
    """Cores whose messages take some cycles in each direction."""

    def __init__(self, n: int, delay: int, patience: int) -> None:
        rng = np.random.default_rng(5)
        lows = rng.random(n) * 0.7
        self.peers = [
            Descriptor.of(int(id), [low], [low + 0.3], ("127.0.0.1", 1))
            for id, low in zip(rng.integers(0, 2**62, n), lows, strict=True)
        ]
        settings = CoreSettings(patience=patience)
        self.cores = {own.id: Core(own, lambda event: None, settings) for own in self.peers}
        for k, own in enumerate(self.peers[1:]):
            self.cores[own.id].join([self.peers[k]])
        self.delay, self.dice, self.cycle = delay, draws(), 0
        self.on_their_way: dict[int, list[tuple[int, int, m.Message]]] = defaultdict(list)

    def post(self, sender: int, sends: list[m.Send], asker: int = 0) -> None:
        arrival = self.cycle + self.delay
        for send in sends:
            to = send.to.id if send.to else asker
            self.on_their_way[arrival].append((sender, to, send.message))

    def step(self) -> None:
        self.cycle += 1
        for id, core in self.cores.items():
            self.post(id, core.tick(self.dice))
        for sender, to, message in self.on_their_way.pop(self.cycle, []):
            self.post(to, self.cores[to].receive(message, sender, self.dice), sender)

    def count(self, name: str) -> int:
        return sum(core.counts[name] for core in self.cores.values())

    def complete(self) -> bool:
        """Whether all ring views are what Figure 3 selects from all peers."""
        return all(
            set(core.ring.view)
            == FigureThree(core.own).needed(
                {each.id: each for each in self.peers if each is not core.own and core.own.overlaps(each)}
            )
            for core in self.cores.values()
        )


def test_rings_close_when_replies_come_just_in_time() -> None:
    swarm = Delayed(24, delay=1, patience=2)
    for _ in range(60):
        swarm.step()
    assert swarm.count("ignored") == 0
    assert swarm.complete()
    assert not any(core.random.lost for core in swarm.cores.values())


def test_every_reply_is_ignored_when_all_come_too_late() -> None:
    swarm = Delayed(24, delay=1, patience=0)
    for _ in range(30):
        swarm.step()
    assert swarm.count("ignored") > 24 * 30
