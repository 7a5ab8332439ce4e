"""One peer of VICINITY: its view, the links that it sends, and those that it keeps of what it receives.

Voulgaris, van Steen: *Epidemic-style management of semantic overlays for content-based searching*, 2005;
`sub2sub.compiled.vicinity.layer` lists the differences. Live peers run this class, and the kernels of the
layer must make the same decisions with the same random numbers. The receiver of a link computes its distance
itself.

In a cycle a peer accepts random links and chooses a partner (`feed`), sends it the links nearest to the
partner (`offer`), gets an `answer`, and either accepts its links (`finish`) or drops the partner (`fail`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from sub2sub.peers.descriptors import AROUND, Descriptor, Link, oldest_place, remove_place, ring_distance
from sub2sub.peers.draws import Dice, stream_number
from sub2sub.peers.settings import Tie, VicinitySettings

STREAM = stream_number("vicinity")
# First number of a peer's draws for each purpose.
FED, THERE, BACK, START, PARTNER_START, REQUEST, REPLY = 0, 32, 64, 96, 97, 98, 99

# Bounds of squared distances, which the kernels store as float32 (`sub2sub.compiled.vicinity.proximity`).
LEAST, MOST = float(np.float32(1e-30)), float(np.float32(3e38))
REMEMBERED = 4096  # distances, at most; then all are forgotten


def squared_distance(a: Descriptor, b: Descriptor) -> float:
    """Squared distance of two boxes, 0 only if they overlap (Sub-2-Sub, Section 4.1).

    Squares are summed four at a time, as in the kernels: the sum of floats depends on the order.

    Examples
    --------
    >>> a, b = Descriptor.half_open(1, (0.0,), (1.0,)), Descriptor.half_open(2, (4.0,), (5.0,))
    >>> squared_distance(a, b), squared_distance(a, a)
    (9.0, 0.0)
    """
    total = _exact(a, b)
    return 0.0 if total < 0.0 else float(np.float32(min(max(total, LEAST), MOST)))


def _exact(a: Descriptor, b: Descriptor) -> float:
    """Squared distance before it is rounded; -1 if the boxes overlap."""
    total = a.squared_distance(b)
    # For up to three numbers the order of summation is the same.
    return total if total < 0.0 or len(a.low) <= 3 else _by_fours(a, b)


def _by_fours(a: Descriptor, b: Descriptor) -> float:
    gaps = [max(p - s, r - q, 0.0) for p, q, r, s in zip(a.low, a.end, b.low, b.end, strict=True)]
    squares = [gap * gap for gap in gaps] + [0.0] * (-len(gaps) % 4)
    total = 0.0
    for k in range(0, len(squares), 4):
        total += (squares[k] + squares[k + 1]) + (squares[k + 2] + squares[k + 3])
    return total


def _overlapping_first(target: Descriptor, links: Sequence[Link], wanted: int) -> list[Link]:
    """The `wanted` links nearest to `target`, of equals the first; those that overlap are the nearest."""
    nearest: list[Link] = []
    apart: list[Link] = []
    exact: list[float] = []
    for link in links:
        if len(nearest) == wanted:
            return nearest
        far = _exact(target, link[0])
        if far < 0.0:
            nearest.append(link)
        else:
            apart.append(link)
            exact.append(far)
    gaps = np.minimum(np.maximum(exact, LEAST), MOST).astype(np.float32).tolist()
    order = sorted(range(len(apart)), key=gaps.__getitem__)
    return nearest + [apart[k] for k in order[: wanted - len(nearest)]]


@dataclass(eq=False)
class VicinityPeer:
    """The proximity links of one peer: the nearest it has seen.

    Attributes
    ----------
    around : int
        Number of IDs around the ring, for `Tie.SEQUENCE`.
    distance : function of two descriptors, optional
        Takes the place of the distance of boxes.

    Examples
    --------
    >>> a, near, far = (Descriptor.of(k, [low], [low + 1.0]) for k, low in enumerate((0.0, 0.5, 7.0)))
    >>> peer = VicinityPeer(a, VicinitySettings(view=1))
    >>> peer.feed([Link(far, 0), Link(near, 0)], 1, Dice(7)).id
    1
    """

    own: Descriptor
    settings: VicinitySettings
    around: int = AROUND
    view: list[Link] = field(default_factory=list)
    distance: Callable[[Descriptor, Descriptor], float] | None = None
    _far: dict[int, tuple[Descriptor, float]] = field(default_factory=dict, repr=False)

    def gap(self, a: Descriptor, b: Descriptor) -> float:
        """Distance of two peers; with `Tie.SEQUENCE`, overlapping ones are ordered by their IDs."""
        if self.distance is not None:
            return self.distance(a, b)
        if self.settings.tie == Tie.SEQUENCE and a.overlaps(b):
            share = ring_distance(a.id, b.id, self.around) / self.around
            return float(np.float32(share) * np.float32(LEAST))
        return squared_distance(a, b)

    def gap_to(self, peer: Descriptor) -> float:
        """Distance of a peer from this one; it is remembered, as the same peers occur in every cycle."""
        known = self._far.get(peer.id)
        if known is None or known[0] is not peer:
            if len(self._far) >= REMEMBERED:
                self._far.clear()
            known = self._far[peer.id] = peer, self.gap(self.own, peer)
        return known[1]

    def gaps(self) -> list[float]:
        """Distance of each link of the view."""
        far, gap_to = self._far, self.gap_to
        return [
            known[1] if (known := far.get(peer.id)) and known[0] is peer else gap_to(peer)
            for peer, _ in self.view
        ]

    def worst(self, gaps: list[float] | None = None) -> float:
        """The greatest distance at which a link may be accepted."""
        return max(gaps or self.gaps()) if len(self.view) == self.settings.view else inf

    def feed(self, randoms: Sequence[Link], now: int, dice: Dice) -> Descriptor | None:
        """Accept random links, drop old ones; return the partner, None if no link is left."""
        self._accept(randoms, now, FED, dice)
        oldest_allowed = self._oldest_allowed(now)
        while self.view:
            place = oldest_place(self.view)
            if self.view[place].stamp >= oldest_allowed:
                return self.view[place].peer
            remove_place(self.view, place)
        return None

    def offer(self, partner: Descriptor, randoms: Sequence[Link], now: int, dice: Dice) -> list[Link]:
        """The links to send to a partner."""
        return self._nearest_for(partner, randoms, dice.below(START, max(len(self.view), 1)), now)

    def answer(
        self, sender: Descriptor, received: Sequence[Link], randoms: Sequence[Link], now: int, dice: Dice
    ) -> list[Link]:
        """Accept the links of a request; return those to send back."""
        links = self._nearest_for(sender, randoms, dice.below(PARTNER_START, max(len(self.view), 1)), now)
        self._accept(received, now, THERE, dice)
        return links

    def finish(self, received: Sequence[Link], now: int, dice: Dice) -> None:
        """Accept the links of the reply."""
        self._accept(received, now, BACK, dice)

    def meet(self, peer: Descriptor, now: int) -> None:
        """Keep a newcomer that asks, or a peer that answers one, if it is among the nearest."""
        for place, link in enumerate(self.view):
            if link.peer.id == peer.id:
                self.view[place] = Link(link.peer, max(link.stamp, now))
                return
        gaps = self.gaps()
        if len(self.view) < self.settings.view:
            self.view.append(Link(peer, now))
        elif self.gap_to(peer) < (worst := max(gaps)):
            self.view[gaps.index(worst)] = Link(peer, now)

    def fail(self, partner: Descriptor) -> None:
        """Drop a partner that did not answer, if it is still there."""
        for place, link in enumerate(self.view):
            if link.peer.id == partner.id:
                remove_place(self.view, place)
                return

    def _oldest_allowed(self, now: int) -> int:
        return now - self.settings.max_age if self.settings.max_age else 0

    def _nearest_for(self, target: Descriptor, randoms: Sequence[Link], start: int, now: int) -> list[Link]:
        """The links nearest to `target`, of equals the first from place `start` on; and one to this peer."""
        view = self.view
        known = {link[0].id for link in view}
        known.add(target.id)
        links = [link for link in (*view[start:], *view[:start]) if link[0].id != target.id]
        links += [link for link in randoms if link[0].id not in known]
        wanted = self.settings.shuffle - 1
        if self.settings.tie == Tie.SEQUENCE or self.distance is not None:
            nearest = sorted(links, key=lambda link: self.gap(target, link.peer))[:wanted]
        else:
            nearest = _overlapping_first(target, links, wanted)
        return [*nearest, Link(self.own, now)]

    def _accept(self, received: Sequence[Link], now: int, first: int, dice: Dice) -> None:
        """Keep the nearest links; links to known peers only renew stamps."""
        view, room, oldest_allowed = self.view, self.settings.view, self._oldest_allowed(now)
        gaps = self.gaps()
        worst = self.worst(gaps)
        place_of = {link[0].id: place for place, link in enumerate(view)}
        far, gap_to = self._far, self.gap_to
        news = []
        for link in received:
            peer, stamp = link
            if stamp < oldest_allowed:
                continue
            place = place_of.get(peer.id)
            if place is None:
                known = far.get(peer.id)
                gap = known[1] if known and known[0] is peer else gap_to(peer)
                if gap <= worst:
                    news.append((gap, link))
            elif stamp > view[place][1]:
                view[place] = Link(view[place][0], stamp)
        as_near_as_all = []
        for gap, link in news:
            if len(view) < room:
                view.append(link)
                gaps.append(gap)
                worst = self.worst(gaps)
            elif gap < worst:
                place = gaps.index(worst)
                view[place], gaps[place] = link, gap
                worst = max(gaps)
            elif gap == 0.0:
                as_near_as_all.append(link)
        if self.settings.tie == Tie.RANDOM and worst == 0.0:
            places = dice.sample(first, room, min(room, len(as_near_as_all)))
            for place, link in zip(places, as_near_as_all, strict=False):
                view[place] = link
