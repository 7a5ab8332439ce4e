"""One live peer of the shared overlay without clock or socket: Sub-2-Sub's links, and CAMCAST's tables.

A `Core` (`sub2sub.live.core.live_peer`) with two layers more: VICINITY over the points (low, high) of ranges,
and the tables of `hierarchy.peers.tables`. Every decision is theirs; this class adds waiting for
answers. A search and the exchanges of a newcomer go on when the answer to the last question is there. Where
the simulator sends a message again that is not answered, a live peer believes only the second silence.

An event goes along the rings, as of any core, or by CAMCAST's routing (`Routed`), as its publisher likes;
a peer delivers it once, however it comes.

Whether a subscription is a topic's is the last bit of its sequence ID: so every descriptor says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hierarchy.peers.route_choice import OTHERS, Known, likely_size
from hierarchy.peers.router import STREAM as ROUTING
from hierarchy.peers.router import forward, tightest_first
from hierarchy.peers.settings import CamcastRoute, SharedSettings
from hierarchy.peers.tables import POINTS, TableContents, TablePeer
from hierarchy.peers.tables import STREAM as TABLES
from hierarchy.shared.live import table_messages as t
from sub2sub.live.core import messages as m
from sub2sub.live.core.exchanges import Exchange
from sub2sub.live.core.live_peer import Core, Draws
from sub2sub.live.core.settings import CoreSettings
from sub2sub.live.core.suspects import Suspects
from sub2sub.peers.descriptors import AROUND, Coordinates, Descriptor, Link
from sub2sub.peers.vicinity import VicinityPeer

TOLD = 64  # links of one table in one message that are considered, at most
GREETINGS = 32  # in one cycle, at most: whatever others tell must not cost more
TRIES, AGAIN = 3, 256  # times an event is sent that could not be sent, and how many such wait at most
REPLIES = t.AlikeBack | t.Greeted | t.Ways | t.TablesBack


def topical_id(bits: int, topical: bool) -> int:
    """A sequence ID that says whether its subscription is a topic's.

    Examples
    --------
    >>> topical_id(7, False), topical_id(6, True)
    (6, 7)
    """
    return bits & ~1 | int(topical)


def is_topical(peer: Descriptor) -> bool:
    """Whether a peer's subscription is a topic's."""
    return bool(peer.id & 1)


def _bounded() -> SharedSettings:
    settings = SharedSettings()
    return replace(settings, ring=replace(settings.ring, cap=512, max_steps=250))


@dataclass(frozen=True)
class SharedCoreSettings(CoreSettings):
    """Settings of a live peer of the shared overlay: as of any live peer, with those of the tables."""

    overlay: SharedSettings = field(default_factory=_bounded)


class SharedCore(Core):
    """The state of one peer; parameters as of `Core`.

    Attributes
    ----------
    points : VicinityPeer
        Its peers are points, whose address is the peer itself.
    tables : TablePeer
    """

    settings: SharedCoreSettings

    def __init__(self, own: Descriptor, deliver: Any, settings: Any = None, **clock: Any) -> None:
        super().__init__(own, deliver, settings or SharedCoreSettings(), **clock)
        overlay, unit = self.settings.overlay, self.clock.unit
        points, tables = overlay.points, overlay.tables
        self.points = VicinityPeer(_point(own), replace(points, max_age=points.max_age * unit))
        aged = replace(tables, max_age=tables.max_age * unit, suspect_age=tables.suspect_age * unit)
        self.tables = TablePeer(own, aged, topical=is_topical, since=self.now, unit=unit)
        self._questions: Iterator[Descriptor] = iter(())
        self._partners: Iterator[Descriptor] = iter(())
        self._asked = self._greeted = 0
        self._greetings: list[m.Send] = []
        self._again: list[m.Send] = []
        self._tries: dict[tuple[bytes, int], int] = {}
        self.suspects = Suspects()

    @property
    def is_ready(self) -> bool:
        """Whether it may publish by CAMCAST's routing (CAMCAST, Section 5.1)."""
        return self.tables.is_ready(self.now)

    def route(self, event: t.Routed, draws: Draws) -> list[m.Send]:
        """Begin to spread an event of this peer's topic by CAMCAST's routing."""
        return self._take_routed(event, None, draws)

    def known(self) -> list[Descriptor]:
        """Everybody in any view or table."""
        told = (link.peer for table in self.tables.tell() for link in table)
        return [*super().known(), *told, *(link.peer.address for link in self.points.view)]

    def known_of(self, point: Coordinates) -> Known:
        """What it knows of its community, and of those that match an event, from its views."""
        matching = {peer.id: peer for peer in super().known() if peer.matches(point)}
        ways = [(link.peer.id - self.own.id) % AROUND for link in self.tables.equals]
        size = likely_size(self.tables.community_size(), ways, self.tables.settings.neighbours)
        return Known(size, sum(not is_topical(peer) for peer in matching.values()), len(matching))

    def turns(self) -> Iterable[Callable[[Draws], list[m.Send]]]:
        """What it does once a cycle, in this order."""
        near, probe, ring, shuffle = super().turns()
        return self.send_again, near, self.meet_points, probe, ring, self.keep_tables, shuffle

    def send_again(self, draws: Draws) -> list[m.Send]:
        """Send events again that could not be sent: a connection may have broken, and its peer be there."""
        sends, self._again = self._again, []
        return sends

    def meet_points(self, draws: Draws) -> list[m.Send]:
        """The turn of VICINITY over points."""
        randoms = _points(self.random.view)
        partner = self.points.feed(randoms, self.now, draws(POINTS))
        if partner is None:
            return []
        links = self.points.offer(partner, randoms, self.now, draws(POINTS))
        number = self.exchanges.begin(Exchange(t.AlikeBack, partner.address, self.now))
        return [m.Send(partner.address, t.Alike(number, self.clock.mentions(_peers(links))))]

    def keep_tables(self, draws: Draws) -> list[m.Send]:
        """The tables' turn: what the other layers found, then questions, then exchanges."""
        if not is_topical(self.own):
            return []
        self._greeted = self._asked = 0
        self.tables.expire(self.now)
        ring = [Link(each.peer, each.stamp) for each in self.ring.in_order()]
        self._hear([*self._fed(), *_peers(self.points.view), *ring])
        self._questions, self._partners = self.tables.to_ask(self.now), self.tables.partners(self.now)
        return [*self._ask_next(), *self._exchange_next(), *self._flush()]

    def receive(self, message: m.Message, sender: int, draws: Draws) -> list[m.Send]:
        """Take a message: those of the tables and of points here, the others as any core."""
        self.suspects.heard_from(sender)
        match message:
            case t.Routed():
                wanted = self.passing.wants(message.point)
                return self._take_routed(message, sender, draws) if wanted else []
            case t.Count() if is_topical(self.own) and len(message.point) == self.own.d:
                size, ranges, matching, _ = self.known_of(message.point)
                peers = (self.own, *tightest_first(self.tables)[0][:OTHERS])
                above = m.Mentions(peers, (0,) * len(peers))
                return [m.Send(None, t.Counted(message.exchange, above, size or 1.0, ranges, matching))]
            case t.Alike():
                return self._answer_alike(message, draws)
            case t.Greet() | t.Inquire() | t.Tables() if message.sender.d != self.own.d:
                return self._ignore()
            case t.Greet():
                self.tables.heard_from(message.sender, self.now)
                return [m.Send(None, t.Greeted(message.exchange)), *self._flush()]
            case t.Inquire():
                ring = [Link(each.peer, each.stamp) for each in self.ring.in_order()]
                links = self.tables.ways(message.sender, self._asked % 8, self.now, draws(TABLES), ring)
                self._asked += 1
                ways = t.Ways(message.exchange, self.clock.mentions(links))
                return [m.Send(None, ways), *self._flush()]
            case t.Tables():
                told = self._told(message)
                reply = self.tables.answer(message.sender, told, self.now, self._greet)
                back = t.TablesBack(message.exchange, *(self.clock.mentions(each) for each in reply))
                return [m.Send(None, back), *self._flush()]
            case t.AlikeBack() | t.Greeted() | t.Ways() | t.TablesBack():
                return self._finish_table(message, draws)
        return super().receive(message, sender, draws)

    def unreachable(self, to: Descriptor, message: m.Message) -> list[m.Send]:
        """Note that a message could not be sent; an event is sent again in the next cycle, a few times."""
        if isinstance(message, t.Routed):
            self._silent(to)
            key = message.name, to.id
            self._tries[key] = self._tries.pop(key, 0) + 1
            if self._tries[key] < TRIES and len(self._again) < AGAIN:
                self._again.append(m.Send(to, message))
            while len(self._tries) > TRIES * AGAIN:
                del self._tries[next(iter(self._tries))]
        return super().unreachable(to, message)

    def _finish_table(self, message: REPLIES, draws: Draws) -> list[m.Send]:
        exchange = self.exchanges.finish(message.exchange, message, self.now)
        if exchange is None:
            return self._ignore()
        partner = exchange.partner
        match message:
            case t.AlikeBack(_, links):
                self.points.finish(_points(self._few(links)), self.now, draws(POINTS))
                return self._flush()
            case t.Greeted():
                self.tables.heard_from(partner, self.now)
                return self._flush()
            case t.Ways(_, links):
                self.tables.heard_from(partner, self.now)
                self._hear(self._few(links))
                return [*self._ask_next(), *self._flush()]
            case t.TablesBack():
                self.tables.finish(partner, self._told(message), self.now, self._greet)
                return [*self._exchange_next(), *self._flush()]

    def _fail(self, exchange: Exchange) -> list[m.Send]:
        if exchange.reply is t.AlikeBack:
            self.points.fail(_point(exchange.partner))
        elif exchange.reply in (t.Greeted, t.Ways, t.TablesBack):
            self._silent(exchange.partner)
            if exchange.reply is t.Ways:
                return self._ask_next()
            if exchange.reply is t.TablesBack:
                return self._exchange_next()
        else:
            if exchange.reply is m.Probed:
                self._silent(exchange.partner)
            return super()._fail(exchange)
        return []

    def _hear_of_change(self, message: m.Changed) -> list[m.Send]:
        """Take another peer in the place of one that was asked, in tables too."""
        exchange = self.exchanges.open.get(message.exchange)
        sends = super()._hear_of_change(message)
        if exchange is not None and message.exchange not in self.exchanges.open:
            self.points.fail(_point(exchange.partner))
            self.tables.fail(exchange.partner, self.now)
            self.tables.heard_from(message.sender, self.now)
            if exchange.reply is t.Ways:
                sends += self._ask_next()
            elif exchange.reply is t.TablesBack:
                sends += self._exchange_next()
        return sends

    def _silent(self, peer: Descriptor) -> None:
        """Note that a peer did not answer; the second time, forget it."""
        if self.suspects.is_silent_again(peer.id, self.now):
            self.tables.fail(peer, self.now)

    def _ask_next(self) -> list[m.Send]:
        """Put the next question of a search."""
        peer = next(self._questions, None)
        if peer is None:
            return []
        number = self.exchanges.begin(Exchange(t.Ways, peer, self.now))
        return [m.Send(peer, t.Inquire(number, self.own))]

    def _exchange_next(self) -> list[m.Send]:
        """Exchange tables with the next partner."""
        peer = next(self._partners, None)
        if peer is None:
            return []
        number = self.exchanges.begin(Exchange(t.TablesBack, peer, self.now))
        told = (self.clock.mentions(each) for each in self.tables.tell())
        return [m.Send(peer, t.Tables(number, self.own, *told))]

    def _hear(self, links: Iterable[Link]) -> None:
        self.tables.hear(links, self.now, self._greet)

    def _greet(self, peer: Descriptor) -> None:
        """Greet a peer that was accepted; whether it is there turns out later."""
        if self._greeted < GREETINGS:
            self._greeted += 1
            number = self.exchanges.begin(Exchange(t.Greeted, peer, self.now))
            self._greetings.append(m.Send(peer, t.Greet(number, self.own)))

    def _flush(self) -> list[m.Send]:
        """The greetings to send."""
        sends, self._greetings = self._greetings, []
        return sends

    def _told(self, message: t.Tables | t.TablesBack) -> TableContents:
        lists = (message.equals, message.above, message.below)
        return TableContents(*(self.clock.links(each[:TOLD], self.own) for each in lists))

    def _answer_alike(self, message: t.Alike, draws: Draws) -> list[m.Send]:
        links = _points(self._few(message.links))
        if not links:
            return self._ignore()
        randoms = _points(self.random.view)
        back = self.points.answer(links[-1].peer, links, randoms, self.now, draws(POINTS))
        return [m.Send(None, t.AlikeBack(message.exchange, self.clock.mentions(_peers(back))))]

    def _take_routed(self, event: t.Routed, sender: int | None, draws: Draws) -> list[m.Send]:
        if not self.events.is_new(event.name):
            self.counts["duplicates"] += 1
            return []
        self.counts["delivered"] += 1
        self.deliver(m.Event(event.name, event.point, event.hops, event.data))
        if event.hops >= m.MAX_HOPS:
            self.counts["too far"] += 1
            return []
        route, offset = CamcastRoute(event.c, event.g, event.a), int.from_bytes(event.name[:8], "big")
        # Who is not known is taken for an equal: then the event climbs no faster than by its points.
        came_from = None
        if sender is not None:
            came_from = next(
                (peer for peer in self.known() if peer.id == sender), replace(self.own, id=sender)
            )
        views, onward = self.passing.views(), replace(event, hops=event.hops + 1)
        targets = forward(
            self.tables, views, event.point, came_from, route, draws(ROUTING), offset, lambda peer, _: True
        )
        return [m.Send(peer, onward) for peer in targets.values()]


def _point(peer: Descriptor) -> Descriptor:
    """A peer as the point (lows, highs) of its range."""
    corners = peer.low + peer.end
    return Descriptor(peer.id, corners, corners, peer)


def _points(links: Sequence[Link]) -> list[Link]:
    return [Link(_point(link.peer), link.stamp) for link in links]


def _peers(links: Sequence[Link]) -> list[Link]:
    return [Link(link.peer.address, link.stamp) for link in links]
