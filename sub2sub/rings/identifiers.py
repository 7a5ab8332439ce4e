"""Sequence IDs, which define the order of the ring (Sub-2-Sub, Section 4.1): unsigned 64-bit integers.

In the paper they are random numbers from a large space; equal IDs are not considered. Here they are refused.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import refuse_masked

Identifiers = NDArray[np.uint64]


def sequence_ids(ids: ArrayLike, count: int, own: int | None = None) -> Identifiers:
    """Sequence IDs as a validated (count,) uint64 array: from 0 to 2^64 - 1, all different.

    The ID of the node itself, `own`, must not be among them.

    Examples
    --------
    >>> sequence_ids([5, 2**64 - 1], 2)
    array([                   5, 18446744073709551615], dtype=uint64)
    """
    refuse_masked(ids, "ids")
    array = np.asarray(ids)
    if array.shape != (count,):
        raise InputError(f"ids: expected shape ({count},), got {array.shape}")
    if count == 0:
        return np.empty(0, np.uint64)
    if array.dtype == object or array.dtype.kind == "f":
        array = _from_python(ids)
    if array.dtype.kind not in "iu":
        raise InputError(f"ids: expected unsigned 64-bit integers, got {array.dtype}")
    if array.dtype.kind == "i" and array.min() < 0:
        row = int(np.argmax(array < 0))
        raise InputError(f"ids row {row}: expected an integer from 0 to 2^64 - 1, got {array[row]}")
    identifiers = array.astype(np.uint64)
    order = np.argsort(identifiers, kind="stable")
    twice = np.flatnonzero(identifiers[order[1:]] == identifiers[order[:-1]])
    if len(twice):
        later = np.argmin(order[twice + 1])  # the sort is stable: the second of a pair is the later row
        row, before = order[twice[later] + 1], order[twice[later]]
        raise InputError(f"ids row {row}: expected distinct IDs, got {identifiers[row]} as in row {before}")
    if own is not None and len(same := np.flatnonzero(identifiers == np.uint64(own))):
        raise InputError(f"ids row {same[0]}: expected others than the node's own ID, got {own}")
    return identifiers


def sequence_id(ring_id: int) -> int:
    """One sequence ID, validated.

    Examples
    --------
    >>> sequence_id(np.uint64(2**64 - 1)) == 2**64 - 1
    True
    """
    if not _is_id(ring_id):
        raise InputError(f"ring_id: expected an integer from 0 to 2^64 - 1, got {ring_id!r}")
    return int(ring_id)


def _is_id(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < 2**64


def _from_python(ids: ArrayLike) -> Identifiers:
    """IDs from a list that NumPy makes floats or objects of, as it does with ints on both sides of 2^63."""
    values = np.asarray(ids, dtype=object)
    for row, value in enumerate(values):
        if not _is_id(value):
            raise InputError(f"ids row {row}: expected an integer from 0 to 2^64 - 1, got {value!r}")
    return values.astype(np.uint64)
