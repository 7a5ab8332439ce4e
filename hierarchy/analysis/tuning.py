"""Settings with which CAMCAST is as reliable as an alternative, with less memory (CAMCAST, Section 4.5.2).

All communities are equal (x of them, N_t processes each, the same pit at every border and the same c).
CAMCAST's c is chosen so that its reliability, as printed, equals that of the alternative with its own c. This
is possible for a range of the alternative's c. CAMCAST's tables are smaller if z does not exceed a limit.
Derivations: technical report, appendix 2.

Interpretation: at the upper end of the range CAMCAST's c would be infinite, so the range is open there.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import NamedTuple

from hierarchy.analysis.domain import check
from sub2sub.errors import InputError


class Range(NamedTuple):
    """Values of an alternative's c that CAMCAST can match: lowest <= c < highest."""

    lowest: float
    highest: float


class Tuning(NamedTuple):
    """CAMCAST's c for equal reliability, and the largest z with which its tables are not larger.

    If `largest_z` is below 1 there is no such z, because an empty super-topic table passes nothing upward.
    """

    c: float
    largest_z: float


def range_broadcast(x: int, pit: float) -> Range:
    """The c of gossip broadcast (a) that CAMCAST with x levels can match: 0 <= c < -ln(-x ln pit).

    Examples
    --------
    >>> round(range_broadcast(3, 0.999).highest, 2)
    5.81
    """
    check("count", x=x)
    return Range(0.0, _minus_log(-x * _log(pit)))


def like_broadcast(c: float, x: int, pit: float, n: float, n_t: float) -> Tuning:
    """Match gossip broadcast (a) among n processes with ln n + c targets.

    Examples
    --------
    >>> tuning = like_broadcast(3, x=3, pit=0.999, n=3000, n_t=100)
    >>> round(tuning.c, 2), round(tuning.largest_z, 2)
    (4.16, 2.24)
    """
    check("size", n=n, n_t=n_t)
    _inside(c, range_broadcast(x, pit))
    slack = log(1 + x * exp(c) * _log(pit))
    return Tuning(c - slack + log(x), log(n) + slack - log(n_t) - log(x))


def range_multicast(pit: float) -> Range:
    """The c of gossip multicast (b) that CAMCAST can match: 0 <= c < -ln(-ln pit).

    Examples
    --------
    >>> round(range_multicast(0.999).highest, 2)
    6.91
    """
    return Range(0.0, _minus_log(-_log(pit)))


def like_multicast(c: float, x: int, pit: float, n_t: float) -> Tuning:
    """Match gossip multicast (b) with ln N_t + c targets in each of x groups.

    Examples
    --------
    >>> tuning = like_multicast(5, x=3, pit=0.999, n_t=100)
    >>> round(tuning.c, 2), round(tuning.largest_z, 2)
    (5.16, 19.05)
    """
    check("size", n_t=n_t)
    check("count", x=x)
    _inside(c, range_multicast(pit))
    slack = log(1 + exp(c) * _log(pit))
    return Tuning(c - slack, (x - 1) * (log(n_t) + c) + slack)


def range_hierarchical(x: int, pit: float, groups: float) -> Range:
    """The c = c1 = c2 of hierarchical broadcast (c) that CAMCAST with x levels can match.

    Examples
    --------
    >>> low, high = range_hierarchical(3, 0.999, groups=30)
    >>> round(low, 2), round(high, 2)
    (2.33, 9.24)
    """
    check("count", x=x)
    check("size", groups=groups)
    return Range(_minus_log(x * (1 - _log(pit)) / (groups + 1)), _minus_log(-x * _log(pit) / (groups + 1)))


def like_hierarchical(c: float, x: int, pit: float, groups: float) -> Tuning:
    """Match hierarchical gossip broadcast (c) with C groups as large as a community, c1 = c2 = c.

    Examples
    --------
    >>> tuning = like_hierarchical(5, x=3, pit=0.999, groups=30)
    >>> round(tuning.c, 2), round(tuning.largest_z, 2)
    (2.68, 10.72)
    """
    _inside(c, range_hierarchical(x, pit, groups))
    slack = log(groups + 1 + x * exp(c) * _log(pit))
    return Tuning(log(x) + c - slack, c + log(groups) + slack - log(x))


def _log(pit: float) -> float:
    check("positive probability", pit=pit)
    return log(pit)


def _minus_log(value: float) -> float:
    return -log(value) if value > 0 else inf


def _inside(c: float, allowed: Range) -> None:
    if not allowed.lowest <= c < allowed.highest:
        raise InputError(
            f"c: expected a number from {allowed.lowest:.4g} to below {allowed.highest:.4g}, "
            f"which CAMCAST can match, got {c!r}"
        )
