"""One live peer without clock or socket: its views, and what it makes of ticks, messages and silence.

`tick` lets a cycle pass and returns what to send; `receive` takes a message and returns what to send in turn;
`unreachable` says that a peer could not be reached. Every draw comes from outside, as keys
(`sub2sub.kernels.randomness`), so that a test can hand a swarm of cores exactly what the simulator draws. The
layers' rules are the simulator's own (`randomlinks`, `nearlinks`, `ringlinks`, `spreading`).

What is added here is what a simulated exchange need not know: that a reply may be late or never come. An
exchange is open for `patience` cycles and then taken as failed; a reply to none that is open is ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from sub2sub.cyclon.rules import STREAM as CYCLON
from sub2sub.events.dissemination import STREAM as EVENTS
from sub2sub.live.core import messages as m
from sub2sub.live.core.descriptors import Descriptor, Link, Mention
from sub2sub.live.core.near_links import NearLinks
from sub2sub.live.core.random_links import RandomLinks, Shuffling
from sub2sub.live.core.ring_links import RingLinks, Told
from sub2sub.live.core.settings import CoreSettings
from sub2sub.live.core.spreading import Spreading, Views
from sub2sub.live.core.walking import nearest_to
from sub2sub.ring.layer import STREAM as RING
from sub2sub.vicinity.rules import BACK, FED, HIS_START, THERE
from sub2sub.vicinity.rules import START as MY_START
from sub2sub.vicinity.rules import STREAM as VICINITY

__all__ = ["Core", "Keys"]

START = 1 << 20  # of clocks, so that the stamp of the oldest link one may be told of is not below 0

FEW = 63  # links of one message of CYCLON or VICINITY, at most, as of a view

Keys = Callable[[int], np.uint64]
"""The key of a layer's draws, by the number of the layer's stream, for one tick or one message."""


@dataclass(frozen=True)
class _Open:
    """An exchange that waits for its reply."""

    partner: Descriptor
    begun: int
    state: Shuffling | str


Deliver = Callable[[m.Event], None]


class Core:
    """The state of one peer.

    Parameters
    ----------
    own : Descriptor
        Who it is.
    deliver : callable
        Called with each event the peer wants, once.
    settings : CoreSettings
    unit : int
        Steps of the peer's clock in a cycle. In the simulator everybody's clock moves at once, by 1. Peers
        that tick on their own need a finer one: of many ways a link comes by, the one on which fewest ticks
        fell would make it look youngest, and links to dead peers would live much too long.
    now : int
        Where the clock starts.
    phase : int, optional
        Shifts the cycles of CYCLON's second attempts; by the peer's ID if not given.
    numbers : iterator of int, optional
        Numbers of exchanges; hard to guess where others may forge replies.

    Attributes
    ----------
    counts : Counter
        Of what happened: delivered, duplicates, spam, failed, and what was ignored.
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
    ) -> None:
        self.own, self.deliver, self.unit, self.turn = own, deliver, unit, 0
        self.settings = s = settings or CoreSettings()
        self.now = self._ticked = now
        near, ring = s.overlay.vicinity, s.overlay.ring
        self.random = RandomLinks(own, s.overlay.cyclon, own.id if phase is None else phase)
        self.near = NearLinks(own, replace(near, max_age=near.max_age * unit))
        self.ring = RingLinks(own, replace(ring, max_age=ring.max_age * unit))
        self._contented = 0  # the turn in which the random view was last full, or a contact asked for
        self._suspect_age = s.overlay.suspect_age * unit
        self.events = Spreading(own, s.dissemination)
        self.counts: Counter[str] = Counter()
        self._open: dict[int, _Open] = {}
        self._numbers = numbers or count(1)

    def join(self, contacts: Iterable[Descriptor]) -> None:
        """Begin with some peers as random links."""
        room = self.settings.overlay.cyclon.view
        known = {self.own.id, *(link.peer.id for link in self.random.view)}
        for peer in contacts:
            if peer.id not in known and len(self.random.view) < room and peer.d == self.own.d:
                known.add(peer.id)
                self.random.view.append(Link(peer, self.now))

    def tick(self, keys: Keys) -> list[m.Send]:
        """Let a cycle pass.

        CYCLON comes last, not first as in the simulator: it takes the partner's link out of the view until
        the reply is there, which for a peer that knows one other would leave the other layers nothing.
        """
        self.next_cycle()
        sends = self.give_up()
        for turn in (self.meet_near, self.probe, self.meet_ring, self.shuffle):
            sends += turn(keys)
        return sends

    def next_cycle(self) -> None:
        """Move the clock to the next cycle."""
        self.turn += 1
        self._ticked += self.unit
        self.now = self._ticked

    def advance(self, part: float) -> None:
        """Move the clock on within a cycle of which that part is over.

        It waits at the end until the next tick: a peer that comes to its ticks late must not take those who
        had no chance to tell it otherwise for dead.
        """
        self.now = max(self.now, self._ticked + min(int(part * self.unit), self.unit - 1))

    def wants_contact(self) -> bool:
        """Whether to ask for a contact again, as `sub2sub.cyclon.rendezvous` has it; asked once a cycle."""
        s = self.settings.overlay
        if not s.patience or not s.cyclon.retry or len(self.random.view) >= s.cyclon.view:
            self._contented = self.turn
        elif self.turn - self._contented >= s.patience:
            self._contented = self.turn
            return True
        return False

    def introduce(self, contact: Descriptor) -> None:
        """Name a contact; CYCLON turns to it next."""
        if contact.id != self.own.id and contact.d == self.own.d:
            self.random.lost, self.random.in_vain = contact, False

    def give_up(self) -> list[m.Send]:
        """Take what has not been answered for too long as failed."""
        before = self.now - self.settings.patience * self.unit
        for number in [number for number, each in self._open.items() if each.begun < before]:
            self._fail(number)
        sends = []
        for name, id in self.events.overdue(before):
            sends += self._instead(name, id)
        return sends

    def shuffle(self, keys: Keys) -> list[m.Send]:
        """CYCLON's turn."""
        begun = self.random.begin(self.turn, self.now, keys(CYCLON))
        if begun is None:
            return []
        shuffling, links = begun
        number = self._begin(shuffling.partner, shuffling)
        return [m.Send(shuffling.partner, m.Shuffle(number, self._mentions(links)))]

    def meet_near(self, keys: Keys) -> list[m.Send]:
        """VICINITY's turn."""
        key = keys(VICINITY)
        partner = self.near.feed(self.random.view, self.now, key, FED)
        if partner is None:
            return []
        links = self.near.offer(partner, self.random.view, self.now, key, MY_START)
        return [m.Send(partner, m.Near(self._begin(partner, "near"), self._mentions(links)))]

    def probe(self, keys: Keys) -> list[m.Send]:
        """Ask the ring neighbours that nobody has heard from for a while."""
        suspects = self.ring.suspects(self._suspect_age, self.now)
        return [m.Send(each.peer, m.Probe(self._begin(each.peer, "probe"))) for each in suspects]

    def meet_ring(self, keys: Keys) -> list[m.Send]:
        """The ring layer's turn."""
        key = keys(RING)
        self.ring.expire(self.now)
        sends = self._hello(self.ring.consider(self._fed(), self.now))
        for turn in range(self.settings.overlay.ring.exchanges):
            partner = self.ring.partner(turn, key)
            if partner is None:
                break
            number = self._begin(partner.peer, "ring")
            request = m.Ring(number, self.own, self._mentions(self._fed()), self._told())
            sends.append(m.Send(partner.peer, request))
        return sends

    def publish(self, event: m.Event, keys: Keys) -> list[m.Send]:
        """Begin to spread an event that matches this peer."""
        return self._take(event, -1, keys)

    def leave(self) -> list[m.Send]:
        """Say goodbye to the ring neighbours."""
        return [m.Send(each.peer, m.Leave()) for each in self.ring.in_order()]

    def receive(self, message: m.Message, sender: int, keys: Keys) -> list[m.Send]:
        """Take a message from the peer that says its ID is `sender`."""
        match message:
            case m.Shuffle():
                links = self._few(message.links)
                back = self.random.answer(links, keys(CYCLON))
                return [m.Send(None, m.Shuffled(message.exchange, self._mentions(back)))]
            case m.Near():
                return self._answer_near(message, keys(VICINITY))
            case m.Ring():
                return self._answer_ring(message)
            case m.Hello():
                self.ring.consider(self._links([Mention(message.sender, 0)]), self.now)
                return []
            case m.Probe():
                return [m.Send(None, m.Probed(message.exchange))]
            case m.Event():
                return self._receive_event(message, sender, keys)
            case m.Taken():
                if message.took:
                    self.events.taken(message.name, sender)
                    return []
                return self._instead(message.name, sender)
            case m.Ask():
                return [m.Send(None, self._answer(message))]
            case m.Join():
                return [m.Send(None, m.Welcome(message.exchange, self._introduction()))]
            case m.Leave():
                self._suspect(sender)
                return []
            case m.Shuffled() | m.NearBack() | m.RingBack() | m.Probed():
                return self._finish(message, keys)
            case _:
                self.counts["ignored"] += 1
                return []

    def unreachable(self, to: Descriptor, message: m.Message) -> list[m.Send]:
        """Note that a message could not be sent."""
        self.counts["failed"] += 1
        if isinstance(message, m.Event):
            return self._instead(message.name, to.id)
        number = getattr(message, "exchange", None)
        if number in self._open and self._open[number].partner.id == to.id:
            self._fail(number)
        return []

    def known(self) -> list[Descriptor]:
        """Everybody in any view."""
        links = [*self.near.view, *self.random.view]
        return [link.peer for link in links] + [each.peer for each in self.ring.in_order()]

    def _begin(self, partner: Descriptor, state: Shuffling | str) -> int:
        number = next(self._numbers)
        self._open[number] = _Open(partner, self.now, state)
        return number

    def _fail(self, number: int) -> None:
        each = self._open.pop(number)
        if isinstance(each.state, Shuffling):
            self.random.fail(each.state)
        elif each.state == "near":
            self.near.drop(each.partner)
        elif each.state == "ring":
            self.ring.fail(each.partner, self.now)

    def _finish(self, message: m.Message, keys: Keys) -> list[m.Send]:
        each = self._open.pop(getattr(message, "exchange", -1), None)
        if each is None:
            self.counts["ignored"] += 1
            return []
        if isinstance(message, m.Shuffled) and isinstance(each.state, Shuffling):
            self.random.finish(each.state, self._few(message.links))
        elif isinstance(message, m.NearBack) and each.state == "near":
            self.near.take_up(self._few(message.links), self.now, keys(VICINITY), BACK)
        elif isinstance(message, m.Probed) and each.state == "probe":
            if each.partner.id in self.ring.view:
                self.ring.view[each.partner.id].stamp = self.now
        elif isinstance(message, m.RingBack) and each.state == "ring":
            told = self._heard(message.ring)
            self.ring.renew(told)
            met = self.ring.heard_from(each.partner.id, self.now)
            links = self._links(message.fed) + self.ring.new_since(told, met)
            return self._hello(self.ring.consider(links, self.now))
        else:
            self.counts["ignored"] += 1
        return []

    def _answer_near(self, message: m.Near, key: np.uint64) -> list[m.Send]:
        links = self._few(message.links)
        if not links:
            self.counts["ignored"] += 1
            return []
        back = self.near.offer(links[-1].peer, self.random.view, self.now, key, HIS_START)
        self.near.take_up(links, self.now, key, THERE)
        return [m.Send(None, m.NearBack(message.exchange, self._mentions(back)))]

    def _answer_ring(self, message: m.Ring) -> list[m.Send]:
        if message.sender.id == self.own.id or message.sender.d != self.own.d:
            self.counts["ignored"] += 1
            return []
        now, id = self.now, message.sender.id
        met = self.ring.heard_from(id, now)
        told = self._heard(message.ring)
        self.ring.renew(told)
        sends = []
        if self.settings.overlay.ring.two_sided:
            back = m.RingBack(message.exchange, self._mentions(self._fed()), self._told())
            sends.append(m.Send(None, back))
        links = self._links(message.fed) + self.ring.new_since(told, met) + [Link(message.sender, now)]
        sends += self._hello(self.ring.consider(links, now))
        if met < 0:
            self.ring.heard_from(id, now)
        return sends

    def _receive_event(self, event: m.Event, sender: int, keys: Keys) -> list[m.Send]:
        if len(event.point) != self.own.d or not self.own.matches(event.point):
            self.counts["spam"] += 1
            return [m.Send(None, m.Taken(event.name, took=False))]
        return [m.Send(None, m.Taken(event.name, took=True)), *self._take(event, sender, keys)]

    def _take(self, event: m.Event, sender: int, keys: Keys) -> list[m.Send]:
        if not self.events.is_new(event.name):
            self.counts["duplicates"] += 1
            return []
        self.counts["delivered"] += 1
        self.deliver(event)
        targets = self.events.begin(event, sender, self._views(), self.now, keys(EVENTS))
        onward = m.Event(event.name, event.point, event.hops + 1, event.data)
        return [m.Send(peer, onward) for peer in targets]

    def _instead(self, name: bytes, id: int) -> list[m.Send]:
        """Send an event on past a peer that did not take it."""
        forwarding = self.events.open.get(name)
        targets = self.events.failed(name, id, self._views())
        if forwarding is None:
            return []
        event = forwarding.event
        onward = m.Event(event.name, event.point, event.hops + 1, event.data)
        return [m.Send(peer, onward) for peer in targets]

    def _answer(self, message: m.Ask) -> m.Answer:
        nearest = []
        if len(message.point) == self.own.d:
            nearest = nearest_to(message.point, self.known(), self.settings.offers)
        return m.Answer(message.exchange, tuple(Mention(peer, 0) for peer in (self.own, *nearest)))

    def _introduction(self) -> tuple[Mention, ...]:
        return self._mentions([Link(self.own, self.now), *self.random.view][: self.settings.offers])

    def _suspect(self, id: int) -> None:
        """Probe a neighbour next: if it has left it will not answer, and if it has not it will."""
        if id in self.ring.view and self._suspect_age:
            each = self.ring.view[id]
            each.stamp = min(each.stamp, self.now - self._suspect_age)

    def _hello(self, newcomers: Sequence[Descriptor]) -> list[m.Send]:
        if not self.settings.overlay.ring.hello:
            return []
        return [m.Send(peer, m.Hello(self.own)) for peer in newcomers]

    def _views(self) -> Views:
        return Views(self.near.view, self.random.view, [each.peer for each in self.ring.in_order()])

    def _fed(self) -> list[Link]:
        """The links of the layers below the ring's."""
        return [*self.near.view, *self.random.view]

    def _mentions(self, links: Iterable[Link]) -> tuple[Mention, ...]:
        return tuple(Mention(link.peer, max(self.now - link.stamp, 0)) for link in links)

    def _told(self) -> tuple[Mention, ...]:
        now = self.now
        return tuple(
            Mention(each.peer, max(now - each.stamp, 0), max(now - each.since, 0))
            for each in self.ring.in_order()
        )

    def _links(self, mentions: Iterable[Mention]) -> list[Link]:
        """Mentions as links, but for those of oneself and of another number of attributes."""
        own, now = self.own, self.now
        return [
            Link(each.peer, now - each.age)
            for each in mentions
            if each.peer.id != own.id and each.peer.d == own.d
        ]

    def _few(self, mentions: Iterable[Mention]) -> list[Link]:
        """The same of different peers, and of no more than the rules' masks have bits for."""
        different = {link.peer.id: link for link in self._links(mentions)}
        return list(different.values())[-FEW:]

    def _heard(self, mentions: Iterable[Mention]) -> list[Told]:
        own, now = self.own, self.now
        return [
            Told(each.peer, now - each.age, now - each.held)
            for each in mentions
            if each.peer.id != own.id and each.peer.d == own.d
        ]
