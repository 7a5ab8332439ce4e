"""Exact box algebra: subscriptions as hyperrectangles (Sub-2-Sub, Section 3).

Outside, ranges are closed, as the paper writes them: [l, r], an exact value being [v, v]. Inside, a box
is half-open: on floats [l, r] *is* [l, nextafter(r)), and half-open boxes subtract into half-open boxes
without an edge left over or an edge too many. `normalise` goes in, `closed` comes out, and everything
between compares and copies coordinates, never computes one. So no rounding exists.

Every stored bound is finite, because infinite ones turn volumes and midpoints into NaN. A range without an
end gets the end of the doubles, and as a half-open box needs one double above its last, the largest double
is treated as its neighbour below (`TOP`): the only two values not told apart. A width may still overflow
to infinity; half widths, `high / 2 - low / 2`, do not.

Where the code reads the paper differently: the distance of Section 4.1 as printed squares overlaps too;
`gap_distance` takes the gap per attribute, max(0, max l - min r), which is zero where ranges overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError

Floats = NDArray[np.float64]
Boxes = tuple[Floats, Floats]

MAX_ATTRIBUTES = 16
EXACT = 2**53  # integers up to here have a float of their own
LARGEST = float(np.finfo(np.float64).max)
TOP = float(np.nextafter(LARGEST, 0.0))


def _refuse(bad: NDArray[np.bool_], field: str, expected: str, found: NDArray[Any]) -> None:
    if bad.any():
        row, axis = np.argwhere(bad)[0]
        value = found[row, axis]
        raise InputError(f"{field} row {row}, attribute {axis}: expected {expected}, got {value}")


def _table(values: ArrayLike, field: str) -> Floats:
    """`values` as an (n, d) float64 array, converted exactly or refused."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{field}: expected rows of equal length") from None
    if array.ndim != 2 or not 1 <= array.shape[1] <= MAX_ATTRIBUTES:
        raise InputError(f"{field}: expected shape (n, d), d from 1 to {MAX_ATTRIBUTES}, got {array.shape}")
    if not np.can_cast(array.dtype, np.float64, "safe"):
        raise InputError(f"{field}: expected floats or integers, got {array.dtype}")
    if array.dtype.kind in "iu":
        _refuse((array > EXACT) | (array < -EXACT), field, "an integer within ±2^53", array)
    return array.astype(np.float64)


def normalise(lows: ArrayLike, highs: ArrayLike, fields: tuple[str, str] = ("lows", "highs")) -> Boxes:
    """Closed ranges as validated half-open boxes, new arrays that own their memory.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges [low, high] per box and attribute; -inf as a low, inf as a high: no such end.
    fields : pair of str
        What errors call the two arguments.

    Returns
    -------
    lows, highs : (n, d) float64
        Half-open boxes [low, high), low < high, all bounds finite, no negative zero.

    Raises
    ------
    InputError
        NaN, low > high, a range without a finite value, an integer beyond ±2^53, wrong shapes: names the row.

    Examples
    --------
    >>> lows, highs = normalise([[2.0, -np.inf]], [[2.0, 7.0]])
    >>> bool(highs[0, 0] == np.nextafter(2.0, 3.0)), bool(np.isfinite(lows).all())
    (True, True)
    """
    low, high = _table(lows, fields[0]), _table(highs, fields[1])
    if low.shape != high.shape:
        raise InputError(f"{fields[1]}: expected shape {low.shape} as {fields[0]}, got {high.shape}")
    _refuse(np.isnan(low), fields[0], "a number", low)
    _refuse(np.isnan(high), fields[1], "a number", high)
    _refuse(low == np.inf, fields[0], "a low below inf", low)
    _refuse(high == -np.inf, fields[1], "a high above -inf", high)
    _refuse(low > high, fields[0], f"a low not above its high in {fields[1]}", low)
    # Adding 0.0 turns -0.0 into 0.0, so that equal coordinates also have equal bits.
    return np.clip(low, -LARGEST, TOP) + 0.0, np.nextafter(np.minimum(high, TOP), np.inf) + 0.0


def points(events: ArrayLike, attributes: int | None = None, field: str = "events") -> Floats:
    """Events as validated points, a new (m, d) float64 array.

    Raises
    ------
    InputError
        NaN, an infinite coordinate, an integer beyond ±2^53, a wrong shape or, if `attributes` is given,
        another number of columns: names the row.

    Examples
    --------
    >>> points([[1, 2]]).dtype
    dtype('float64')
    """
    table = _table(events, field)
    if attributes is not None and table.shape[1] != attributes:
        raise InputError(f"{field}: expected {attributes} attributes, got {table.shape[1]}")
    _refuse(~np.isfinite(table), field, "a finite number", table)
    return np.minimum(table, TOP) + 0.0


