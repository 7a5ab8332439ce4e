"""Which candidates a peer's ring view needs: Figure 3 of Sub-2-Sub, one candidate at a time.

A candidate is needed if it is the nearest neighbour, up the ring or down the ring, for some point of the
peer's box: if its part of the box is not covered by nearer neighbours on one of the two sides
(`sub2sub.geometry.cover`). Candidates are offered one after the other; then those are dropped that others
have made superfluous. Who is kept in the end is what Figure 3 selects from all of them.

A candidate that was refused is refused again as long as no neighbour was removed: what covered its part then
still covers it, because whatever is dropped for being superfluous is covered itself. So refused candidates
are remembered, which spares nearly all questions once views have converged.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sub2sub.geometry.cover import ask, clip, heap_for, stack_for
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.memory import LANES32
from sub2sub.overlay.descriptors import Descriptor

REMEMBERED = 4096  # refused candidates; then all are forgotten
REFUSED, TAKEN, NO_ROOM = range(3)  # what became of a candidate


class Needed(Protocol):
    """What a ring view asks about candidates; tests answer with Figure 3 as printed.

    Attributes
    ----------
    refused : dict of int to Descriptor
        Candidates that would be refused again, by ID.
    """

    refused: dict[int, Descriptor]

    def may_be(self, peer: Descriptor) -> bool:
        """Whether a peer is worth being offered; False only for one that would be refused."""

    def offer(
        self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor], cap: int
    ) -> tuple[list[Descriptor], set[int]]:
        """Offer candidates to a view, in this order; those accepted, and the IDs of the view afterwards."""

    def first(self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor]) -> int:
        """Place of the first candidate that a view needs, -1 for none."""

    def kept(self, neighbours: Sequence[Descriptor]) -> set[int]:
        """IDs of the neighbours that others have not made superfluous."""

    def forget(self) -> None:
        """Note that a neighbour was removed: whoever was refused may be needed now."""


class Need:
    """The question for one peer, answered by the kernels.

    Parameters
    ----------
    own : Descriptor
    max_steps : int
        `RingSettings.max_steps`: cuts after which a candidate is taken for needed, 0 for never.

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
        self._box = np.array([own.low, own.end])
        self.refused: dict[int, Descriptor] = {}

    def may_be(self, peer: Descriptor) -> bool:
        """Whether a peer is worth being offered."""
        if self.refused.get(peer.id) is peer:
            return False
        if peer.id != self.own.id and self.own.overlaps(peer):
            return True
        self._remember(peer)
        return False

    def offer(
        self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor], cap: int
    ) -> tuple[list[Descriptor], set[int]]:
        """Offer candidates to a view, in this order; those accepted, and the IDs of the view afterwards."""
        order, boxes, member, offered = self._laid_out(neighbours, candidates)
        outcome = _offer(self._box, boxes, member, offered, cap, self.max_steps).tolist()
        for peer, became in zip(candidates, outcome, strict=True):
            if became == REFUSED:
                self._remember(peer)
        taken = [peer for peer, became in zip(candidates, outcome, strict=True) if became == TAKEN]
        return taken, {order[k] for k in np.flatnonzero(member).tolist()}

    def first(self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor]) -> int:
        """Place of the first candidate that a view needs, -1 for none; those before it are refused."""
        _, boxes, member, offered = self._laid_out(neighbours, candidates)
        place = int(_first(self._box, boxes, member, offered, self.max_steps))
        for peer in candidates[: place if place >= 0 else None]:
            self._remember(peer)
        return place

    def kept(self, neighbours: Sequence[Descriptor]) -> set[int]:
        """IDs of the neighbours that others have not made superfluous."""
        order, boxes, member, _ = self._laid_out(neighbours, ())
        _drop_superfluous(self._box, boxes, member, self.max_steps)
        return {order[k] for k in np.flatnonzero(member).tolist()}

    def _laid_out(
        self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor]
    ) -> tuple[list[int], NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        """IDs and boxes in the order of the ring, who of them is a neighbour, and places of candidates."""
        own = self.own.id
        known = {peer.id: peer for peer in candidates}
        known.update((peer.id, peer) for peer in neighbours)
        order = sorted(known, key=lambda id: id - own if id > own else id - own + (1 << 64))
        place = {id: k for k, id in enumerate(order)}
        corners = chain.from_iterable([known[id].low + known[id].end for id in order])
        boxes = np.fromiter(corners, np.float64).reshape(len(order), 2, self.own.d)
        member = np.zeros(len(order), np.bool_)
        member[[place[peer.id] for peer in neighbours]] = True
        return order, boxes, member, np.array([place[peer.id] for peer in candidates], np.int64)

    def forget(self) -> None:
        """Note that a neighbour was removed."""
        self.refused.clear()

    def _remember(self, peer: Descriptor) -> None:
        if len(self.refused) >= REMEMBERED:
            self.refused.clear()
        self.refused[peer.id] = peer


@kernel
def _labels(own, boxes):
    """The boxes, and last `own`, as ranks of their ends: cover needs integers (`geometry.labels`)."""
    n, d = boxes.shape[0], boxes.shape[2]
    labels = np.empty((n + 1, 2, d), np.int32)
    ends = np.empty(2 * n + 2)
    for a in range(d):
        for k in range(n):
            ends[2 * k], ends[2 * k + 1] = boxes[k, 0, a], boxes[k, 1, a]
        ends[2 * n], ends[2 * n + 1] = own[0, a], own[1, a]
        order = np.argsort(ends)
        label = np.int32(0)
        for rank in range(2 * n + 2):
            if rank > 0 and ends[order[rank]] > ends[order[rank - 1]]:
                label += 1
            labels[order[rank] >> 1, order[rank] & 1, a] = label
    return labels


class _Space(NamedTuple):
    """Space to ask for cover."""

    columns: NDArray[np.int32]
    heap: NDArray[np.int32]
    stack: NDArray[np.int32]
    witness: NDArray[np.int32]
    counts: NDArray[np.int64]


@kernel
def _space(n, d):
    places = (n + LANES32 - 1) // LANES32 * LANES32
    return _Space(
        np.zeros((2 * d, places), np.int32), heap_for(places, d), stack_for(n, d), np.empty(d, np.int32),
        np.zeros(3, np.int64),
    )  # fmt: skip


@kernel
def _is_needed(labels, x, member, max_steps, space):
    """Whether x is the nearest member for some point of the peer's box, up the ring or down."""
    n, d = labels.shape[0] - 1, labels.shape[2]
    columns, stack = space.columns, space.stack
    for side in range(2):
        count = 0
        for step in range(x if side == 0 else n - 1 - x):
            other = step if side == 0 else n - 1 - step
            if member[other]:
                for a in range(d):
                    columns[2 * a, count], columns[2 * a + 1, count] = (
                        labels[other, 0, a],
                        labels[other, 1, a],
                    )
                count += 1
        if not clip(labels[n], labels[x], d, stack[0]):
            return False
        covered = ask(
            columns, np.int64(0), count, d, space.heap, stack, max_steps, space.witness, space.counts
        )
        if covered == 0:
            return True
    return False


@kernel
def _drop(labels, member, max_steps, space):
    """Let `member` be those that others have not made superfluous."""
    stays = np.zeros(member.shape[0], np.bool_)
    for x in range(member.shape[0]):
        if member[x]:
            stays[x] = _is_needed(labels, x, member, max_steps, space)
    member[:] = stays


@kernel
def _drop_superfluous(own, boxes, member, max_steps):
    _drop(_labels(own, boxes), member, max_steps, _space(boxes.shape[0], boxes.shape[2]))


@kernel
def _first(own, boxes, member, offered, max_steps):
    """Which of the offered places is the first that is needed, -1 for none."""
    labels, space = _labels(own, boxes), _space(boxes.shape[0], boxes.shape[2])
    for k in range(offered.shape[0]):
        if _is_needed(labels, offered[k], member, max_steps, space):
            return k
    return -1


@kernel
def _offer(own, boxes, member, offered, cap, max_steps):
    """Offer places of `boxes` one after the other; what became of each. `member` is changed to who stays.

    The boxes stand in the order of the ring, starting after the peer itself.
    """
    labels, space = _labels(own, boxes), _space(boxes.shape[0], boxes.shape[2])
    outcome = np.full(offered.shape[0], REFUSED, np.int8)
    size, before = member.sum(), member.sum()
    for k in range(offered.shape[0]):
        x = offered[k]
        if cap > 0 and size >= cap:
            outcome[k] = NO_ROOM
        elif _is_needed(labels, x, member, max_steps, space):
            member[x], outcome[k] = True, TAKEN
            size += 1
    if size > before:
        _drop(labels, member, max_steps, space)
    return outcome
