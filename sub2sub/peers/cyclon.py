"""One peer of CYCLON: its view, the links that it sends, and those that it keeps of what it receives.

Voulgaris, Gavidia, van Steen: *CYCLON: Inexpensive membership management for unstructured P2P overlays*,
2005, Section 3 (enhanced shuffling); `sub2sub.compiled.cyclon.layer` lists differences and additions. Live
peers run this class, and the kernels of the layer must make the same decisions with the same random numbers.

`begin` begins an exchange, or `turn_to` if the partner was chosen before. The partner calls `answer`; then
the peer calls `finish`, or `fail` if no reply came. Other peers may send requests to a live peer while it
waits for the reply. So it remembers to which peers the links led that it sent, and overwrites only those that
are still in the view when the reply arrives.

Rules that the paper does not state: places are drawn in the order of the view; the last link takes the place
of a removed one; of the links that were sent, those in the first places are overwritten first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sub2sub.peers.descriptors import Descriptor, Link, oldest_place, remove_place
from sub2sub.peers.draws import Dice, stream_number
from sub2sub.peers.settings import CyclonSettings

STREAM = stream_number("cyclon")
# First number of a peer's draws for each purpose.
SENT, ANSWERED, REQUEST, REPLY = 0, 32, 64, 65


class Shuffle(NamedTuple):
    """An exchange that a peer has begun."""

    partner: Descriptor
    links: list[Link]  # the links to send
    sent: frozenset[int]  # IDs of the peers whose links may be overwritten
    again: bool  # whether this is a retry of a partner that did not answer


@dataclass(eq=False)
class CyclonPeer:
    """The random links of one peer.

    Attributes
    ----------
    settings : CyclonSettings
        `tries` is not used: the driver decides how often a message is sent.
    phase : int
        Shifts the cycles of retries.
    lost : Descriptor or None
        A partner that did not answer, or a contact named by others, which is tried from time to time.
    failed_again : bool
        Whether `lost` did not answer the retry either.
    since : int
        Cycle in which the view was last full, or in which the peer joined or last asked for a contact.

    Examples
    --------
    >>> a, b, c = (Descriptor.of(id, [0.0], [1.0]) for id in (1, 2, 3))
    >>> peer, partner = CyclonPeer(a, CyclonSettings()), CyclonPeer(b, CyclonSettings())
    >>> peer.view, partner.view = [Link(b, 0)], [Link(c, 0)]
    >>> shuffle = peer.begin(1, 1, Dice(7))
    >>> peer.finish(shuffle, partner.answer(shuffle.links, Dice(7)))
    >>> [link.peer.id for link in peer.view], [link.peer.id for link in partner.view]
    ([3], [3, 1])
    """

    own: Descriptor
    settings: CyclonSettings
    phase: int = 0
    view: list[Link] = field(default_factory=list)
    lost: Descriptor | None = None
    failed_again: bool = False
    since: int = 0

    def join(self, contacts: Iterable[Descriptor], now: int) -> None:
        """Add some contacts to the view, as far as there is room."""
        known = {self.own.id, *(link.peer.id for link in self.view)}
        for peer in contacts:
            if peer.id not in known and len(self.view) < self.settings.view:
                known.add(peer.id)
                self.view.append(Link(peer, now))

    def partner(self, turn: int) -> tuple[Descriptor | None, bool]:
        """The peer to shuffle with, None if none is known; and whether this is a retry."""
        if self._tries_again(turn):
            return self.lost, True
        return (self.view[oldest_place(self.view)].peer if self.view else None), False

    def begin(self, turn: int, now: int, dice: Dice) -> Shuffle | None:
        """Choose a partner, and the links to send; None if no peer is known."""
        partner, again = self.partner(turn)
        return self.turn_to(partner, again, now, dice) if partner else None

    def turn_to(self, partner: Descriptor, again: bool, now: int, dice: Dice) -> Shuffle:
        """Choose the links to send to a partner, and remove the link to it, if it is still there."""
        places = [place for place, link in enumerate(self.view) if link.peer.id == partner.id]
        if places and not again:
            remove_place(self.view, places[0])
        links = self._sample(SENT, self.settings.shuffle - 1, dice)
        sent = frozenset([link.peer.id for link in links])
        return Shuffle(partner, [*links, Link(self.own, now)], sent, again)

    def answer(self, received: Sequence[Link], dice: Dice) -> list[Link]:
        """Accept the links of a request; return those to send back."""
        links = self._sample(ANSWERED, self.settings.shuffle, dice)
        self._accept(received, {link.peer.id for link in links})
        return links

    def finish(self, shuffle: Shuffle, received: Sequence[Link]) -> None:
        """Accept the links of the reply."""
        if shuffle.again and self.lost == shuffle.partner:
            self.lost = None
        self._accept(received, shuffle.sent)

    def fail(self, shuffle: Shuffle) -> None:
        """Note that the partner did not answer; it is retried unless there is another one to retry.

        A partner that fails a retry is kept until another one fails to answer: it may be beyond a partition.
        """
        if shuffle.again:
            self.failed_again = self.failed_again or self.lost == shuffle.partner
        elif self.lost is None or self.failed_again:
            self.lost, self.failed_again = shuffle.partner, False

    def wants_contact(self, turn: int, patience: int) -> bool:
        """Whether to ask for a contact again (`sub2sub.compiled.cyclon.rendezvous`); call it once a cycle."""
        if not patience or not self.settings.retry or len(self.view) >= self.settings.view:
            self.since = turn
        if turn - self.since < max(patience, 1):
            return False
        self.since = turn
        return True

    def introduce(self, contact: Descriptor) -> None:
        """Take a contact, to be tried like a partner that did not answer."""
        self.lost, self.failed_again = contact, False

    def _tries_again(self, turn: int) -> bool:
        """Whether a retry of the partner that did not answer is due."""
        retry = self.settings.retry
        return retry > 0 and self.lost is not None and (not self.view or (turn + self.phase) % retry == 0)

    def _sample(self, first: int, most: int, dice: Dice) -> list[Link]:
        size = len(self.view)
        return [self.view[place] for place in dice.sample(first, size, min(most, size))]

    def _accept(self, received: Sequence[Link], sent: frozenset[int] | set[int]) -> None:
        """Fill free places, then overwrite links that were sent; discard links to known peers."""
        view, room = self.view, self.settings.view
        known = {link.peer.id for link in view}
        known.add(self.own.id)
        places = [place for place, link in enumerate(view) if link.peer.id in sent]
        places.reverse()
        for link in received:
            if link.peer.id in known:
                continue
            if len(view) < room:
                view.append(link)
            elif places:
                view[places.pop()] = link
