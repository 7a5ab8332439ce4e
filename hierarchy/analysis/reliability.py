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
- The paper ignores loss within communities. If a share p of the ln n + c messages arrives, the c that counts
  is p (ln n + c) - ln n.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, prod

from hierarchy.analysis.domain import Values, check, check_upward_messages, per_level


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


def propagation_exact(
    n: float, p_sel: float, p_a: float, z: int, p_success: float, proportion: float = 1.0
) -> float:
    """Probability pit that an event gets to the super-community (Equation 6).

    The number of messages is random here, not its mean: each of the n pi members that have the event passes
    it upward if it acts as a link and at least one of its z entries is chosen and reached, independently.

    Examples
    --------
    >>> round(propagation_exact(1000, 0.005, 1 / 3, 3, 0.85), 4)
    0.9578
    """
    check_upward_messages(n, z, p_sel=p_sel, p_a=p_a, p_success=p_success, proportion=proportion)
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
