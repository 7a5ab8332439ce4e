"""Hellos: once a cycle, after all exchanges, a peer informs the neighbours that it has accepted.

Not in the paper (`RingSettings.hello`). Threads note hellos in any order; they are received in the order of
their senders, which does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.machinery.compilation import hot
from sub2sub.compiled.machinery.references import by_reference


@by_reference
class Hellos(NamedTuple):
    """The peers that accepted each peer; one that accepted it twice is listed twice."""

    first: NDArray[np.int64]  # (n + 1,) where the senders to each peer begin
    sender: NDArray[np.int32]


NO_HELLOS = Hellos(np.zeros(1, np.int64), np.empty(0, np.int32))


@hot
def _sort(keys, values, next_place, into, values_into):
    for k in range(keys.shape[0]):
        place = next_place[keys[k]]
        next_place[keys[k]] += 1
        into[place], values_into[place] = keys[k], values[k]


def _sorted_by(
    keys: NDArray[np.int32], values: NDArray[np.int32], n: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Sorted keys below n, their values, and where each key begins; equal keys keep their order."""
    first = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=n))])
    into, values_into = np.empty_like(keys), np.empty_like(values)
    _sort(keys, values, first.copy(), into, values_into)
    return into, values_into, first


def hellos_of(news: Sequence[NDArray[np.int32]], n: int) -> Hellos:
    """The hellos of n peers, from rows (sender, receiver).

    Examples
    --------
    >>> hellos = hellos_of([np.array([[3, 1], [0, 2]], np.int32), np.array([[0, 1]], np.int32)], n=4)
    >>> hellos.first.tolist(), hellos.sender.tolist()
    ([0, 0, 2, 3, 3], [0, 3, 0])
    """
    pairs = np.concatenate(news)
    sender, receiver, _ = _sorted_by(np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), n)
    _, sender, first = _sorted_by(receiver, sender, n)
    return Hellos(first, sender)
