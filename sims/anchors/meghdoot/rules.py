"""Zones of a content-addressable network: half-open boxes that tile the space (Ratnasamy et al., 2001)."""

from __future__ import annotations

Zone = tuple[tuple[float, ...], tuple[float, ...]]  # lower and upper corner


def holds(zone: Zone, point: tuple[float, ...]) -> bool:
    """Whether a zone contains a point.

    Examples
    --------
    >>> holds(((0.0, 0.0), (1.0, 0.5)), (0.2, 0.5))
    False
    """
    for low, x, high in zip(zone[0], point, zone[1], strict=True):  # noqa: SIM110 (3 times as fast)
        if not low <= x < high:
            return False
    return True


def gap(zone: Zone, point: tuple[float, ...]) -> float:
    """Squared distance of a point from a zone.

    Examples
    --------
    >>> gap(((0.0, 0.0), (1.0, 1.0)), (4.0, 0.5))
    9.0
    """
    total = 0.0
    for low, x, high in zip(zone[0], point, zone[1], strict=True):
        if x < low:
            total += (low - x) ** 2
        elif x > high:
            total += (x - high) ** 2
    return total


def touch(a: Zone, b: Zone) -> bool:
    """Whether two zones share a face: they meet in one dimension and overlap in all others.

    Examples
    --------
    >>> left, right, corner = (((x, y), (x + 1.0, y + 1.0)) for x, y in ((0.0, 0.0), (1.0, 0.5), (1.0, 1.0)))
    >>> touch(left, right), touch(left, corner)
    (True, False)
    """
    met = 0
    for a_low, a_high, b_low, b_high in zip(*a, *b, strict=True):
        if a_low < b_high and b_low < a_high:
            continue
        if a_high != b_low and b_high != a_low:
            return False
        met += 1
        if met > 1:
            return False
    return met == 1


def volume(zone: Zone) -> float:
    """How large a zone is.

    Examples
    --------
    >>> volume(((0.0, 0.0), (2.0, 0.5)))
    1.0
    """
    product = 1.0
    for low, high in zip(*zone, strict=True):
        product *= high - low
    return product


def cut(zone: Zone, kept: tuple[float, ...], given: tuple[float, ...]) -> tuple[Zone, Zone]:
    """Halve a zone between two points of it, across its longest side of those along which they are apart.

    Interests are often narrow, so points lie near a line. If zones were cut where points are farthest apart,
    they would be slices across that line, and the length of a route would be the number of peers.

    Examples
    --------
    >>> cut(((0.0, 0.0), (1.0, 1.0)), (0.25, 0.5), (0.75, 0.5))
    (((0.0, 0.0), (0.5, 1.0)), ((0.5, 0.0), (1.0, 1.0)))
    """
    low, high = zone
    apart = [abs(a - b) for a, b in zip(kept, given, strict=True)]
    enough = max(apart) / 4
    sides = [top - base if far >= enough else 0.0 for base, top, far in zip(low, high, apart, strict=True)]
    axis = sides.index(max(sides))
    at = (kept[axis] + given[axis]) / 2
    if at <= min(kept[axis], given[axis]):  # neighbours among the floats
        at = max(kept[axis], given[axis])
    below = (low, (*high[:axis], at, *high[axis + 1 :]))
    above = ((*low[:axis], at, *low[axis + 1 :]), high)
    return (below, above) if kept[axis] < at else (above, below)
