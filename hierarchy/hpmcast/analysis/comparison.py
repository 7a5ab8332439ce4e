"""The PMcast rows of CAMCAST's tables 1 and 2 (CAMCAST, Section 6.1), by the equations of hpmcast.

CAMCAST calculates its PMcast rows "using the analytical equations" and says neither which nor with what
fanout, redundancy or depth. The reading here: as many levels as topics, a = n^(1/l), the fanout of CAMCAST's
own setting (c = 5), R = z = 3, reception 0.85. For 1000-100-10, 3 x 100 and 5 x 100:

- Rounds (table 1: 6.61 5.44 5.89). Everybody is interested, so the depth does not matter (equation 28). The
  chain of equation 3 gives 6.80 5.66 6.12, Pittel's asymptote with c = 0 gives 5.88 4.78 5.21, and with
  F = 4, which comes nearest of all whole fanouts, 6.80 5.53 6.02. The paper's values lie on k log n + c
  with k = 0.894 and c = 0.34, which is the asymptote of no whole fanout.
- Parasites (table 2: 453 369 615), for an event of the root topic, its subscribers spread evenly: 42 82 198
  uninterested delegates touched, 229 965 1768 messages to them. Neither is the paper's row, in which
  the second and third value are exactly 1.23 n; no combination of F, R, l and these equations gave all
  three. Had each community addresses of its own, no uninterested delegate would be touched at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from hierarchy.hpmcast.analysis.chain import expected_rounds, reach_probability, rounds_to_everybody
from hierarchy.hpmcast.analysis.sizes import interest_probability, level_rounds
from hierarchy.hpmcast.analysis.upkeep import delegates_of_level
from sub2sub.errors import InputError

__all__ = ["parasite_messages", "pmcast_rounds", "touched_delegates"]


def pmcast_rounds(
    sizes: Sequence[int], fanout: int = 5, loss: float = 0.15, *, asymptotic: bool = False
) -> float:
    """Expected rounds to reach everybody in communities of these sizes: by the chain, or by the asymptote.

    Examples
    --------
    >>> [round(pmcast_rounds(sizes), 2) for sizes in ([1000, 100, 10], [100] * 3, [100] * 5)]
    [6.8, 5.66, 6.12]
    >>> [round(pmcast_rounds(sizes, asymptotic=True), 2) for sizes in ([1000, 100, 10], [100] * 3, [100] * 5)]
    [5.88, 4.78, 5.21]
    """
    n = sum(sizes)
    if asymptotic:
        return expected_rounds(n, fanout, loss)
    return rounds_to_everybody(n, reach_probability(n, fanout, loss))


def _tree(sizes: Sequence[int]) -> tuple[float, int, float]:
    """Arity, depth and interested share of a regular hierarchy with as many participants and levels."""
    if len(sizes) < 1 or min(sizes) < 1:
        raise InputError(f"sizes: expected at least one participant in each community, got {list(sizes)}")
    n, levels = sum(sizes), len(sizes)
    return n ** (1 / levels), levels, sizes[-1] / n


def touched_delegates(sizes: Sequence[int], redundancy: int = 3) -> float:
    """Expected uninterested delegates that get an event for the last community's members.

    A delegate whose highest level is i gets it if its subsystem of level i - 1 is interested, with
    probability p(i), and wants it itself with p(1); there are d(i) of them (equations 19 and 33).

    Examples
    --------
    >>> [round(touched_delegates(sizes)) for sizes in ([1000, 100, 10], [100] * 3, [100] * 5)]
    [42, 82, 198]
    """
    a, levels, p = _tree(sizes)
    return sum(
        delegates_of_level(a, levels, redundancy, i) * (interest_probability(p, a ** (i - 1)) - p)
        for i in range(2, levels + 1)
    )


def parasite_messages(
    sizes: Sequence[int], redundancy: int = 3, fanout: int = 5, loss: float = 0.15
) -> float:
    """Messages to those delegates: at each level they get F p(i) a round while the level lasts.

    An overestimate, since not everybody gossips from the first round on.

    Examples
    --------
    >>> [round(parasite_messages(sizes)) for sizes in ([1000, 100, 10], [100] * 3, [100] * 5)]
    [229, 965, 1768]
    """
    a, levels, p = _tree(sizes)
    total = 0.0
    for i in range(2, levels + 1):
        share = interest_probability(p, a ** (i - 1))
        rounds = max(0.0, level_rounds(a, i, redundancy, fanout, p, loss=loss))
        uninterested = redundancy * a ** (levels - i + 1) * (share - p)
        total += uninterested * fanout * share * (1 - loss) * rounds
    return total
