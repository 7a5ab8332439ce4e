"""Is a box covered by a union of boxes? The question all ring selection comes down to.

Figure 3 of Sub-2-Sub keeps the remainder `space` of a node's box after each selected neighbour and
asks whether the next candidate intersects it. Kept literally, the remainder shatters: 650,000 boxes for
one node with five attributes. The equivalent question needs no remainder: *is the candidate's part of the
node's box covered by the union of the nearer neighbours?* It is answered depth first: cut the neighbour that
shares most out of the box, and ask again for each of the at most 2d pieces that are left. The first
piece that nothing touches is an answer; so is an empty stack.

`sub2sub.rings.plain` is the readable form; both give the same answers.

Boxes are half-open and have integer coordinates (`sub2sub.compiled.ring_views.labels`), so cutting is exact,
and the low corner of an uncovered piece is a *witness*: a point of the box that no neighbour covers. A piece
is a row (low, high, low, high, ...); the boxes stand in columns, nearest first
(`sub2sub.compiled.ring_views.pieces`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import LANES32
from sub2sub.compiled.machinery.compilation import apart, kernel, plain, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.ring_views.pieces import cut_out, gather_touching, largest_share, piece_width


@by_reference
class CoverSpace(NamedTuple):
    """Space for `ask`."""

    gathered: NDArray[np.int32]  # from `gathered_for(places, d)`
    stack: NDArray[np.int32]  # from `stack_for(count, d)` or larger; the piece asked about is `stack[0]`
    witness: NDArray[np.int32]  # (d,) a point of the piece outside all boxes, if it is not covered
    counts: NDArray[np.int64]  # questions, cuts, and questions given up are added to the first three


@rule
def stack_rows(boxes, d):
    """Pieces that `ask` may have to keep for that many boxes.

    Each cut removes one box from everything above it, and leaves at most two pieces per attribute. The last
    cut may write one more that turns out to be empty.
    """
    return 2 * d * (boxes + 1) + 2


@kernel
def stack_for(boxes, d):
    """A stack deep enough for `ask` with that many boxes."""
    return np.empty((stack_rows(boxes, d), piece_width(d)), np.int32)


@kernel
def gathered_for(boxes, d):
    """Space for the boxes that touch a piece, and for where they stand."""
    return np.empty((2 * d + 1, boxes), np.int32)


def new_gathered(boxes: int, d: int) -> NDArray[np.int32]:
    """As `gathered_for`, for Python."""
    return plain(gathered_for)(boxes, d)  # type: ignore[no-any-return]


def new_stack(boxes: int, d: int) -> NDArray[np.int32]:
    """As `stack_for`, for Python."""
    return np.empty((plain(stack_rows)(boxes, d), plain(piece_width)(d)), np.int32)


@rule
def clip(a, b, d, piece):
    """Write the intersection of two boxes (2, d) as a piece; whether it is not empty."""
    some = True
    for k in range(d):
        low, high = max(a[0, k], b[0, k]), min(a[1, k], b[1, k])
        piece[2 * k], piece[2 * k + 1] = low, high
        some &= low < high
    return some


@apart
def ask(boxes, row, count, d, max_steps, space):
    """Whether the piece `space.stack[0]` is covered by the union of the first `count` boxes.

    Parameters
    ----------
    boxes : (rows, places) int32
        In columns, from `row` on, nearest first.
    max_steps : int
        Cuts after which to give up; 0 for never.
    space : CoverSpace
        Or another tuple with these fields.

    Returns
    -------
    int
        The number of nearest boxes that suffice to cover the piece, 0 if all do not.
    """
    gathered, stack, counts = space.gathered, space.stack, space.counts
    thinned = count > LANES32  # fewer are compared at once as they stand
    if thinned:
        count = gather_touching(boxes, row, count, stack[0], d, gathered)
        boxes, row = gathered, np.int64(0)
    farthest, cuts, top = np.int64(-1), 0, np.int64(0)
    counts[0] += 1
    while top >= 0:
        b = largest_share(boxes, row, count, stack[top], d)
        if b < 0 or (cuts == max_steps and max_steps > 0):
            # Given up: it is taken for uncovered, which costs a link and loses nothing, and counted.
            counts[1] += cuts
            counts[2] += b >= 0
            for k in range(d):
                space.witness[k] = stack[top, 2 * k]
            return np.int64(0)
        farthest = max(farthest, b)
        cuts += 1
        top = cut_out(stack, top, boxes, row, b, d)
    counts[1] += cuts
    return (np.int64(gathered[2 * d, farthest]) if thinned else farthest) + 1
