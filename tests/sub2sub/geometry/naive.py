"""Readable oracles of the geometry, slow and obvious: a box is a list of (low, high) pairs.

Boxes here are half-open, `low <= x < high` on every attribute, as `sub2sub.geometry.boxes.normalise` returns
them. `half_open` does the same from closed ranges, by its own way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

Box = list[tuple[float, float]]
Point = tuple[float, ...]
AROUND = 2**64


def half_open(low: Iterable[float], high: Iterable[float]) -> Box:
    return [(first, math.nextafter(last, math.inf)) for first, last in zip(low, high, strict=True)]


def contains_point(box: Box, point: Sequence[float]) -> bool:
    return all(low <= x < high for (low, high), x in zip(box, point, strict=True))


def overlap(a: Box, b: Box) -> bool:
    return all(
        max(a_low, b_low) < min(a_high, b_high) for (a_low, a_high), (b_low, b_high) in zip(a, b, strict=True)
    )


def common(a: Box, b: Box) -> Box | None:
    """The intersection of two boxes that overlap."""
    return [(max(p, r), min(q, s)) for (p, q), (r, s) in zip(a, b, strict=True)] if overlap(a, b) else None


def minus(a: Box, b: Box) -> list[Box]:
    """The part of a outside b, as disjoint boxes: per attribute a slab below b and one above it."""
    if not overlap(a, b):
        return [a]
    pieces, rest = [], list(a)
    for axis, (low, high) in enumerate(b):
        if rest[axis][0] < low:
            pieces.append([*rest[:axis], (rest[axis][0], low), *rest[axis + 1 :]])
        if high < rest[axis][1]:
            pieces.append([*rest[:axis], (high, rest[axis][1]), *rest[axis + 1 :]])
        rest[axis] = (max(rest[axis][0], low), min(rest[axis][1], high))
    return pieces


def corners(boxes: Sequence[Box]) -> Iterator[Point]:
    """A point in every cell of the grid of all coordinates. Boxes are unions of cells, so these suffice."""
    for_axis = [sorted({end for box in boxes for end in box[axis]}) for axis in range(len(boxes[0]))]
    return product(*for_axis)


def ascending(own: int, ids: Sequence[int]) -> list[int]:
    """Candidates in the order in which they follow `own` on the ring."""
    return sorted(range(len(ids)), key=lambda i: (ids[i] - own) % AROUND)


def descending(own: int, ids: Sequence[int]) -> list[int]:
    return sorted(range(len(ids)), key=lambda i: (own - ids[i]) % AROUND)


def figure_3(box: Box, own: int, boxes: Sequence[Box], ids: Sequence[int]) -> tuple[list[int], list[int]]:
    """Figure 3 of Sub-2-Sub to the letter, `space` a list of disjoint boxes: successors, predecessors."""
    selected: tuple[list[int], list[int]] = [], []
    for order, chosen in zip((ascending(own, ids), descending(own, ids)), selected, strict=True):
        space = [box]
        for i in order:
            if any(overlap(boxes[i], part) for part in space):
                space = [piece for part in space for piece in minus(part, boxes[i])]
                chosen.append(i)
    return selected


def nearest_at_each_point(
    box: Box, own: int, boxes: Sequence[Box], ids: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The purpose of selection: at each point of the box, the nearest candidates that contain it."""
    selected: tuple[list[int], list[int]] = [], []
    points = list(corners([clipped for other in [box, *boxes] if (clipped := common(box, other))]))
    points = [point for point in points if contains_point(box, point)]
    for order, chosen in zip((ascending(own, ids), descending(own, ids)), selected, strict=True):
        needed = {next((i for i in order if contains_point(boxes[i], point)), None) for point in points}
        chosen.extend(i for i in order if i in needed)
    return selected


def painted(box: Box, own: int, boxes: Sequence[Box], ids: Sequence[int]) -> tuple[list[int], list[int]]:
    """The same for larger cases: paint candidates over the grid, farthest first; select visible ones."""
    axes = [sorted({end for other in [box, *boxes] for end in other[k]}) for k in range(len(box))]
    place = [{end: i for i, end in enumerate(axis)} for axis in axes]
    selected: tuple[list[int], list[int]] = [], []
    for order, chosen in zip((ascending(own, ids), descending(own, ids)), selected, strict=True):
        canvas = np.full([len(axis) for axis in axes], -1)
        for i in reversed(order):
            canvas[
                tuple(slice(at[low], at[high]) for at, (low, high) in zip(place, boxes[i], strict=True))
            ] = i
        seen = canvas[tuple(slice(at[low], at[high]) for at, (low, high) in zip(place, box, strict=True))]
        visible = set(np.unique(seen).tolist())
        chosen.extend(i for i in order if i in visible)
    return selected


def ring(point: Sequence[float], boxes: Sequence[Box], ids: Sequence[int]) -> list[int]:
    """The members of an event's ring in the order of their IDs."""
    return sorted((i for i in range(len(boxes)) if contains_point(boxes[i], point)), key=lambda i: ids[i])


def memberships(boxes: Sequence[Box]) -> dict[tuple[int, ...], list[Point]]:
    """Every set of boxes that are exactly the boxes around some point, with the corners of these cells."""
    found: dict[tuple[int, ...], list[Point]] = {}
    for point in corners(boxes):
        members = tuple(i for i, box in enumerate(boxes) if contains_point(box, point))
        if members:
            found.setdefault(members, []).append(point)
    return found


def gap_distance(
    low: Sequence[float], high: Sequence[float], other_low: Sequence[float], other_high: Sequence[float]
) -> float:
    """Distance between two boxes given as closed ranges."""
    gaps = [
        max(0.0, max(a, b) - min(c, d)) for a, b, c, d in zip(low, other_low, high, other_high, strict=True)
    ]
    return math.hypot(*gaps)
