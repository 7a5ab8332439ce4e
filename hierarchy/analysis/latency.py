"""Number of rounds of events that reach all communities (CAMCAST, Section 4.6).

One community of n is infected in R(n) = ln n / ln ln n + O(1) rounds (Bollobás, *Random graphs*), the
diameter of a random graph with about ln n edges per node. The constant, which the paper leaves open, is a
parameter, 0 by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import e, log

from sub2sub.errors import InputError


def rounds(n: float, constant: float = 0.0) -> float:
    """R(n), rounds to infect a community of n > e.

    Examples
    --------
    >>> round(rounds(1000), 2)
    3.57
    """
    if not n > e:
        raise InputError(
            f"n: expected more than e = 2.72 processes, for which ln ln n is positive, got {n!r}"
        )
    return log(n) / log(log(n)) + constant


def best(sizes: Sequence[float], constant: float = 0.0) -> float:
    """Rounds if each community passes the event on at once: one for each border, then R of the last.

    Examples
    --------
    >>> round(best([1000, 100, 10]), 2)
    4.76
    """
    _check(sizes)
    return len(sizes) - 1 + rounds(sizes[-1], constant)


def average(sizes: Sequence[float], constant: float = 0.0) -> float:
    """Rounds if each community passes the event on after half of its rounds.

    Examples
    --------
    >>> round(average([1000, 100, 10]), 2)
    6.68
    """
    _check(sizes)
    return len(sizes) - 1 + sum(rounds(n, constant) / 2 for n in sizes)


def worst(sizes: Sequence[float], constant: float = 0.0) -> float:
    """Rounds if each community passes the event on only when all of its members have it.

    Examples
    --------
    >>> round(worst([1000, 100, 10]), 2)
    11.35
    """
    _check(sizes)
    return len(sizes) - 1 + sum(rounds(n, constant) for n in sizes)


def _check(sizes: Sequence[float]) -> None:
    if not sizes:
        raise InputError("sizes: expected at least one community, got none")
