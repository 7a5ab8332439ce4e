"""One peer of the ring layer: its view, the links that it sends, and those that it keeps of what it receives.

Sub-2-Sub, Section 4.1 and Figure 3; `sub2sub.compiled.ring.layer` lists differences and additions. Live peers
run this class, and the kernels of the layer must make the same decisions with the same random numbers.

In a cycle a peer drops links that are too old (`expire`), considers the links of the layers below
(`consider`), and sends all its links (`report`) to a neighbour (`partner`). The neighbour considers them and
`answer`s with its own links; the peer considers these (`finish`), or notes that no answer came (`fail`). New
neighbours get a hello.

`sub2sub.peers.need`, or another object with the same answers, decides which candidates are needed. Candidates
are considered in the order of their distance on the ring, equally near ones in the order of their arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sub2sub.peers.descriptors import AROUND, Descriptor, Link, ring_distance
from sub2sub.peers.draws import Dice, stream_number
from sub2sub.peers.need import Need
from sub2sub.peers.settings import Partner, RingSettings
from sub2sub.peers.verification import Tombstones, Verification, Verify

STREAM, VERIFYING = stream_number("ring"), stream_number("ring/verify")
# Numbers of a peer's draws, and how many it has for each exchange.
CHOICE, REQUEST, REPLY, DRAWS = 0, 1, 2, 8
FEW = 16  # neighbours of a small view, at most
SEARCHING = 6  # cycles after it has lost a neighbour in which a peer searches
NEVER = -(10**9)  # when a peer that has lost no neighbour lost the last one


@dataclass(slots=True)
class Neighbour:
    """A ring neighbour: when any peer last heard from it, when it was accepted, and last met (-1: never)."""

    peer: Descriptor
    stamp: int
    since: int
    met: int = -1


class RingLink(NamedTuple):
    """A ring neighbour in a message."""

    peer: Descriptor
    stamp: int
    since: int


make_ring_link = partial(tuple.__new__, RingLink)
"""As `sub2sub.peers.descriptors.make_link`."""


class Report(NamedTuple):
    """The links in a message of an exchange: those of the layers below, and ring neighbours."""

    fed: Sequence[Link]
    ring: Sequence[RingLink]


class RingPeer:
    """The ring links of one peer.

    Parameters
    ----------
    around : int
        Number of IDs around the ring.
    need : Need, optional
        Decides which candidates are needed.
    fresh : int
        Age of a link from which on its peer has to answer before it is accepted: a cycle; 0 where messages
        may be false.

    Attributes
    ----------
    view : dict of int to Neighbour
        By ID.
    last_removal : int
        When a neighbour was last removed: candidates refused before may be needed since then.
    tombstones : Tombstones
        Peers that did not answer, and when.
    asking : set of int
        IDs of candidates that were probed and have not answered yet.

    Examples
    --------
    >>> a, b, c = (Descriptor.of(id, [0.0], [1.0]) for id in (10, 20, 30))
    >>> peer, other = RingPeer(a, RingSettings()), RingPeer(b, RingSettings())
    >>> [peer.id for peer in peer.consider([Link(b, 0)], 1)]
    [20]
    >>> reply, accepted = other.answer(a, peer.report([]), [Link(c, 0)], 1)
    >>> [peer.id for peer in accepted], [peer.id for peer in peer.finish(b, reply, 1)]
    ([10], [30])
    """

    def __init__(
        self, own: Descriptor, settings: RingSettings, around: int = AROUND, need: Need | None = None,
        fresh: int = 1,
    ) -> None:  # fmt: skip
        self.own, self.settings, self.around = own, settings, around
        self.need = need or Need(own, settings.max_steps)
        self.fresh = fresh
        self.view: dict[int, Neighbour] = {}
        self.tombstones = Tombstones()
        self.asking: set[int] = set()
        self.last_removal = NEVER
        self._order: list[Neighbour] | None = []

    def in_order(self) -> list[Neighbour]:
        """The neighbours in the order of the ring, starting with the successor."""
        if self._order is None:
            own, around = self.own.id, self.around
            self._order = sorted(self.view.values(), key=lambda neighbour: (neighbour.peer.id - own) % around)
        return self._order

    def expire(self, now: int) -> None:
        """Remove the neighbours that nobody has heard from for too long."""
        if self.settings.max_age:
            for neighbour in list(self.view.values()):
                if neighbour.stamp < now - self.settings.max_age:
                    self.remove(neighbour.peer.id, now)

    def remove(self, id: int, now: int) -> None:
        """Remove a neighbour."""
        del self.view[id]
        self.last_removal, self._order = now, None
        self.need.forget()

    def last_change(self, now: int) -> int:
        """When a neighbour was last accepted or removed; now, if there is no neighbour."""
        return (
            max([self.last_removal, *[neighbour.since for neighbour in self.view.values()]])
            if self.view
            else now
        )

    def partner(self, turn: int, dice: Dice) -> Descriptor | None:
        """The neighbour to exchange with in the cycle's exchange number `turn`; None without neighbours."""
        order = self.in_order()
        if not order:
            return None
        if self.settings.partner == Partner.NEAREST:
            return min(order[0].peer, order[-1].peer, key=self._distance)
        first = dice.below(turn * DRAWS + CHOICE, len(order))
        if self.settings.partner == Partner.RANDOM:
            return order[first].peer
        return min(order[first:] + order[:first], key=lambda neighbour: neighbour.met).peer

    def is_searching(self, now: int, cycle: int = 1) -> bool:
        """Whether it exchanges once more at once: it lost a neighbour lately, and has not met all others.

        A peer that took the place of a lost neighbour is rarely the nearest. It knows nearer ones.
        """
        if now - self.last_removal >= SEARCHING * cycle or len(self.view) > FEW:
            return False
        return any(neighbour.met < 0 for neighbour in self.view.values())

    def report(self, fed: Sequence[Link]) -> Report:
        """The links to send to a partner."""
        return Report(
            fed,
            [
                make_ring_link((neighbour.peer, neighbour.stamp, neighbour.since))
                for neighbour in self.in_order()
            ],
        )

    def answer(
        self,
        sender: Descriptor,
        received: Report,
        fed: Sequence[Link],
        now: int,
        verify: Verify | None = None,
    ) -> tuple[Report | None, list[Descriptor]]:
        """Consider the links of a request; return those to send back, if any, and the peers accepted."""
        met = self.heard_from(sender.id, now)
        self._renew_all(received.ring)
        reply = self.report(fed) if self.settings.two_sided else None
        new = self._new_since(met, received.ring)
        accepted = self.consider([*received.fed, *new, Link(sender, now)], now, verify, sender.id)
        if met < 0:
            self.heard_from(sender.id, now)
        return reply, accepted

    def finish(
        self, partner: Descriptor, received: Report, now: int, verify: Verify | None = None
    ) -> list[Descriptor]:
        """Consider the links of a reply; return the peers accepted."""
        self._renew_all(received.ring)
        met = self.heard_from(partner.id, now)
        return self.consider([*received.fed, *self._new_since(met, received.ring)], now, verify)

    def fail(self, partner: Descriptor, now: int) -> None:
        """Note that a partner did not answer, if it is still a neighbour."""
        if self.settings.verify:
            self.tombstones.set(partner.id, now)
        if partner.id in self.view:
            self.view[partner.id].met = now
            if self.settings.drop_failed:
                self.remove(partner.id, now)

    def hear_of_change(
        self, old: int, new: Descriptor, now: int, verify: Verify | None = None
    ) -> list[Descriptor]:
        """Replace a peer by the one that it has changed to (`sub2sub.compiled.ring.joining`)."""
        if old in self.view:
            self.remove(old, now)
        if self.settings.verify:
            self.tombstones.set(old, now)
        return self.consider([Link(new, now)], now, verify)

    def consider(
        self,
        links: Iterable[Link | RingLink],
        now: int,
        verify: Verify | None = None,
        sender: int | None = None,
    ) -> list[Descriptor]:
        """Accept needed candidates, nearest first, then drop superfluous neighbours; return those accepted.

        `verify` makes candidates answer before they are accepted (`RingSettings.verify`); without it, they
        are accepted without a probe. Where answers take time, it returns the peers accepted so far.
        """
        unknown = self._unknown(links, now)
        if not unknown:
            return []
        if self.settings.verify and verify is not None:
            return verify(Verification(self, unknown, sender))
        candidates: dict[int, Descriptor] = {}
        for link in unknown:
            candidates.setdefault(link.peer.id, link.peer)
        neighbours = [neighbour.peer for neighbour in self.view.values()]
        taken, kept = self.need.offer(neighbours, list(candidates.values()), self.settings.cap)
        if not taken:
            return []
        new = {peer.id for peer in taken}
        for link in unknown:
            if link.peer.id in self.view:
                self.renew(link)
            elif link.peer.id in new:
                self.accept(link, now)
        self._keep(kept)
        return taken

    def _unknown(self, links: Iterable[Link | RingLink], now: int) -> list[Link | RingLink]:
        """Links that may be needed, nearest first; renews the stamps of neighbours."""
        oldest = now - self.settings.max_age if self.settings.max_age else 0
        view, refused, may_be_needed, own = self.view, self.need.refused, self.need.may_be_needed, self.own.id
        unknown = []
        for link in links:
            peer = link[0]
            if refused.get(id := peer.id) is not peer and link[1] >= oldest:  # most were refused before
                if id in view:
                    self.renew(link)
                elif id != own and may_be_needed(peer):
                    unknown.append(link)
        if len(unknown) > 1:
            unknown.sort(key=lambda link: self._distance(link.peer))
        return unknown

    def accept(self, link: Link | RingLink, now: int, has_met: bool = False) -> None:
        """Add a neighbour."""
        self.view[link.peer.id] = Neighbour(link.peer, link.stamp, since=now, met=now if has_met else -1)
        self._order = None

    def drop_superfluous(self) -> None:
        """Drop the neighbours that others have made superfluous."""
        self._keep(self.need.kept([neighbour.peer for neighbour in self.view.values()]))

    def _keep(self, kept: set[int]) -> None:
        self.view = {id: neighbour for id, neighbour in self.view.items() if id in kept}
        self._order = None

    def heard_from(self, id: int, now: int) -> int:
        """Note a message from a peer, if it is a neighbour; return when they met before, -1 for never."""
        neighbour = self.view.get(id)
        if neighbour is None:
            return -1
        before, neighbour.met, neighbour.stamp = neighbour.met, now, now
        return before

    def suspects(self, age: int, now: int) -> list[Descriptor]:
        """Neighbours to probe: those that nobody has heard from for `age`; none if it is 0.

        With few neighbours, for half as long: a peer hears less of them, and each matters more.
        """
        oldest = (age + 1) // 2 if len(self.view) <= FEW else age
        return (
            [neighbour.peer for neighbour in self.in_order() if now - neighbour.stamp >= oldest]
            if age
            else []
        )

    def suspect(self, id: int, age: int, now: int) -> None:
        """Probe a neighbour next, as if nobody had heard from it for `age`."""
        if id in self.view and age:
            self.view[id].stamp = min(self.view[id].stamp, now - age)

    def hellos_due(self, now: int, cycle: int = 1) -> list[Descriptor]:
        """Neighbours that get a hello now: accepted `hello_after` ago, and not met since."""
        after = self.settings.hello_after
        due = (
            neighbour
            for neighbour in self.in_order()
            if neighbour.met < 0 and now - cycle < neighbour.since + after <= now
        )
        return [neighbour.peer for neighbour in due] if after and self.settings.hello else []

    def silent(self, peer: Descriptor, now: int) -> None:
        """Note that a neighbour did not answer a probe."""
        if self.settings.drop_failed and peer.id in self.view:
            self.fail(peer, now)

    def probed(self, id: int, now: int) -> None:
        """Note that a neighbour answered a probe."""
        if id in self.view:
            self.view[id].stamp = now

    def _distance(self, peer: Descriptor) -> int:
        return ring_distance(peer.id, self.own.id, self.around)

    def _new_since(self, met: int, links: Sequence[RingLink]) -> list[RingLink]:
        """Those of another peer's neighbours that may be new: it did not have them when the two last met.

        It offered the others then. They would be refused again unless a neighbour was removed here since.
        """
        memory = met if self.last_removal < met else -1
        return [link for link in links if link.since >= memory]

    def _renew_all(self, links: Sequence[RingLink]) -> None:
        view, aged = self.view, self.settings.max_age > 0
        for peer, stamp, _ in links:
            neighbour = view.get(peer.id)
            if neighbour is not None and stamp > neighbour.stamp and aged:
                neighbour.stamp = stamp

    def renew(self, link: Link | RingLink) -> None:
        """Keep the fresher stamp of a neighbour."""
        neighbour = self.view[link[0].id]
        if link[1] > neighbour.stamp and self.settings.max_age:
            neighbour.stamp = link[1]


def skips_turn(cycles: Any, calm: int, turn: Any) -> Any:
    """Whether a peer skips its turn, `cycles` after the last change of its ring view.

    Not in Sub-2-Sub, whose peers exchange links of all kinds in every cycle. The layers below serve to find
    ring neighbours; while no peer joins or leaves, they only find the same ones again. A peer whose ring view
    is not empty and has not changed for `calm` cycles is at rest: it begins exchanges of random and proximity
    links only in every `calm`-th cycle, and its messages to ring neighbours contain only ring links in the
    others (Trickle, RFC 6206, slows gossip down in the same way). It answers others as usual, and retries a
    partner of CYCLON that did not answer when that is due. Ring exchanges and probes go on in every cycle.

    Examples
    --------
    >>> [skips_turn(cycles, calm=4, turn=cycles) for cycles in range(2, 9)]
    [False, False, False, True, True, True, False]
    """
    return (calm > 0) & (cycles >= calm) & (turn % max(calm, 1) != 0)
