"""The ring layer of a live peer: exchanges whose answers take time.

`sub2sub.peers.ring`, `sub2sub.peers.verification` and `sub2sub.peers.newcomer` make the decisions. This
module keeps what waits for which answer: an exchange for its reply, a verification for the candidate that it
probes, a newcomer for the peers that it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sub2sub.live.core import messages as m
from sub2sub.live.core.clock import NOBODY, Clock
from sub2sub.live.core.exchanges import Exchange, Exchanges
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.newcomer import Newcomer
from sub2sub.peers.ring import Report, RingPeer
from sub2sub.peers.verification import Verification

FED, RING = 126, 1024  # links of the other layers, and ring links, in one message, at most
QUESTIONS = 4  # of a newcomer that wait for an answer at once
VERIFICATIONS = 16  # that wait for an answer at once: this bounds the cost of messages


class RingExchanges:
    """The ring layer of one live peer.

    Parameters
    ----------
    ring : RingPeer
    clock : Clock
    exchanges : Exchanges
    fed : callable
        The present links of the layers below.
    skips_turn : callable
        Whether messages contain only ring links until the next tick (`sub2sub.peers.ring.skips_turn`).

    Attributes
    ----------
    questions : int
        Peers that a newcomer asks at once, when it has a neighbour.
    searches : bool
        Whether it searches as soon as an answer comes (`RingPeer.is_searching`).
    """

    def __init__(
        self, ring: RingPeer, clock: Clock, exchanges: Exchanges, fed: Callable[[], list[Link]],
        skips_turn: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self.ring, self.clock, self.exchanges, self.fed = ring, clock, exchanges, fed
        self.questions, self.skips_turn = QUESTIONS, skips_turn
        self._is_brief, self.searches = False, True
        self._left = 0  # exchanges that it may still begin in this cycle, besides those of its turn
        self._doubted: dict[int, Descriptor] = {}
        self._probes: list[m.Send] = []

    def enter(self, contacts: Iterable[Descriptor]) -> list[m.Send]:
        """Ask contacts, and peers that they name, for ring neighbours (`RingSettings.join`)."""
        if not self.ring.settings.join:
            return []
        return self._ask(Newcomer(self.ring, contacts, self.clock.now))

    def doubt(self, id: int, suspect_age: int) -> None:
        """Probe a neighbour at the next tick, whatever others say: they heard from it before it left."""
        if id in self.ring.view and suspect_age:
            self._doubted[id] = self.ring.view[id].peer
            self.ring.suspect(id, suspect_age, self.clock.now)

    def probe(self, suspect_age: int) -> list[m.Send]:
        """Probe the neighbours that nobody has heard from for a while, and those that are doubted."""
        suspects = {peer.id: peer for peer in self.ring.suspects(suspect_age, self.clock.now)}
        suspects |= {id: peer for id, peer in self._doubted.items() if id in self.ring.view}
        self._doubted.clear()
        return [self._question(peer) for peer in suspects.values()]

    def feed(self) -> list[m.Send]:
        """Drop neighbours that are too old, and consider the links of the other layers.

        Candidates that wait for the answer of another one since the last cycle are considered without it.
        """
        self._is_brief, self._left = self.skips_turn(), self.ring.settings.searches * self.searches
        self.ring.expire(self.clock.now)
        slow = [each.asker for each in self.exchanges.open.values() if isinstance(each.asker, Verification)]
        newcomers = [peer for each in slow for peer in self._verify(each.split())]
        newcomers += self.ring.consider(self.fed(), self.clock.now, self._verify)
        due = self.ring.hellos_due(self.clock.now, self.clock.unit)
        return [*(m.Send(peer, m.Hello(self.ring.own)) for peer in due), *self._follow_up(newcomers)]

    def begin(self, partner: Descriptor) -> list[m.Send]:
        """Send a neighbour all links."""
        expected = self.ring.settings.two_sided
        number = self.exchanges.begin(Exchange(m.RingBack, partner, self.clock.now, expected))
        lists = self._as_mentions(self.ring.report(self._fed_in_messages()))
        return [m.Send(partner, m.Ring(number, self.ring.own, *lists))]

    def answer(self, message: m.Ring) -> list[m.Send]:
        """Consider the links that a neighbour sends, and send it all links."""
        told = self._received(message)
        fed, now = self._fed_in_messages(), self.clock.now
        reply, newcomers = self.ring.answer(message.sender, told, fed, now, self._verify)
        sends = self._follow_up(newcomers)
        if reply is None:
            return sends
        return [m.Send(None, m.RingBack(message.exchange, *self._as_mentions(reply))), *sends]

    def answer_newcomer(self, message: m.Seek) -> list[m.Send]:
        """Send a newcomer all links, and accept it if it is needed."""
        lists = self._as_mentions(self.ring.report(self.fed()))
        return [m.Send(None, m.RingBack(message.exchange, *lists)), *self.hear_of(message.sender)]

    def hear_of(self, sender: Descriptor) -> list[m.Send]:
        """Consider a peer that has accepted this one; it gets no hello in return."""
        self.ring.consider([Link(sender, self.clock.now)], self.clock.now, self._verify)
        return self._follow_up(())

    def hear_of_change(self, old: Descriptor, new: Descriptor) -> list[m.Send]:
        """Consider the peer that another one has changed to."""
        return self._follow_up(self.ring.hear_of_change(old.id, new, self.clock.now, self._verify))

    def finish(self, exchange: Exchange, message: m.RingBack | m.Probed) -> list[m.Send]:
        """Take an answer."""
        asker, partner, now = exchange.asker, exchange.partner, self.clock.now
        if isinstance(asker, Verification):
            asker.answered(now)
            return self._follow_up(self._verify(asker))
        if isinstance(message, m.Probed):
            self.ring.probed(partner.id, now)
            return []
        if isinstance(asker, Newcomer):
            asker.under_way -= 1
            asker.now = now
            told = self._received(message, NOBODY)  # a peer that was refused may lead to others
            asker.answered(partner, [link.peer for links in told for link in links])
            return self._ask(asker)
        sends = self._follow_up(self.ring.finish(partner, self._received(message), now, self._verify))
        return [*sends, *self._search()]

    def _search(self) -> list[m.Send]:
        """Exchange with one more neighbour at once, if a lost one has to be replaced; one after the other."""
        clock, waiting = self.clock, self.exchanges.open.values()
        if not self._left or not self.ring.is_searching(clock.now, clock.unit):
            return []
        if any(each.reply is m.RingBack and each.asker is None for each in waiting):
            return []
        self._left -= 1
        return self.begin(next(each.peer for each in self.ring.in_order() if each.met < 0))

    def fail(self, exchange: Exchange) -> list[m.Send]:
        """Take a missing answer."""
        asker, partner, now = exchange.asker, exchange.partner, self.clock.now
        if isinstance(asker, Verification):
            asker.silent(now)
            return self._follow_up(self._verify(asker))
        if isinstance(asker, Newcomer):
            asker.under_way -= 1
            asker.now = now
            asker.silent(partner)
            return self._ask(asker)
        neighbour = self.ring.view.get(partner.id)
        if neighbour and max(neighbour.since, neighbour.met) > exchange.begun:  # it has sent something since
            return []
        if exchange.reply is m.Probed:
            self.ring.silent(partner, now)
        else:
            self.ring.fail(partner, now)
        return self._search()

    def _ask(self, newcomer: Newcomer) -> list[m.Send]:
        """Ask as many peers as a newcomer may at once: without a neighbour one, which leads to the next."""
        sends = []
        while newcomer.under_way < (self.questions if self.ring.view else 1):
            peer = newcomer.next()
            if peer is None:
                break
            newcomer.under_way += 1
            number = self.exchanges.begin(Exchange(m.RingBack, peer, self.clock.now, asker=newcomer))
            sends.append(m.Send(peer, m.Seek(number, self.ring.own)))
        return sends

    def _verify(self, verification: Verification) -> list[Descriptor]:
        """Verify candidates up to the next that has to be probed; return those accepted."""
        peer = verification.next(self.clock.now)
        if peer is not None and len(self.ring.asking) > VERIFICATIONS:
            verification.give_up()
            verification.next(self.clock.now)
        elif peer is not None:
            self._probes.append(self._question(peer, verification))
        return verification.news()

    def _question(self, peer: Descriptor, asker: Verification | None = None) -> m.Send:
        exchange = Exchange(m.Probed, peer, self.clock.now, asker=asker)
        return m.Send(peer, m.Probe(self.exchanges.begin(exchange)))

    def _follow_up(self, newcomers: Sequence[Descriptor]) -> list[m.Send]:
        """Hellos to accepted peers, and probes of candidates."""
        probes, self._probes = self._probes, []
        at_once = self.ring.settings.hello and not self.ring.settings.hello_after
        told = newcomers if at_once else ()
        return [*(m.Send(peer, m.Hello(self.ring.own)) for peer in told), *probes]

    def _fed_in_messages(self) -> list[Link]:
        """The links of the layers below that go into messages."""
        return [] if self._is_brief else self.fed()

    def _as_mentions(self, report: Report) -> tuple[m.Mentions, m.Mentions]:
        return self.clock.mentions(report.fed[:FED]), self.clock.ring_mentions(report.ring[:RING])

    def _received(
        self, message: m.Ring | m.RingBack, refused: Mapping[int, Descriptor] | None = None
    ) -> Report:
        """The links of a message that were not refused before, with stamps."""
        own, clock = self.ring.own, self.clock
        refused = self.ring.need.refused if refused is None else refused
        fed = clock.links(message.fed, own, refused)[:FED]
        return Report(fed, clock.ring_links(message.ring, own, refused))
