"""Exact box algebra: subscriptions as hyperrectangles (Sub-2-Sub, Section 3).

In the interface, ranges are closed, as in the paper: [l, r], and [v, v] for an exact value. Internally, boxes
are half-open: on floats [l, r] *is* [l, nextafter(r)). The difference of two half-open boxes consists of
half-open boxes, so no edge is lost or counted twice. `normalise` converts closed ranges to half-open boxes,
`closed` converts back. Everything between only compares and copies coordinates, so nothing is rounded.

Every stored bound is finite, because infinite bounds would turn volumes and midpoints into NaN. An open end
becomes the largest double. The end of a half-open range lies one double above its last value, so the largest
double itself is treated as the double below it (`TOP`); these are the only two values that are not
distinguished. A width may still overflow to infinity; half widths, `high / 2 - low / 2`, do not.

Where the code reads the paper differently: the distance printed in Section 4.1 also squares overlaps;
`gap_distance` uses the gap per attribute, max(0, max l - min r), which is zero where ranges overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError

Floats = NDArray[np.float64]
Boxes = tuple[Floats, Floats]

MAX_ATTRIBUTES = 16
EXACT = 2**53  # all integers up to here have an exact float
LARGEST = float(np.finfo(np.float64).max)
TOP = float(np.nextafter(LARGEST, 0.0))


def _refuse(bad: NDArray[np.bool_], field: str, expected: str, found: NDArray[Any]) -> None:
    if bad.any():
        row, axis = np.argwhere(bad)[0]
        value = found[row, axis]
        raise InputError(f"{field} row {row}, attribute {axis}: expected {expected}, got {value}")


def refuse_masked(values: object, field: str) -> None:
    """Refuse a masked array in which a value is masked: NumPy would take what lies under the mask.

    Examples
    --------
    >>> refuse_masked(np.ma.array([1, 2], mask=[False, True]), "ids")
    Traceback (most recent call last):
    sub2sub.errors.InputError: ids row 1: expected a value, it is masked
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = np.argwhere(np.ma.getmaskarray(values))[0][0]
        raise InputError(f"{field} row {row}: expected a value, it is masked")


def _table(values: ArrayLike, field: str) -> Floats:
    """`values` as an (n, d) float64 array, converted exactly or refused."""
    refuse_masked(values, field)
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
    """Convert closed ranges to validated half-open boxes, in new arrays.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges [low, high] per box and attribute; a low of -inf or a high of inf is an open end.
    fields : pair of str
        The names of the two arguments in error messages.

    Returns
    -------
    lows, highs : (n, d) float64
        Half-open boxes [low, high), low < high, all bounds finite, no negative zero.

    Raises
    ------
    InputError
        For NaN, low > high, a range without a finite value, an integer beyond ±2^53, or wrong shapes; with
        the row.

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
        For NaN, an infinite coordinate, an integer beyond ±2^53, a wrong shape or, if `attributes` is given,
        another number of columns; with the row.

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
    """Convert half-open boxes to the equivalent closed ranges: the inverse of `normalise`.

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
    """Whether half-open boxes contain the others completely; arguments broadcast.

    Examples
    --------
    >>> low, high = normalise([[0.0], [1.0]], [[4.0], [4.0]])
    >>> contains(low[0], high[0], low, high), contains(low[1], high[1], low, high)
    (array([ True,  True]), array([False,  True]))
    """
    inside: NDArray[np.bool_] = np.all((lows <= other_lows) & (other_highs <= highs), axis=-1)
    return inside


def intersection(lows: Floats, highs: Floats, other_lows: Floats, other_highs: Floats) -> Boxes:
    """The intersection of half-open boxes; where they do not overlap it is empty: some low >= high.

    Examples
    --------
    >>> low, high = normalise([[0.0], [2.0]], [[3.0], [5.0]])
    >>> closed(*intersection(low[:1], high[:1], low[1:], high[1:]))
    (array([[2.]]), array([[3.]]))
    """
    return np.maximum(lows, other_lows), np.minimum(highs, other_highs)


def subtract(lows: Floats, highs: Floats, low: Floats, high: Floats) -> Boxes:
    """Subtract one half-open box from n half-open boxes.

    Returns first the boxes that do not overlap it, unchanged, then the pieces of the others: at most 2d
    disjoint pieces of each.

    Parameters
    ----------
    lows, highs : (n, d) float64
        The boxes to subtract from.
    low, high : (d,) float64
        The box to subtract.

    Examples
    --------
    >>> low, high = normalise([[0.0], [2.0]], [[9.0], [5.0]])
    >>> lows, highs = subtract(low[:1], high[:1], low[1], high[1])
    >>> lows.ravel().tolist(), highs.ravel().tolist()
    ([0.0, 5.000000000000001], [2.0, 9.000000000000002])
    """
    hit = overlaps(lows, highs, low, high)
    pieces = [(lows[~hit], highs[~hit])]
    # Cut the pieces off axis by axis; the rest is the intersection in the end.
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
    """Euclidean distance between half-open boxes (Sub-2-Sub, Section 4.1): zero exactly where they overlap.

    Gaps are those between the closed ranges. The largest gap is factored out, so that squares of tiny gaps
    do not become zero and squares of huge gaps do not overflow. A distance beyond the doubles is infinite.

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