def closed(lows: Floats, highs: Floats) -> Boxes:
    """Half-open boxes as the closed ranges they stand for; the inverse of `normalise`.

    Examples
    --------
    >>> closed(*normalise([[2.0]], [[7.0]]))
    (array([[2.]]), array([[7.]]))
    """
    return lows.copy(), np.where(highs == LARGEST, LARGEST, np.nextafter(highs, -np.inf)) + 0.0


def overlaps(lows: Floats, highs: Floats, other_lows: Floats, other_highs: Floats) -> NDArray[np.bool_]:
    """Whether half-open boxes share a point; arguments broadcast, the last axis holds the attributes.

    Examples
    --------
    >>> low, high = normalise([[0.0], [2.0], [3.0]], [[2.0], [5.0], [4.0]])
    >>> overlaps(low[0], high[0], low, high)
    array([ True,  True, False])
    """
    shared: NDArray[np.bool_] = np.all(np.maximum(lows, other_lows) < np.minimum(highs, other_highs), axis=-1)
    return shared


def contains(lows: Floats, highs: Floats, other_lows: Floats, other_highs: Floats) -> NDArray[np.bool_]:
    """Whether half-open boxes hold all of the others; arguments broadcast.

    Examples
    --------
    >>> low, high = normalise([[0.0], [1.0]], [[4.0], [4.0]])
    >>> contains(low[0], high[0], low, high), contains(low[1], high[1], low, high)
    (array([ True,  True]), array([False,  True]))
    """
    inside: NDArray[np.bool_] = np.all((lows <= other_lows) & (other_highs <= highs), axis=-1)
    return inside


def intersection(lows: Floats, highs: Floats, other_lows: Floats, other_highs: Floats) -> Boxes:
    """The shared part of half-open boxes; empty, with some low >= high, exactly where they do not overlap.

    Examples
    --------
    >>> low, high = normalise([[0.0], [2.0]], [[3.0], [5.0]])
    >>> closed(*intersection(low[:1], high[:1], low[1:], high[1:]))
    (array([[2.]]), array([[3.]]))
    """
    return np.maximum(lows, other_lows), np.minimum(highs, other_highs)


def subtract(lows: Floats, highs: Floats, low: Floats, high: Floats) -> Boxes:
    """What n half-open boxes hold outside one box, as half-open boxes.

    Each box that overlaps the one falls into at most 2d disjoint pieces; the others come back whole,
    and first. Disjoint boxes leave disjoint pieces.

    Parameters
    ----------
    lows, highs : (n, d) float64
        Boxes to subtract from.
    low, high : (d,) float64
        The box to take away.

    Examples
    --------
    >>> low, high = normalise([[0.0], [2.0]], [[9.0], [5.0]])
    >>> lows, highs = subtract(low[:1], high[:1], low[1], high[1])
    >>> lows.ravel().tolist(), highs.ravel().tolist()
    ([0.0, 5.000000000000001], [2.0, 9.000000000000002])
    """
    hit = overlaps(lows, highs, low, high)
    pieces = [(lows[~hit], highs[~hit])]
    # Slice the pieces off axis by axis; what is left in the end is the intersection.
    rest_low, rest_high = lows[hit].copy(), highs[hit].copy()
    for axis in range(lows.shape[1]):
        below = rest_low[:, axis] < low[axis]
        piece_low, piece_high = rest_low[below], rest_high[below]
        piece_high[:, axis] = low[axis]
        pieces.append((piece_low, piece_high))
        rest_low[:, axis] = np.maximum(rest_low[:, axis], low[axis])

        above = rest_high[:, axis] > high[axis]
        piece_low, piece_high = rest_low[above], rest_high[above]
        piece_low[:, axis] = high[axis]
        pieces.append((piece_low, piece_high))
        rest_high[:, axis] = np.minimum(rest_high[:, axis], high[axis])
    return np.concatenate([low for low, _ in pieces]), np.concatenate([high for _, high in pieces])


def gap_distance(lows: Floats, highs: Floats, other_lows: Floats, other_highs: Floats) -> Floats:
    """Euclidean distance between half-open boxes (Section 4.1): zero exactly where they overlap.

    The gap on an attribute runs between the closed ranges, and the largest gap is factored out, so that
    neither a tiny nor a huge gap is lost in its square. A distance beyond the doubles is infinite.

    Examples
    --------
    >>> low, high = normalise([[0.0, 0.0], [4.0, 5.0], [1.0, 9.0]], [[1.0, 1.0], [6.0, 6.0], [1.0, 9.0]])
    >>> gap_distance(low[0], high[0], low, high)
    array([0., 5., 8.])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        start = np.maximum(lows, other_lows)
        end = np.nextafter(np.minimum(highs, other_highs), -np.inf)
        gaps = np.maximum(start - end, 0.0)
        largest = gaps.max(axis=-1, keepdims=True)
        unit = np.where((largest > 0.0) & np.isfinite(largest), largest, 1.0)
        distance: Floats = unit[..., 0] * np.sqrt(np.square(gaps / unit).sum(axis=-1))
    return distance
