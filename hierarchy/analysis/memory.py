"""Number of table entries of a process (CAMCAST, Section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from hierarchy.analysis.domain import Values, check, per_level


def camcast(n: float, c: float, z: float = 0.0) -> float:
    """ln N + c + z for a process of a community of n; z = 0 in the root community.

    Examples
    --------
    >>> round(camcast(1000, 5, 3), 1)
    14.9
    """
    check("size", n=n)
    check("finite", c=c)
    check("not negative", z=z, **{"ln n + c": log(n) + c})
    return log(n) + c + z


broadcast = camcast  # gossip broadcast (a), n the whole system, z = 0


def multicast(sizes: Sequence[float], c: Values) -> float:
    """Gossip multicast (b): the sum of ln N + c over the groups of a process.

    Examples
    --------
    >>> round(multicast([1000, 100, 10], 5), 1)  # a subscriber of the root is in all three
    28.8
    """
    cs = per_level("c", c, len(sizes), "finite")
    return sum(camcast(n, own) for n, own in zip(sizes, cs, strict=True))


def hierarchical(groups: float, m: float, c1: float, c2: float) -> float:
    """Hierarchical gossip broadcast (c): ln m + ln C + c1 + c2.

    Examples
    --------
    >>> round(hierarchical(30, 37, 5, 5), 1)
    17.0
    """
    return camcast(m, c1) + camcast(groups, c2)
