"""Which candidates a peer's ring view needs: Figure 3 of Sub-2-Sub, one candidate at a time.

A candidate is needed if it is the nearest neighbour, up the ring or down the ring, for some point of the
peer's box: that is, if nearer neighbours on one of the two sides do not cover its part of the box
(`sub2sub.rings.plain`). Candidates are offered one after the other. Then the neighbours are dropped that
others have made superfluous. The rest is what Figure 3 selects.

A refused candidate would be refused again as long as no neighbour is removed: its part of the box stays
covered, because a neighbour that is dropped as superfluous is itself covered. So refused candidates are
remembered, which saves nearly all tests once views have converged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sub2sub.peers.descriptors import AROUND, Coordinates, Descriptor
from sub2sub.rings.plain import Box, intersection, uncovered

UP, DOWN = 1, -1  # the sides: nearer means a shorter way up the ring, or a longer one
REMEMBERED = 4096  # refused candidates, at most; then all are forgotten


class Need:
    """Decides which candidates the ring view of one peer needs.

    Parameters
    ----------
    max_steps : int
        `RingSettings.max_steps`: cuts after which a candidate counts as needed, 0 for no limit.

    Examples
    --------
    >>> own, far, near, farther = (Descriptor.of(id, [0.0], [1.0]) for id in (50, 80, 60, 85))
    >>> need = Need(own)
    >>> taken, kept = need.offer([], [far, near, farther], cap=0)
    >>> [peer.id for peer in taken], sorted(kept)
    ([80, 60, 85], [60, 85])
    """

    def __init__(self, own: Descriptor, max_steps: int = 0) -> None:
        self.own, self.max_steps = own, max_steps
        self.refused: dict[int, Descriptor] = {}
        self._box = _box(own)
        self._places: dict[int, tuple[Descriptor, Box, int]] = {}
        self._proofs: dict[int, tuple[int, Coordinates]] = {}

    def may_be_needed(self, peer: Descriptor) -> bool:
        """Whether to offer a peer: it overlaps, and was not refused before."""
        if self.refused.get(peer.id) is peer:
            return False
        if peer.id != self.own.id and self.own.overlaps(peer):
            return True
        self._remember(peer)
        return False

    def offer(
        self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor], cap: int
    ) -> tuple[list[Descriptor], set[int]]:
        """Offer candidates to a view, in this order; return those accepted, and the IDs of the new view."""
        view, taken = list(neighbours), list[Descriptor]()
        for peer in candidates:
            if cap > 0 and len(view) >= cap:
                break
            if self._proof(peer, view):
                view.append(peer)
                taken.append(peer)
            else:
                self._remember(peer)
        return taken, self.kept(view) if taken else {peer.id for peer in view}

    def first(self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor]) -> int:
        """Place of the first candidate that a view needs, -1 for none; refuses those before it."""
        for place, peer in enumerate(candidates):
            if self._proof(peer, neighbours):
                return place
            self._remember(peer)
        return -1

    def kept(self, neighbours: Sequence[Descriptor]) -> set[int]:
        """IDs of the neighbours that others have not made superfluous.

        The proof that a neighbour is needed holds until a new one contains its point and is nearer.
        """
        known = {each.id for each in neighbours}
        proofs = {id: proof for id, proof in self._proofs.items() if id in known}
        new = [(each, self._way_up(each.id)) for each in neighbours if each.id not in proofs]
        for id, (side, point) in list(proofs.items()):
            way = self._way_up(id)
            if any(side * its_way < side * way and each.matches(point) for each, its_way in new):
                del proofs[id]
        for each in neighbours:
            if each.id not in proofs and (proof := self._proof(each, neighbours)):
                proofs[each.id] = proof
        self._proofs = proofs
        return set(proofs)

    def forget(self) -> None:
        """Note that a neighbour was removed."""
        self.refused.clear()

    def _proof(self, peer: Descriptor, view: Iterable[Descriptor]) -> tuple[int, Coordinates] | None:
        """A point of the box for which no peer of the view is nearer than this one, and on which side."""
        _, part, way = self._place(peer)
        places = [self._place(each) for each in view] if part else []
        for side in (UP, DOWN) if part else ():
            nearer = [its_part for _, its_part, its_way in places if side * its_way < side * way and its_part]
            if point := uncovered(part, nearer, self.max_steps):
                return side, point
        return None

    def _place(self, peer: Descriptor) -> tuple[Descriptor, Box, int]:
        """A peer, the part of the own box that it contains, empty for none, and the way up the ring to it."""
        place = self._places.get(peer.id)
        if place is None or place[0] is not peer:
            if len(self._places) >= REMEMBERED:
                self._places.clear()
            part = intersection(self._box, _box(peer)) or ()
            place = self._places[peer.id] = peer, part, self._way_up(peer.id)
        return place

    def _way_up(self, id: int) -> int:
        return (id - self.own.id) % AROUND

    def _remember(self, peer: Descriptor) -> None:
        if len(self.refused) >= REMEMBERED:
            self.refused.clear()
        self.refused[peer.id] = peer


def _box(peer: Descriptor) -> Box:
    return tuple(zip(peer.low, peer.end, strict=True))
