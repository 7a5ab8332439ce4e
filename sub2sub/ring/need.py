"""Which candidates a peer's ring view needs: Figure 3 of Sub-2-Sub, one candidate at a time.

A candidate is needed if it is the nearest neighbour, up the ring or down the ring, for some point of the
peer's box: that is, if nearer neighbours on one of the two sides do not cover its part of the box
(`sub2sub.geometry.cover`). Candidates are offered one after the other. Then the neighbours are dropped that
others have made superfluous. The rest is what Figure 3 selects.

A refused candidate would be refused again as long as no neighbour is removed: its part of the box stays
covered, because a neighbour that is dropped as superfluous is itself covered. So refused candidates are
remembered, which saves nearly all tests once views have converged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.geometry.cover import ask, clip, gathered_for, stack_for
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.memory import LANES32
from sub2sub.overlay.descriptors import Descriptor

REMEMBERED = 4096  # refused candidates, at most; then all are forgotten
REFUSED, TAKEN, NO_ROOM = range(3)  # outcomes for a candidate


class Need:
    """Tests candidates for one peer with the kernels of cover; tests compare it with Figure 3 as printed.

    Parameters
    ----------
    max_steps : int
        `RingSettings.max_steps`: cuts after which a candidate counts as needed, 0 for no limit.
    work : int
        Limit of the work of one call: cuts times boxes times attributes; 0 for no limit. Where there are many
        boxes, a candidate counts as needed after fewer cuts.

    Examples
    --------
    >>> own, far, near, farther = (Descriptor.of(id, [0.0], [1.0]) for id in (50, 80, 60, 85))
    >>> need = Need(own)
    >>> taken, kept = need.offer([], [far, near, farther], cap=0)
    >>> [peer.id for peer in taken], sorted(kept)
    ([80, 60, 85], [60, 85])
    """

    def __init__(self, own: Descriptor, max_steps: int = 0, work: int = 0) -> None:
        self.own, self.max_steps, self.work = own, max_steps, work
        self._id, self._box = np.uint64(own.id), np.array([own.low, own.end])
        self.refused: dict[int, Descriptor] = {}

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
        peers = [*neighbours, *candidates]
        steps = self._steps(len(peers), len(peers) + len(candidates))
        member, outcome = _offer(*self._laid_out(peers), len(neighbours), cap, steps)
        outcomes = list(zip(candidates, outcome[len(neighbours) :].tolist(), strict=True))
        for peer, its in outcomes:
            if its == REFUSED:
                self._remember(peer)
        return [peer for peer, its in outcomes if its == TAKEN], _ids(peers, member)

    def first(self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor]) -> int:
        """Place of the first candidate that a view needs, -1 for none; refuses those before it."""
        laid_out = self._laid_out([*neighbours, *candidates])
        steps = self._steps(len(neighbours), len(candidates))
        place = int(_first(*laid_out, len(neighbours), steps))
        for peer in candidates[: place if place >= 0 else None]:
            self._remember(peer)
        return place

    def kept(self, neighbours: Sequence[Descriptor]) -> set[int]:
        """IDs of the neighbours that others have not made superfluous."""
        steps = self._steps(len(neighbours), len(neighbours))
        return _ids(neighbours, _needed_of(*self._laid_out(neighbours), steps))

    def _laid_out(
        self, peers: Sequence[Descriptor]
    ) -> tuple[NDArray[np.float64], NDArray[np.uint64], NDArray[np.float64]]:
        """The peer's own box, the ways up the ring to others, and their boxes."""
        up = np.array([peer.id for peer in peers], np.uint64) - self._id
        boxes = np.array([peer.low + peer.end for peer in peers], np.float64)
        return self._box, up, boxes.reshape(len(peers), 2, self.own.d)

    def _steps(self, boxes: int, questions: int) -> int:
        """Cuts after which to give up a question, for so many questions about so many boxes."""
        if not self.work:
            return self.max_steps
        steps = max(1, self.work // max(1, questions * boxes * self.own.d))
        return min(self.max_steps, steps) if self.max_steps else steps

    def forget(self) -> None:
        """Note that a neighbour was removed."""
        self.refused.clear()

    def _remember(self, peer: Descriptor) -> None:
        if len(self.refused) >= REMEMBERED:
            self.refused.clear()
        self.refused[peer.id] = peer


@kernel
def _labels(own, boxes):
    """The boxes, and `own` as the last, as ranks of their ends: cover needs integers (`geometry.labels`)."""
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


class _Question(NamedTuple):
    """Boxes in the order of the ring, and working memory of the test for cover."""

    labels: NDArray[np.int32]
    order: NDArray[np.int64]
    place: NDArray[np.int64]  # of each box in this order
    columns: NDArray[np.int32]
    gathered: NDArray[np.int32]
    stack: NDArray[np.int32]
    witness: NDArray[np.int32]
    counts: NDArray[np.int64]


@kernel
def _question(own, up, boxes):
    n, d = boxes.shape[0], boxes.shape[2]
    places = (n + LANES32 - 1) // LANES32 * LANES32
    order, place = np.argsort(up), np.empty(n, np.int64)
    for k in range(n):
        place[order[k]] = k
    return _Question(
        _labels(own, boxes), order, place, np.zeros((2 * d, places), np.int32), gathered_for(places, d),
        stack_for(n, d), np.empty(d, np.int32), np.zeros(3, np.int64),
    )  # fmt: skip


@kernel
def _is_needed(x, member, max_steps, question):
    """Whether x is the nearest member for some point of the peer's box, up the ring or down."""
    labels, columns, stack = question.labels, question.columns, question.stack
    n, d, place = labels.shape[0] - 1, labels.shape[2], question.place[x]
    for side in range(2):
        count = 0
        for step in range(place if side == 0 else n - 1 - place):
            other = question.order[step if side == 0 else n - 1 - step]
            if member[other]:
                for a in range(d):
                    columns[2 * a, count], columns[2 * a + 1, count] = (
                        labels[other, 0, a],
                        labels[other, 1, a],
                    )
                count += 1
        if not clip(labels[n], labels[x], d, stack[0]):
            return False
        if ask(columns, np.int64(0), count, d, max_steps, question) == 0:
            return True
    return False


@kernel
def _drop(member, max_steps, question):
    """Remove the members that others have made superfluous."""
    stays = np.zeros(member.shape[0], np.bool_)
    for x in range(member.shape[0]):
        if member[x]:
            stays[x] = _is_needed(x, member, max_steps, question)
    member[:] = stays


@kernel
def _needed_of(own, up, boxes, max_steps):
    """Which of the members others have not made superfluous."""
    member = np.ones(boxes.shape[0], np.bool_)
    _drop(member, max_steps, _question(own, up, boxes))
    return member


@kernel
def _first(own, up, boxes, members, max_steps):
    """The first box after the `members` that is needed, -1 for none."""
    question, member = _question(own, up, boxes), np.arange(boxes.shape[0]) < members
    for x in range(members, boxes.shape[0]):
        if _is_needed(x, member, max_steps, question):
            return x - members
    return -1


@kernel
def _offer(own, up, boxes, members, cap, max_steps):
    """Offer the boxes after the `members` one after the other; return which stay, and the outcome of each."""
    question, member = _question(own, up, boxes), np.arange(boxes.shape[0]) < members
    outcome = np.full(boxes.shape[0], REFUSED, np.int8)
    size = members
    for x in range(members, boxes.shape[0]):
        if cap > 0 and size >= cap:
            outcome[x] = NO_ROOM
        elif _is_needed(x, member, max_steps, question):
            member[x], outcome[x] = True, TAKEN
            size += 1
    if size > members:
        _drop(member, max_steps, question)
    return member, outcome


def _ids(peers: Sequence[Descriptor], member: NDArray[np.bool_]) -> set[int]:
    return {peer.id for peer, stays in zip(peers, member.tolist(), strict=True) if stays}
