"""How likely everybody receives an event: CAMCAST Section 4.5.

In gossip with ln n + c targets each, everybody among n receives an event with probability exp(-exp(-c))
as n grows (Kermarrec, Massoulié, Ganesh, TPDS 2003). CAMCAST multiplies that over the communities an event
passes, and the probability pit that it gets from each to the next.

Readings
--------
- The paper multiplies one pit per community, the last included, though an event that has to come from t_j
  to t_i passes j - i borders. `camcast` takes one pit per border; `camcast_as_printed` is the paper's,
  which the conditions of Section 4.5.2 (`hierarchy.analysis.tuning`) rest on.
- Equation 6 puts the mean number of upward messages into the exponent. The number varies, so the real pit
  is smaller: 0.958 instead of 0.99992 in the paper's own setting. `propagation_exact` keeps it random.
- The paper leaves loss out within communities. `effective_c` puts it in: of ln n + c messages a share
  p arrives, which is as if c were p (ln n + c) - ln n.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, prod

from hierarchy.analysis.domain import Values, check, per_level


def gossip(c: float) -> float:
    """Probability that everybody receives, ln n + c targets each: exp(-exp(-c)).

    Examples
    --------
    >>> round(gossip(5), 4), round(gossip(0), 4)
    (0.9933, 0.3679)
    """
    check("finite", c=c)
    return exp(-exp(-c)) if c > -700 else 0.0


def effective_c(n: float, targets: float, p_success: float) -> float:
    """The c that `targets` messages are worth in a community of n, if a share p_success of them arrives.

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

    Zero if nobody reaches at least one other on average.

    Examples
    --------
    >>> round(infected_proportion(2), 4), infected_proportion(1)
    (0.7968, 0.0)
    """
    check("not negative", targets=targets)
    if targets <= 1:
        return 0.0
    low, high = 1e-12, 1.0
    for _ in range(100):  # the function crosses zero once above 0, from plus to minus
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
    check("size", n=n)
    check("probability", p_sel=p_sel, p_a=p_a, p_success=p_success, proportion=proportion)
    check("count", z=z)
    return 1 - float((1 - p_success) ** (n * p_sel * proportion * p_a * z))


def propagation_exact(
    n: float, p_sel: float, p_a: float, z: int, p_success: float, proportion: float = 1.0
) -> float:
    """The same probability without replacing the number of upward messages by its mean.

    Each of the n pi members that have the event fails to bring it up unless it acts as a link and one of
    its z entries is chosen and reached, each independently.

    Examples
    --------
    >>> round(propagation_exact(1000, 0.005, 1 / 3, 3, 0.85), 4)
    0.9578
    """
    check("size", n=n)
    check("probability", p_sel=p_sel, p_a=p_a, p_success=p_success, proportion=proportion)
    check("count", z=z)
    one_link = p_sel * (1 - (1 - p_a * p_success) ** z)
    return 1 - float((1 - one_link) ** (n * proportion))


def camcast(c: Values, pit: Sequence[float]) -> float:
    """Probability that everybody in the community above the last border receives, and all on the way.

    Parameters
    ----------
    c : float or sequence
        For each community passed, the first and the last included.
    pit : sequence of float
        For each border passed; empty for an event that stays in its community.

    Examples
    --------
    >>> round(camcast(5, [0.99992, 0.99992]), 4)
    0.9798
    """
    levels = len(pit) + 1
    pits = per_level("pit", pit, levels - 1, "probability")
    return prod(map(gossip, per_level("c", c, levels, "finite"))) * prod(pits)


def camcast_as_printed(c: Values, pit: Sequence[float]) -> float:
    """The product of exp(-exp(-c)) pit over all communities, the last included.

    Examples
    --------
    >>> round(camcast_as_printed(5, [0.99, 0.99, 0.99]), 4)
    0.9509
    """
    cs = per_level("c", c, len(pit), "finite")
    return prod(map(gossip, cs)) * prod(per_level("pit", pit, len(pit), "probability"))


def broadcast(c: float) -> float:
    """Gossip broadcast (a).

    Examples
    --------
    >>> round(broadcast(5), 4)
    0.9933
    """
    return gossip(c)


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
