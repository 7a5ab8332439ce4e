"""One live peer without clock or socket: how it reacts to ticks, messages and missing answers.

`tick` begins a cycle, `receive` takes a message, and `unreachable` notes that a message could not be sent;
each returns the messages to send. Random numbers are passed in, so that a test can give the cores the same
ones as the simulator. The peers of the protocols make the decisions (`sub2sub.peers.cyclon`,
`sub2sub.peers.vicinity`, `sub2sub.peers.ring`, `sub2sub.peers.forwarding`).

This class adds timeouts, which simulated exchanges do not need: a reply may be late or never come. An
exchange without a reply fails after `patience` cycles. A reply without an open exchange is ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sub2sub.live.core import messages as m
from sub2sub.live.core.clock import START, Clock
from sub2sub.live.core.event_passing import EventPassing
from sub2sub.live.core.event_recovery import EventRecovery
from sub2sub.live.core.exchanges import Exchange, Exchanges
from sub2sub.live.core.ring_exchanges import RingExchanges
from sub2sub.live.core.settings import CoreSettings
from sub2sub.peers.cyclon import STREAM as CYCLON
from sub2sub.peers.cyclon import CyclonPeer
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.draws import Dice
from sub2sub.peers.forwarding import STREAM as EVENTS
from sub2sub.peers.forwarding import Forwarder, PeerLinks
from sub2sub.peers.newcomer import Newcomer
from sub2sub.peers.publisher import nearest_to
from sub2sub.peers.ring import STREAM as RING
from sub2sub.peers.ring import RingPeer, skips_turn
from sub2sub.peers.vicinity import STREAM as VICINITY
from sub2sub.peers.vicinity import VicinityPeer

PATIENT = 5  # times the usual timeout, at most, where answers take long
FEW = 63  # links that are considered of one message of CYCLON or VICINITY, as many as a view may have

Deliver = Callable[[m.Event], None]
Draws = Callable[[int], Dice]
"""The random numbers of a layer, by the layer's stream number, for one tick or one message."""


