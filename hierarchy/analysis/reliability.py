"""Probability that all interested processes receive an event (CAMCAST, Section 4.5).

In gossip with ln n + c targets each, all of n processes receive an event with probability exp(-exp(-c)) for
large n (Kermarrec, Massoulié, Ganesh, TPDS 2003). CAMCAST multiplies this over the communities that an event
passes, and the probability pit that the event gets from one community to the next.

Interpretations
---------------
- The paper has a factor pit for each community, including the last one, though an event from t_j to t_i
  passes j - i borders. `camcast` has one factor per border; `camcast_as_printed` is that of the paper, on
  which the conditions of Section 4.5.2 (`hierarchy.analysis.tuning`) are based.
- Equation 6 has the mean number of upward messages in the exponent. The number varies, so the real pit is
  smaller: 0.958 instead of 0.99992 with the paper's settings. `propagation_exact` treats it as random.
- The paper ignores loss within communities. `effective_c` includes it: of ln n + c messages a share p
  arrives, so the effective c is p (ln n + c) - ln n.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, prod

from hierarchy.analysis.domain import Values, check, check_upward, per_level


def gossip(c: float) -> float:
    """Probability that all processes receive an event, with ln n + c targets each: exp(-exp(-c)).

    Examples
    --------
    >>> round(gossip(5), 4), round(gossip(0), 4)
    (0.9933, 0.3679)
    """
    check("finite", c=c)
    return exp(-exp(-c)) if c > -700 else 0.0


broadcast = gossip  # gossip broadcast (a)


def effective_c(n: float, targets: float, p_success: float) -> float:
    """The effective c of `targets` messages in a community of n, if a share p_success of them arrives.

    Examples
    --------
    >>> round(effective_c(1000, targets=11, p_success=0.85), 2)
    2.44
    """
    check("size", n=n)
    check("not negative", targets=targets)
    check("probability", p_success=p_success)
    return targets * p_success - log(n)


def infected_proportion(targets: float) -> float:
    """Share of a large community that an event reaches, pi: the positive root of pi = 1 - exp(-targets pi).

    Zero if `targets` is at most 1.

    Examples
    --------
    >>> round(infected_proportion(2), 4), infected_proportion(1)
    (0.7968, 0.0)
    """
    check("not negative", targets=targets)
    if targets <= 1:
        return 0.0
    low, high = 1e-12, 1.0
    for _ in range(100):  # bisection: 1 - exp(-targets pi) - pi has one root above 0
        middle = (low + high) / 2
        if 1 - exp(-targets * middle) > middle:
            low = middle
        else:
            high = middle
    return high


def propagation(
    n: float, p_sel: float, p_a: float, z: float, p_success: float, proportion: float = 1.0
) -> float:
    """Probability pit that an event gets to the super-community (Equation 6).

    Parameters
    ----------
    n, p_sel, p_a, z : float
        Size of the community and its settings.
    p_success : float
        Probability that a message arrives at a live process.
    proportion : float
        Share of the community that has the event, pi.

    Examples
    --------
    >>> round(propagation(1000, 0.005, 1 / 3, 3, 0.85), 5)
    0.99992
    """
    check_upward(n, z, p_sel=p_sel, p_a=p_a, p_success=p_success, proportion=proportion)
    return 1 - float((1 - p_success) ** (n * p_sel * proportion * p_a * z))


def propagation_exact(
    n: float, p_sel: float, p_a: float, z: int, p_success: float, proportion: float = 1.0
) -> float:
    """The same probability with a random number of upward messages instead of its mean.

    Each of the n pi members that have the event passes it upward if it acts as a link and at least one of its
    z entries is chosen and reached, all independently.

    Examples
    --------
    >>> round(propagation_exact(1000, 0.005, 1 / 3, 3, 0.85), 4)
    0.9578
    """
    check_upward(n, z, p_sel=p_sel, p_a=p_a, p_success=p_success, proportion=proportion)
    one_link = p_sel * (1 - (1 - p_a * p_success) ** z)
    return 1 - float((1 - one_link) ** (n * proportion))


def camcast(c: Values, pit: Sequence[float]) -> float:
    """Probability that all processes of all communities on an event's way receive it.

    Parameters
    ----------
    c : float or sequence
        For each community on the way, including the first and the last.
    pit : sequence of float
        For each border on the way; empty for an event that stays in its community.

    Examples
    --------
    >>> round(camcast(5, [0.99992, 0.99992]), 4)
    0.9798
    """
    levels = len(pit) + 1
    pits = per_level("pit", pit, levels - 1, "probability")
    return prod(map(gossip, per_level("c", c, levels, "finite"))) * prod(pits)


def camcast_as_printed(c: Values, pit: Sequence[float]) -> float:
    """The product of exp(-exp(-c)) pit over all communities, including the last.

    Examples
    --------
    >>> round(camcast_as_printed(5, [0.99, 0.99, 0.99]), 4)
    0.9509
    """
    cs = per_level("c", c, len(pit), "finite")
    return prod(map(gossip, cs)) * prod(per_level("pit", pit, len(pit), "probability"))


def multicast(c: Values, levels: int) -> float:
    """Gossip multicast (b) in `levels` groups one after the other.

    Examples
    --------
    >>> round(multicast(5, 3), 4)
    0.98
    """
    return prod(map(gossip, per_level("c", c, levels, "finite")))


def hierarchical(groups: float, c1: float, c2: float) -> float:
    """Hierarchical gossip broadcast (c): exp(-C exp(-c1) - exp(-c2)).

    Examples
    --------
    >>> round(hierarchical(30, 5, 5), 4)
    0.8115
    """
    check("size", groups=groups)
    return float(gossip(c1) ** groups) * gossip(c2)
