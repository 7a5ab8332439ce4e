"""Uniform tables within arbitrary groups, with which CAMCAST's kernel is plain gossip."""

from __future__ import annotations

from math import floor, log

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import grouped, places_in
from hierarchy.camcast.settings import Parameters
from hierarchy.camcast.tables import fill_topic_tables
from sub2sub.errors import InputError
from sub2sub.kernels.randomness import cycle_key, stream_number

STREAM = stream_number("gossip tables")


def fanout(n: int, c: float) -> int:
    """Targets of a process among n: the floor of ln n + c, at least one (see `hierarchy.camcast.settings`).

    Examples
    --------
    >>> fanout(1110, 5)
    12
    """
    if n < 1 or c < 0:
        raise InputError(f"n, c: expected a group of at least 1 and c not below 0, got {n} and {c}")
    return max(1, floor(log(n) + c))


def flat_parameters(topics: int, targets: int, inter: bool = False) -> Parameters:
    """The same fan-out for every topic; the super-topic table is used always (`inter`) or never."""
    always = np.full(topics, float(inter))
    return Parameters(np.full(topics, targets, np.int32), always, always)


def group_tables(
    group: NDArray[np.int32], table_size: NDArray[np.int32], seed: int, run: int
) -> NDArray[np.int32]:
    """Draw for each process `table_size[group]` others of its group.

    Examples
    --------
    >>> group_tables(np.array([0, 0, 1, 1], np.int32), np.array([1, 0], np.int32), seed=1, run=0).tolist()
    [[1], [0], [-1], [-1]]
    """
    start, members = grouped(group, len(table_size))
    table = np.full((len(group), max(1, int(table_size.max()))), -1, np.int32)
    key = cycle_key(seed, STREAM, run)
    fill_topic_tables(group, start, members, places_in(members), table_size, key, table)
    return table