class Core:
    """The state of one peer.

    Parameters
    ----------
    own : Descriptor
        The peer itself.
    deliver : callable
        Called once with each event that the peer wants.
    settings : CoreSettings
    unit, now : int
        Steps of the peer's clock in a cycle, and its first time (see `Clock`).
    phase : int, optional
        Shifts the cycles in which CYCLON retries a partner; the peer's ID if not given.
    numbers : iterator of int, optional
        Numbers of exchanges; hard to guess where others may forge replies.
    note : callable, optional
        Called with each peer that was asked something, and whether it has answered.

    Attributes
    ----------
    random, near, ring : CyclonPeer, VicinityPeer, RingPeer
        The peer in each layer.
    counts : Counter
        Events delivered, duplicates, spam; messages that failed and that were ignored; and others.

    Examples
    --------
    >>> a, b = (Descriptor.of(id, [0.0], [1.0]) for id in (1, 2))
    >>> core = Core(a, print)
    >>> core.join([b])
    >>> [type(send.message).__name__ for send in core.tick(Dice)]
    ['Near', 'Probe', 'Shuffle']
    """

    def __init__(
        self,
        own: Descriptor,
        deliver: Deliver,
        settings: CoreSettings | None = None,
        unit: int = 1,
        now: int = START,
        phase: int | None = None,
        numbers: Iterator[int] | None = None,
        note: Callable[[Descriptor, bool], None] = lambda peer, answered: None,
    ) -> None:
        self.own, self.deliver, self.note, self.settings = own, deliver, note, settings or CoreSettings()
        overlay = self.settings.overlay
        near, ring = overlay.vicinity, overlay.ring
        self.clock = Clock(unit, now)
        self.random = CyclonPeer(own, overlay.cyclon, own.id if phase is None else phase)
        self.near = VicinityPeer(own, replace(near, max_age=near.max_age * unit))
        self.ring = RingPeer(
            own,
            replace(ring, max_age=ring.max_age * unit, hello_after=ring.hello_after * unit),
            fresh=unit,
        )
        self.events: Forwarder[m.Event] = Forwarder(self.settings.dissemination)
        self.exchanges = Exchanges(numbers)
        self.ring_exchanges = RingExchanges(
            self.ring, self.clock, self.exchanges, self._fed, self._skips_turn
        )
        self.recovery = EventRecovery(
            overlay.recovery, self.clock, self.exchanges, self._ring, self.events.seen
        )
        self.counts: Counter[str] = Counter()
        self.passing = EventPassing(
            own, deliver, self.events, self.recovery, self.clock, self._young_views, self.counts
        )
        self._suspect_age = overlay.suspect_age * unit

    @property
    def now(self) -> int:
        """The time of the peer's clock."""
        return self.clock.now

    @property
    def turn(self) -> int:
        """Cycles so far."""
        return self.clock.turn

    def join(self, contacts: Iterable[Descriptor], age: int = 0) -> None:
        """Take some peers as first random links, which were heard from so long ago."""
        self.random.join([peer for peer in contacts if peer.d == self.own.d], self.now - age)

    def enter(self, contacts: Iterable[Descriptor]) -> list[m.Send]:
        """Ask contacts, and peers that they name, for ring neighbours instead of waiting for gossip."""
        return self.ring_exchanges.enter(peer for peer in contacts if peer.d == self.own.d)

    def tick(self, draws: Draws) -> list[m.Send]:
        """Begin a cycle.

        CYCLON comes last, not first as in the simulator: it removes the partner's link from the view until
        the reply arrives. The other layers of a peer that knows only one other would have no link then.
        """
        self.clock.tick()
        sends = self.give_up()
        for turn in self.turns():
            sends += turn(draws)
        return sends + self.recovery.tick(self.settings.patience * self.clock.unit)

    def turns(self) -> Iterable[Callable[[Draws], list[m.Send]]]:
        """What it does once a cycle, in this order."""
        return self.meet_near, self.probe, self.meet_ring, self.shuffle

    def give_up(self) -> list[m.Send]:
        """Let exchanges and events fail whose answers are overdue."""
        patience = self.settings.patience * self.clock.unit
        patience = max(patience, min(int(self.exchanges.round_trip.most), PATIENT * patience))
        before = self.now - patience
        late = [send for exchange in self.exchanges.overdue(before) for send in self._fail(exchange)]
        return late + [
            send for name, id in self.events.overdue(before) for send in self.passing.instead(name, id)
        ]

    def meet_near(self, draws: Draws) -> list[m.Send]:
        """VICINITY's turn."""
        partner = self.feed_near(draws)
        return self.exchange_near(partner, draws) if partner else []

    def feed_near(self, draws: Draws) -> Descriptor | None:
        """Accept random links as proximity links; return the partner, None if the peer is at rest."""
        partner = self.near.feed(self.random.view, self.now, draws(VICINITY))
        return None if self._skips_turn() else partner

    def exchange_near(self, partner: Descriptor, draws: Draws) -> list[m.Send]:
        """Send a partner the links nearest to it."""
        links = self.near.offer(partner, self.random.view, self.now, draws(VICINITY))
        number = self.exchanges.begin(Exchange(m.NearBack, partner, self.now))
        return [m.Send(partner, m.Near(number, self.clock.mentions(links)))]

    def probe(self, draws: Draws) -> list[m.Send]:
        """Probe the ring neighbours that nobody has heard from for a while."""
        return self.ring_exchanges.probe(self._suspect_age)

    def meet_ring(self, draws: Draws) -> list[m.Send]:
        """The ring layer's turn."""
        sends = self.ring_exchanges.feed()
        for turn in range(self.ring.settings.exchanges):
            partner = self.ring.partner(turn, draws(RING))
            sends += self.ring_exchanges.begin(partner) if partner else []
        return sends

    def shuffle(self, draws: Draws) -> list[m.Send]:
        """CYCLON's turn."""
        partner, again = self.random_partner()
        return self.shuffle_with(partner, again, draws) if partner else []

    def random_partner(self) -> tuple[Descriptor | None, bool]:
        """The partner of the next shuffle, None if the peer is at rest; and whether it is a retry."""
        partner, again = self.random.partner(self.turn)
        return (partner, again) if again or not self._skips_turn() else (None, False)

    def shuffle_with(self, partner: Descriptor, again: bool, draws: Draws) -> list[m.Send]:
        """Send a partner random links."""
        shuffle = self.random.turn_to(partner, again, self.now, draws(CYCLON))
        number = self.exchanges.begin(Exchange(m.Shuffled, partner, self.now, shuffle=shuffle))
        return [m.Send(partner, m.Shuffle(number, self.clock.mentions(shuffle.links)))]

    def wants_contact(self) -> bool:
        """Whether to ask for a contact again; call it once a cycle."""
        return self.random.wants_contact(self.turn, self.settings.overlay.patience)

    def introduce(self, contact: Descriptor) -> None:
        """Let CYCLON shuffle with a contact next."""
        if contact.id != self.own.id and contact.d == self.own.d:
            self.random.introduce(contact)

    def publish(self, event: m.Event, draws: Draws) -> list[m.Send]:
        """Publish an event that matches this peer."""
        return self.passing.take(event, None, lambda: draws(EVENTS))

    def leave(self) -> list[m.Send]:
        """Say goodbye to the ring neighbours."""
        return [m.Send(each.peer, m.Leave()) for each in self.ring.in_order()]

    def receive(self, message: m.Message, sender: int, draws: Draws) -> list[m.Send]:
        """Take a message from the peer with the ID `sender`."""
        match message:
            case m.Shuffle():
                back = self.random.answer(self._few(message.links), draws(CYCLON))
                return [m.Send(None, m.Shuffled(message.exchange, self.clock.mentions(back)))]
            case m.Near():
                return self._answer_near(message, draws)
            case m.Ring() | m.Seek() | m.Hello():
                return self._receive_ring(message)
            case m.Probe():
                return [m.Send(None, m.Probed(message.exchange))]
            case m.Event():
                return self.passing.receive(message, sender, lambda: draws(EVENTS))
            case m.Taken(name, took):
                if not took:  # a peer's box does not change, so there is another peer now
                    self.ring.suspect(sender, self._suspect_age, self.now)
                    return self.passing.instead(name, sender)
                self.passing.taken(name, sender)
                return []
            case m.Changed():
                return self._hear_of_change(message)
            case m.Digest():
                return [self.recovery.answer(message, sender)]
            case m.Ask():
                return [m.Send(None, self._answer(message))]
            case m.Join():
                links = [Link(self.own, self.now), *self.random.view][: self.settings.offers]
                return [m.Send(None, m.Welcome(message.exchange, self.clock.mentions(links)))]
            case m.Leave():
                self.ring_exchanges.doubt(sender, self._suspect_age)  # it may be back by now: probe it
                return []
            case m.Shuffled() | m.NearBack() | m.RingBack() | m.Probed() | m.Lacking():
                return self._finish(message, draws)
            case _:
                return self._ignore()

    def unreachable(self, to: Descriptor, message: m.Message) -> list[m.Send]:
        """Note that a message could not be sent."""
        self.counts["failed"] += 1
        if isinstance(message, m.Event):
            return self.passing.instead(message.name, to.id)
        exchange = self.exchanges.failed(getattr(message, "exchange", -1), to)
        return self._fail(exchange) if exchange else []

    def known(self) -> list[Descriptor]:
        """The peers of all views."""
        return [peer for view in self._views() for peer in view]

    def _skips_turn(self) -> bool:
        """Whether the peer is at rest and begins no exchange of random or proximity links in this cycle."""
        calm = self.settings.overlay.calm
        cycles = (self.now - self.ring.last_change(self.now)) // self.clock.unit if calm else 0
        return bool(skips_turn(cycles, calm, self.turn + self.random.phase))

    def _ignore(self) -> list[m.Send]:
        self.counts["ignored"] += 1
        return []

    def _fail(self, exchange: Exchange) -> list[m.Send]:
        self.note(exchange.partner, False)
        if exchange.shuffle:
            self.random.fail(exchange.shuffle)
        elif exchange.reply is m.NearBack:
            self.near.fail(exchange.partner)
        elif exchange.reply is m.Lacking:
            return self.recovery.fail(exchange)
        else:
            return self.ring_exchanges.fail(exchange)
        return []

    def _finish(self, message: m.Reply, draws: Draws) -> list[m.Send]:
        exchange = self.exchanges.finish(message.exchange, message, self.now)
        if exchange is None:
            return self._ignore()
        self.note(exchange.partner, True)
        match message:
            case m.Shuffled(_, links) if exchange.shuffle:
                self.random.finish(exchange.shuffle, self._few(links))
            case m.NearBack(_, links):
                self.near.finish(self._few(links), self.now, draws(VICINITY))
            case m.RingBack() | m.Probed():
                if isinstance(exchange.asker, Newcomer):
                    self.near.meet(exchange.partner, self.now)
                return self.ring_exchanges.finish(exchange, message)
            case m.Lacking():
                return self.recovery.finish(exchange, message)
        return []

    def _hear_of_change(self, message: m.Changed) -> list[m.Send]:
        """Replace a peer that was asked by the one that its host names instead."""
        exchange, new = self.exchanges.open.get(message.exchange), message.sender
        if exchange is None or new.address != exchange.partner.address or new.d != self.own.d:
            return self._ignore()
        del self.exchanges.open[message.exchange]
        if exchange.shuffle:
            self.random.finish(exchange.shuffle, [Link(new, self.now)])
        self.near.fail(exchange.partner)
        sends = self._fail(exchange) if exchange.asker or exchange.names else []
        return sends + self.ring_exchanges.hear_of_change(exchange.partner, new)

    def _answer_near(self, message: m.Near, draws: Draws) -> list[m.Send]:
        links = self._few(message.links)
        if not links:
            return self._ignore()
        back = self.near.answer(links[-1].peer, links, self.random.view, self.now, draws(VICINITY))
        return [m.Send(None, m.NearBack(message.exchange, self.clock.mentions(back)))]

    def _receive_ring(self, message: m.Ring | m.Seek | m.Hello) -> list[m.Send]:
        if message.sender.id == self.own.id or message.sender.d != self.own.d:
            return self._ignore()
        if isinstance(message, m.Ring):
            return self.ring_exchanges.answer(message)
        if isinstance(message, m.Seek):
            sends = self.ring_exchanges.answer_newcomer(message)
            self.near.meet(message.sender, self.now)  # only now: the answer names who makes way for it
            return sends
        return self.ring_exchanges.hear_of(message.sender)

    def _answer(self, message: m.Ask) -> m.Answer:
        nearest = []
        if len(message.point) == self.own.d:
            nearest = nearest_to(message.point, self.known(), self.settings.offers)
        peers = (self.own, *nearest)
        return m.Answer(message.exchange, m.Mentions(peers, (0,) * len(peers)))

    def _views(self, max_age: int = 0) -> PeerLinks:
        """The peers of all views; with `max_age`, without older random and proximity links."""
        near, random = (
            [link.peer for link in view if not max_age or self.now - link.stamp <= max_age]
            for view in (self.near.view, self.random.view)
        )
        return PeerLinks(near, random, self._ring())

    def _young_views(self) -> PeerLinks:
        """The peers to which events may be forwarded."""
        return self._views(self.settings.dissemination.max_age * self.clock.unit)

    def _ring(self) -> list[Descriptor]:
        return [each.peer for each in self.ring.in_order()]

    def _fed(self) -> list[Link]:
        """The links of the layers below the ring layer."""
        return [*self.near.view, *self.random.view]

    def _few(self, mentions: m.Mentions) -> list[Link]:
        """Links for mentions, one for each peer, and not too many."""
        different = {link.peer.id: link for link in self.clock.links(mentions, self.own)}
        return list(different.values())[-FEW:]
