"""Sequence IDs, which order the ring (Sub-2-Sub, Section 4.1): unsigned 64-bit integers, all different.

The paper draws them at random from a large space and is silent on equal ones; here they are refused.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError

Identifiers = NDArray[np.uint64]


def sequence_ids(ids: ArrayLike, count: int, own: int | None = None, field: str = "ids") -> Identifiers:
    """Sequence IDs as a validated (count,) uint64 array.

    Parameters
    ----------
    ids : (count,) array_like of int
        From 0 to 2^64 - 1, all different.
    count : int
        How many there have to be.
    own : int, optional
        The ID of the node itself, which must not be among them.
    field : str
        What errors call `ids`.

    Raises
    ------
    InputError
        Not integers, out of range, another count, twice the same ID or the node's own: names the row.

    Examples
    --------
    >>> sequence_ids([5, 2**64 - 1], 2)
    array([                   5, 18446744073709551615], dtype=uint64)
    """
    array = np.asarray(ids)
    if array.shape != (count,):
        raise InputError(f"{field}: expected shape ({count},), got {array.shape}")
    if count == 0:
        return np.empty(0, np.uint64)
    if array.dtype == object or array.dtype.kind == "f":
        array = _from_python(ids, field)
    if array.dtype.kind not in "iu":
        raise InputError(f"{field}: expected unsigned 64-bit integers, got {array.dtype}")
    if array.dtype.kind == "i" and array.min() < 0:
        row = int(np.argmax(array < 0))
        raise InputError(f"{field} row {row}: expected an integer from 0 to 2^64 - 1, got {array[row]}")
    identifiers = array.astype(np.uint64)
    order = np.argsort(identifiers, kind="stable")
    twice = np.flatnonzero(identifiers[order[1:]] == identifiers[order[:-1]])
    if len(twice):
        later = np.argmin(order[twice + 1])  # stable order: the second of a pair stands in the later row
        row, before = order[twice[later] + 1], order[twice[later]]
        raise InputError(
            f"{field} row {row}: expected distinct IDs, got {identifiers[row]} as in row {before}"
        )
    if own is not None and len(same := np.flatnonzero(identifiers == np.uint64(own))):
        raise InputError(f"{field} row {same[0]}: expected others than the node's own ID, got {own}")
    return identifiers


def sequence_id(ring_id: int, field: str = "ring_id") -> int:
    """One sequence ID, validated.

    Examples
    --------
    >>> sequence_id(np.uint64(2**64 - 1)) == 2**64 - 1
    True
    """
    if not _is_id(ring_id):
        raise InputError(f"{field}: expected an integer from 0 to 2^64 - 1, got {ring_id!r}")
    return int(ring_id)


def _is_id(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < 2**64


def _from_python(ids: ArrayLike, field: str) -> Identifiers:
    """IDs from a list that NumPy took for floats or objects, as it does with ints on both sides of 2^63."""
    values = np.asarray(ids, dtype=object)
    for row, value in enumerate(values):
        if not _is_id(value):
            raise InputError(f"{field} row {row}: expected an integer from 0 to 2^64 - 1, got {value!r}")
    return values.astype(np.uint64)
