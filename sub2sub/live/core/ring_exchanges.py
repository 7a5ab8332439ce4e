"""The ring layer of a live peer: its exchanges, while answers take their time.

Every decision is `sub2sub.ring.peer`'s, `sub2sub.ring.verification`'s and `sub2sub.ring.newcomer`'s. What is
added is what waits for which answer: an exchange for its reply, a verification for the candidate that it
probes, a newcomer for the peers that it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sub2sub.live.core import messages as m
from sub2sub.live.core.clock import NOBODY, Clock
from sub2sub.live.core.exchanges import Exchange, Exchanges
from sub2sub.overlay.descriptors import Descriptor, Link, ring_distance
from sub2sub.ring.newcomer import Newcomer
from sub2sub.ring.peer import Report, RingPeer
from sub2sub.ring.verification import Verification

CANDIDATES = 128  # unknown ring neighbours of one message that are considered: each costs processor time
FED, RING = 126, 1024  # links of the other layers, and ring links, in one message, at most
QUESTIONS = 4  # of a newcomer, under way at once
VERIFICATIONS = 16  # under way at once: whatever others tell must not cost more
SILENT = 8  # candidates of a message, then the others are not asked: the sender may have invented them


class RingExchanges:
    """The ring layer of one live peer.

    Parameters
    ----------
    ring : RingPeer
    clock : Clock
    exchanges : Exchanges
    fed : callable
        The links of the layers below, as they are now.
    questions : int
        Peers that a newcomer asks at once, when its walk is over.
    wary : bool
        Whether a message is not followed any further after `SILENT` candidates that are not there.
    skips_turn : callable
        Whether neighbours are told of ring links only until the next tick (`sub2sub.ring.rest`).

    Attributes
    ----------
    teller : str
        The host whose message is being handled, "" during the peer's own turns.
    """

    def __init__(
        self, ring: RingPeer, clock: Clock, exchanges: Exchanges, fed: Callable[[], list[Link]],
        questions: int = QUESTIONS, wary: bool = False, skips_turn: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self.ring, self.clock, self.exchanges, self.fed = ring, clock, exchanges, fed
        self.questions, self.wary, self.skips_turn = questions, wary, skips_turn
        self._is_brief = False
        self.teller = ""
        self._probes: list[m.Send] = []

    def enter(self, contacts: Iterable[Descriptor]) -> list[m.Send]:
        """Ask for ring neighbours at once, from contacts on (`RingSettings.join`)."""
        if not self.ring.settings.join:
            return []
        return self._ask(Newcomer(self.ring, contacts, self.clock.now))

    def probe(self, suspect_age: int) -> list[m.Send]:
        """Ask the neighbours that nobody has heard from for a while."""
        return [self._question(peer) for peer in self.ring.suspects(suspect_age, self.clock.now)]

    def feed(self) -> list[m.Send]:
        """Drop neighbours that are too old, and accept what the other layers have found.

        Candidates that wait behind one that was asked a cycle ago wait no longer.
        """
        self._is_brief = self.skips_turn()
        self.ring.expire(self.clock.now)
        slow = [each.asker for each in self.exchanges.open.values() if isinstance(each.asker, Verification)]
        newcomers = [peer for each in slow for peer in self._verify(each.split())]
        newcomers += self.ring.consider(self.fed(), self.clock.now, self._verify)
        lasting = self.ring.hellos_due(self.clock.now, self.clock.unit)
        return [*(m.Send(peer, m.Hello(self.ring.own)) for peer in lasting), *self._follow_up(newcomers)]

    def begin(self, partner: Descriptor) -> list[m.Send]:
        """Tell a neighbour everything."""
        expected = self.ring.settings.two_sided
        number = self.exchanges.begin(Exchange(m.RingBack, partner, self.clock.now, expected))
        lists = self._mentioned(self.ring.report(self._told_of()))
        return [m.Send(partner, m.Ring(number, self.ring.own, *lists))]

    def answer(self, message: m.Ring) -> list[m.Send]:
        """Accept what a neighbour tells, and tell it everything."""
        told = self._told(message)
        fed, now = self._told_of(), self.clock.now
        reply, newcomers = self.ring.answer(message.sender, told, fed, now, self._verify)
        sends = self._follow_up(newcomers)
        if reply is None:
            return sends
        return [m.Send(None, m.RingBack(message.exchange, *self._mentioned(reply))), *sends]

    def answer_newcomer(self, message: m.Seek) -> list[m.Send]:
        """Tell a newcomer everything, and take it up if it is needed."""
        lists = self._mentioned(self.ring.report(self.fed()))
        return [m.Send(None, m.RingBack(message.exchange, *lists)), *self.hear_of(message.sender)]

    def hear_of(self, sender: Descriptor) -> list[m.Send]:
        """Consider one that has taken this peer up; it is not told so in turn."""
        self.ring.consider([Link(sender, self.clock.now)], self.clock.now, self._verify)
        return self._follow_up(())

    def hear_of_change(self, old: Descriptor, new: Descriptor) -> list[m.Send]:
        """Consider another peer in the place of one."""
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
            told = self._told(message, NOBODY)  # a peer that was refused may know the way
            asker.answered(partner, [link.peer for links in told for link in links])
            return self._ask(asker)
        return self._follow_up(self.ring.finish(partner, self._told(message), now, self._verify))

    def fail(self, exchange: Exchange) -> list[m.Send]:
        """Take silence for an answer."""
        asker, partner, now = exchange.asker, exchange.partner, self.clock.now
        if isinstance(asker, Verification):
            asker.silent(now)
            if self.wary and asker.silences >= SILENT:  # candidates that are needed are offered again
                asker.queue = []
            return self._follow_up(self._verify(asker))
        if isinstance(asker, Newcomer):
            asker.under_way -= 1
            asker.now = now
            asker.silent(partner)
            return self._ask(asker)
        if exchange.reply is m.Probed:
            self.ring.silent(partner, now)
        else:
            self.ring.fail(partner, now)
        return []

    def _ask(self, newcomer: Newcomer) -> list[m.Send]:
        """Ask as many peers as a newcomer may at once: on its walk one, which tells where to go on."""
        sends = []
        while newcomer.under_way < (1 if newcomer.walking else self.questions):
            peer = newcomer.next()
            if peer is None:
                break
            newcomer.under_way += 1
            number = self.exchanges.begin(Exchange(m.RingBack, peer, self.clock.now, asker=newcomer))
            sends.append(m.Send(peer, m.Seek(number, self.ring.own)))
        return sends

    def _verify(self, verification: Verification) -> list[Descriptor]:
        """Go on until a candidate has to be probed; returns those accepted."""
        if verification.teller is None:
            verification.teller = self.teller
        peer = verification.next(self.clock.now)
        if peer is not None and len(self.ring.asking) > VERIFICATIONS:
            verification.give_up()
            verification.next(self.clock.now)
        elif peer is not None:
            self._probes.append(self._question(peer, verification))
        return verification.news()

    def _question(self, peer: Descriptor, asker: Verification | None = None) -> m.Send:
        exchange = Exchange(m.Probed, peer, self.clock.now, asker=asker)
        return m.Send(peer, m.Probe(self.exchanges.begin(exchange)), asker.teller if asker else None)

    def _follow_up(self, newcomers: Sequence[Descriptor]) -> list[m.Send]:
        """Hellos to those that were accepted, and probes of candidates."""
        probes, self._probes = self._probes, []
        at_once = self.ring.settings.hello and not self.ring.settings.hello_after
        told = newcomers if at_once else ()
        return [*(m.Send(peer, m.Hello(self.ring.own)) for peer in told), *probes]

    def _told_of(self) -> list[Link]:
        """Links of the layers below that neighbours are told."""
        return [] if self._is_brief else self.fed()

    def _mentioned(self, report: Report) -> tuple[m.Mentions, m.Mentions]:
        return self.clock.mentions(report.fed[:FED]), self.clock.ring_mentions(report.ring[:RING])

    def _told(self, message: m.Ring | m.RingBack, refused: Mapping[int, Descriptor] | None = None) -> Report:
        """What a message tells that was not refused before, in stamps.

        Of many neighbours only the nearest that are not known yet.
        """
        own, view, clock = self.ring.own, self.ring.view, self.clock
        refused = self.ring.need.refused if refused is None else refused
        links = clock.ring_links(message.ring, own, refused)
        if len(links) > CANDIDATES:
            unknown = sorted(
                (link for link in links if link.peer.id not in view),
                key=lambda link: ring_distance(link.peer.id, own.id),
            )
            links = [link for link in links if link.peer.id in view] + unknown[:CANDIDATES]
        return Report(clock.links(message.fed, own, refused)[:FED], links)
