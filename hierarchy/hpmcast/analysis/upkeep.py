"""View sizes and updates after a failure, against the depth (hpmcast, Section 6.3, equations 29 to 36).

Differences from the paper: its minimum of the view size at l = log n (equations 30 and 31) is that of
R l n^(1/l), which omits R a - a of equation 18. `best_depth` gives this minimum, and also that of equation 18
itself, which is a little lower for R > 1. Equation 36 is partly illegible; `mean_level_estimate` is a new
derivation of the integral in it, and `mean_level` is the sum that the integral approximates.
"""

from __future__ import annotations

from math import log, sqrt

from sub2sub.errors import InputError


def view_size(a: float, levels: float, redundancy: int) -> float:
    """Entries of all views of a participant, m = R a (l - 1) + a (equation 18); l need not be whole.

    Examples
    --------
    >>> view_size(22, 3, 3)
    154
    """
    return redundancy * a * (levels - 1) + a


def best_depth(n: float, redundancy: int | None = None) -> float:
    """The depth of the smallest view: log n, or that of equation 18 itself if R is given.

    With R > 1 equation 18 has its minimum at the larger root of l^2 - l log n + (1 - 1/R) log n.

    Examples
    --------
    >>> round(best_depth(10648), 2), round(best_depth(10648, redundancy=3), 2)
    (9.27, 8.55)
    """
    if redundancy is None:
        return log(n)
    root = log(n) ** 2 - 4 * (1 - 1 / redundancy) * log(n)
    if root < 0:
        raise InputError(f"n: expected a system large enough for a minimum with R = {redundancy}, got {n}")
    return (log(n) + sqrt(root)) / 2


def delegates_of_level(a: float, levels: int, redundancy: int, level: int) -> float:
    """d(i): participants whose highest level is i (equation 33); a need not be whole.

    Examples
    --------
    >>> [delegates_of_level(22, 3, 3, i) for i in (1, 2, 3)]
    [9196, 1386, 66]
    """
    if levels == 1:
        return a
    if level == levels:
        return redundancy * a
    chosen = redundancy * (a - 1) if level > 1 else a - redundancy
    members: float = chosen * a ** (levels - max(level, 1))
    return members


def mean_updates(a: int, levels: int, redundancy: int) -> int:
    """Participants to be updated after a failure, on average: (a - 1)(R (l - 1) + 1) (equation 35).

    Examples
    --------
    >>> mean_updates(22, 3, 3)
    147
    """
    return (a - 1) * (redundancy * (levels - 1) + 1)


def mean_level(a: int, levels: int, redundancy: int) -> float:
    """The mean highest level of a participant (first line of equation 36).

    Examples
    --------
    >>> round(mean_level(22, 3, 3), 4)
    1.1426
    """
    members = (delegates_of_level(a, levels, redundancy, i) * i for i in range(1, levels + 1))
    return float(sum(members) / a**levels)


def mean_level_estimate(n: float, levels: float, redundancy: int) -> float:
    """Equation 36: the same for large l, by the integral of R a i a^-i from 1 to l.

    Examples
    --------
    >>> mean_level_estimate(10648, 3, 3) < mean_level_estimate(10648, 5, 3)
    True
    """
    depth = levels / log(n)
    cut = levels * n ** (1 / levels) / n * (1 + 1 / log(n))
    return float(redundancy * depth * (1 + depth - cut))
