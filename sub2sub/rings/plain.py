"""Figure 3 of Sub-2-Sub in plain Python: which candidates are ring neighbours, by the test for cover.

A box has one half-open range (low, end) for each attribute. A candidate is a neighbour if its part of the
node's box is not covered by the union of nearer candidates. The test for cover goes depth first: take a
piece, cut the box out of it that shares most with it, and ask again for each of the at most 2d pieces that
are left. A piece that no box touches is not covered; when no piece is left, everything is.

`sub2sub.compiled.ring_views.cover` is the same test for kernels. Only comparisons decide, so both are exact;
they may cut in another order, which shows only where a test is given up after `max_steps`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Box = tuple[tuple[float, float], ...]


def uncovered(box: Box, boxes: Iterable[Box], max_steps: int = 0) -> tuple[float, ...] | None:
    """A point of a box that is in none of the others; None if they cover it.

    After `max_steps` cuts, 0 for no limit, some point is returned that is perhaps covered.

    Examples
    --------
    >>> uncovered(((0, 9),), [((6, 9),), ((0, 5),)]), uncovered(((0, 9),), [((5, 9),), ((0, 5),)])
    ((5,), None)
    """
    cuts, waiting = 0, [(box, boxes)]
    while waiting:
        piece, near = waiting.pop()
        shares = [share for other in near if (share := intersection(piece, other))]
        if not shares or cuts == max_steps > 0:
            return tuple([low for low, _ in piece])
        cuts += 1
        waiting += [(rest, shares) for rest in _without(piece, max(shares, key=_volume))]
    return None


def intersection(a: Box, b: Box) -> Box | None:
    """The box of all points that two boxes share; None if they share none.

    Examples
    --------
    >>> intersection(((0, 9), (0, 3)), ((5, 12), (1, 2)))
    ((5, 9), (1, 2))
    """
    ranges = []
    for (low, end), (other_low, other_end) in zip(a, b, strict=True):
        if other_low > low:
            low = other_low
        if other_end < end:
            end = other_end
        if low >= end:
            return None
        ranges.append((low, end))
    return tuple(ranges)


def _volume(box: Box) -> float:
    volume = 1.0
    for low, end in box:
        volume *= end - low
    return volume


def _without(piece: Box, share: Box) -> list[Box]:
    """What is left of a piece without a share of it: for each attribute a slab below and one above it."""
    rest, slabs = list(piece), []
    for axis, ((low, end), (begin, stop)) in enumerate(zip(piece, share, strict=True)):
        if low < begin:
            rest[axis] = low, begin
            slabs.append(tuple(rest))
        if stop < end:
            rest[axis] = stop, end
            slabs.append(tuple(rest))
        rest[axis] = begin, stop
    return slabs


def ranked(boxes: Sequence[Box]) -> list[Box]:
    """The boxes with each coordinate replaced by its rank among all coordinates of its attribute.

    Boxes cover one another as before. Volumes of ranks neither overflow nor vanish, so fewer cuts are needed.

    Examples
    --------
    >>> ranked([((0.0, 1e308),), ((-1e308, 5e-324),)])
    [((1, 3),), ((0, 2),)]
    """
    columns = []
    for ranges in zip(*boxes, strict=True):
        ends = sorted({end for pair in ranges for end in pair})
        rank = dict(zip(ends, range(len(ends)), strict=True))
        columns.append([(rank[low], rank[end]) for low, end in ranges])
    return list(zip(*columns, strict=True))


def needed(own: Box, boxes: Iterable[Box]) -> list[int]:
    """Positions of the boxes, given nearest first, that contain a point of `own` which no nearer one does.

    Examples
    --------
    >>> needed(((0, 9),), [((0, 5),), ((1, 4),), ((4, 9),)])
    [0, 2]
    """
    parts: dict[int, Box] = {}
    for position, box in enumerate(boxes):
        part = intersection(own, box)
        if part and uncovered(part, parts.values()):
            parts[position] = part
    return list(parts)


def select(own: Box, ring_id: int, boxes: Sequence[Box], ids: Sequence[int]) -> tuple[list[int], list[int]]:
    """Select a node's successors and predecessors among candidates: their positions, nearest first.

    `select_ring` (`sub2sub.rings.selection`) checks what it is given and takes closed ranges; boxes here are
    half-open.

    Examples
    --------
    >>> select(((0, 9),), 50, [((0, 5),), ((4, 9),), ((0, 9),)], [60, 70, 80])
    ([0, 1], [2])
    """
    *boxes, own = ranked([*boxes, own])
    upwards = sorted(range(len(ids)), key=lambda position: (ids[position] - ring_id) % 2**64)
    successors, predecessors = (
        [order[k] for k in needed(own, (boxes[position] for position in order))]
        for order in (upwards, upwards[::-1])
    )
    return successors, predecessors
