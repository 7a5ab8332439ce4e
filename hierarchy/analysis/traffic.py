"""Number of messages of one event (CAMCAST, Section 4.3; technical report, appendix 1).

A hierarchy is given by the sizes of its communities along the path of the event: first the topic on which it
is published, last the root (t_{x-1}, ..., t_0 in the paper).

Interpretation: Equation 1 of the paper sums upward messages over i = x-2 down to 0, and the text says that
the root sends none. The communities that send upward are x-1 down to 1, and these are summed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from hierarchy.analysis.domain import Values, check, check_upward_messages, per_level


def within(n: float, c: float) -> float:
    """Messages within a community of n in which all receive the event: n (ln n + c), c >= -ln n.

    Examples
    --------
    >>> round(within(1000, 5))
    11908
    """
    check("size", n=n)
    check("finite", c=c)
    check("not negative", **{"ln n + c": log(n) + c})
    return n * (log(n) + c)


broadcast = within  # gossip broadcast (a), n the whole system


def upward(n: float, p_sel: float, p_a: float, z: float, p_success: float = 1.0) -> float:
    """Messages that arrive in the super-community: N p_sel p_a z p_success.

    Examples
    --------
    >>> round(upward(1000, p_sel=5 / 1000, p_a=1 / 3, z=3, p_success=0.85), 3)
    4.25
    """
    check_upward_messages(n, z, p_sel=p_sel, p_a=p_a, p_success=p_success)
    return n * p_sel * p_a * z * p_success


def camcast(
    sizes: Sequence[float], c: Values, p_sel: Values, p_a: Values, z: Values, p_success: Values = 1.0
) -> float:
    """All messages of an event from its topic to the root (Equation 1).

    Examples
    --------
    >>> round(camcast([1000, 100, 10], c=5, p_sel=[0.005, 0.05, 0.5], p_a=1 / 3, z=3, p_success=0.85))
    12950
    """
    levels = len(sizes)
    cs = per_level("c", c, levels, "finite")
    columns = [
        per_level("p_sel", p_sel, levels, "probability"),
        per_level("p_a", p_a, levels, "probability"),
        per_level("z", z, levels, "count"),
        per_level("p_success", p_success, levels, "probability"),
    ]
    inside = sum(within(n, own) for n, own in zip(sizes, cs, strict=True))
    return inside + sum(upward(n, *row) for n, *row in list(zip(sizes, *columns, strict=True))[:-1])


def multicast(sizes: Sequence[float], c: Values) -> float:
    """Gossip multicast (b): the sum of N (ln N + c) over the path (Equation 4).

    Examples
    --------
    >>> round(multicast([1000, 100, 10], 5))
    12941
    """
    cs = per_level("c", c, len(sizes), "finite")
    return sum(within(n, own) for n, own in zip(sizes, cs, strict=True))


def hierarchical(groups: float, m: float, c1: float, c2: float) -> float:
    """Hierarchical gossip broadcast (c), C groups of m: C m (c1 + c2 + ln C + ln m) (Equation 5).

    Examples
    --------
    >>> round(hierarchical(30, 37, 5, 5))
    18883
    """
    return groups * within(m, c1) + m * within(groups, c2)
