"""Ring links of one live peer: who talks to whom is as in `sub2sub.ring.layer`, whom to keep in `ringrule`.

Where the simulator numbers peers in the order of their IDs and goes by differences of these numbers, a live
peer goes by differences of the IDs: candidates are considered in the order of their distance in ID space.
The neighbours selected do not depend on that order, only who is told *hello* on the way does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw
from sub2sub.live.core.descriptors import Descriptor, Link
from sub2sub.live.core.ring_rule import AROUND, away, overlap, select_one_by_one
from sub2sub.ring.layer import DRAWS
from sub2sub.ring.partner import CHOICE
from sub2sub.ring.settings import Partner, RingSettings

__all__ = ["Neighbour", "RingLinks", "Told"]


@dataclass
class Neighbour:
    """A ring neighbour: last heard from by anybody, taken up, met (-1: never)."""

    peer: Descriptor
    stamp: int
    since: int
    met: int = -1


@dataclass(frozen=True)
class Told:
    """A ring link as another peer tells of it: with when that one took it up."""

    peer: Descriptor
    stamp: int
    since: int


@kernel
def _below(key, k, n):
    return below(draw(key, k), n)


class RingLinks:
    """The ring links of one peer.

    Attributes
    ----------
    view : dict of int to Neighbour
        By sequence ID.
    forgot : int
        When a neighbour was last removed: from then on, what was refused may be needed.
    """

    def __init__(self, own: Descriptor, settings: RingSettings) -> None:
        self.own, self.settings = own, settings
        self.view: dict[int, Neighbour] = {}
        self.forgot = -1

    def in_order(self) -> list[Neighbour]:
        """The neighbours in the order of the ring, starting after oneself."""
        return sorted(self.view.values(), key=lambda each: (each.peer.id - self.own.id) % AROUND)

    def expire(self, now: int) -> None:
        """Remove those that nobody has heard from for too long."""
        if self.settings.max_age:
            for each in self.in_order():
                if each.stamp < now - self.settings.max_age:
                    self.remove(each.peer.id, now)

    def remove(self, id: int, now: int) -> None:
        """Remove a neighbour."""
        del self.view[id]
        self.forgot = now

    def partner(self, turn: int, key: np.uint64) -> Neighbour | None:
        """Whom to exchange with."""
        order = self.in_order()
        if not order:
            return None
        if self.settings.partner == Partner.NEAREST:
            return min((order[0], order[-1]), key=lambda each: away(each.peer.id, self.own.id))
        first = int(_below(key, turn * DRAWS + CHOICE, len(order)))
        if self.settings.partner == Partner.RANDOM:
            return order[first]
        return min(order[first:] + order[:first], key=lambda each: each.met)

    def fail(self, peer: Descriptor, now: int) -> None:
        """Note that a partner did not answer."""
        if peer.id in self.view:
            self.view[peer.id].met = now
            if self.settings.drop_failed:
                self.remove(peer.id, now)

    def heard_from(self, id: int, now: int) -> int:
        """Note a message from a peer, if it is a neighbour; when they last met, -1 for never."""
        each = self.view.get(id)
        if each is None:
            return -1
        before, each.met, each.stamp = each.met, now, now
        return before

    def renew(self, told: Iterable[Told]) -> None:
        """Let the fresher stamp of each shared neighbour win."""
        if self.settings.max_age:
            for link in told:
                if link.peer.id in self.view:
                    each = self.view[link.peer.id]
                    each.stamp = max(each.stamp, link.stamp)

    def new_since(self, told: Iterable[Told], met: int) -> list[Link]:
        """What may be new of another's ring links: not what it had when the two met last.

        What it had then it offered then, and it would be refused again as long as nothing was removed here.
        """
        memory = met if self.forgot < met else -1
        return [Link(link.peer, link.stamp) for link in told if link.since >= memory]

    def consider(self, links: Sequence[Link], now: int) -> list[Descriptor]:
        """Take up what is needed, nearest first, then drop what is no longer; returns the newcomers."""
        oldest = now - self.settings.max_age if self.settings.max_age else 0
        own = self.own
        fit = [
            link
            for link in links
            if link.stamp >= oldest and link.peer.id != own.id and overlap(own, link.peer)
        ]
        unknown = []
        for link in fit:
            if link.peer.id in self.view:
                self._renew(link)
            else:
                unknown.append(link)
        if not unknown:
            return []
        unknown.sort(key=lambda link: away(link.peer.id, own.id))
        neighbours = [each.peer for each in self.view.values()]
        taken, stays = select_one_by_one(
            own, neighbours, [link.peer for link in unknown], self.settings.max_steps, self.settings.cap
        )
        ids = {peer.id for peer in taken}
        for link in unknown:
            if link.peer.id in self.view:
                self._renew(link)
            elif link.peer.id in ids:
                self.view[link.peer.id] = Neighbour(link.peer, link.stamp, since=now)
        if taken:
            self.view = {id: each for id, each in self.view.items() if id in stays}
        return taken

    def suspects(self, age: int, now: int) -> list[Neighbour]:
        """Neighbours that nobody has heard from for `age` cycles."""
        return [each for each in self.in_order() if now - each.stamp >= age] if age else []

    def _renew(self, link: Link) -> None:
        if self.settings.max_age:
            each = self.view[link.peer.id]
            each.stamp = max(each.stamp, link.stamp)
