"""Sizes, interests and rounds in a hierarchy (hpmcast, Sections 4.1.3, 5.2, 6.2; equations 12 to 21, 28).

Functions of a population follow equations 12 to 14; the others are for the regular hierarchy, n = a^l.
"""

from __future__ import annotations

from hierarchy.hpmcast.analysis.chain import expected_rounds
from hierarchy.hpmcast.population import Population


def known_participants(population: Population, x: int, redundancy: int) -> int:
    """How many participants x knows, delegates once per level (equation 12; at most R per subsystem).

    Examples
    --------
    >>> known_participants(Population.regular(a=4, levels=3), x=5, redundancy=2) == view_size(4, 3, 2)
    True
    """
    total = 0
    for level in range(1, population.levels + 1):
        edge = population.children(level)
        branch = population.branch_of[level, x]
        for child in range(edge[branch], edge[branch + 1]):
            first = population.first[level - 1]
            total += min(redundancy, int(first[child + 1] - first[child]))
    return total


def represented(population: Population, x: int, level: int) -> int:
    """How many participants a delegate of x's subsystem of `level` represents (equation 13).

    Examples
    --------
    >>> represented(Population.regular(a=4, levels=3), x=0, level=2)
    16
    """
    branch = population.branch_of[level, x]
    return int(population.first[level][branch + 1] - population.first[level][branch])


def interest_probability(p: float, participants: float) -> float:
    """Probability that at least one participant is interested, each with probability p (equations 14, 19).

    For the entries of a view of level i in a regular hierarchy, `participants` is a ** (i - 1).

    Examples
    --------
    >>> interest_probability(0.5, 2)
    0.75
    """
    return float(1 - (1 - p) ** participants)


def level_view_size(a: float, level: int, redundancy: int) -> float:
    """Entries of a view, m(i) (equation 17).

    Examples
    --------
    >>> level_view_size(22, 3, 3), level_view_size(22, 1, 3)
    (66, 22)
    """
    return redundancy * a if level > 1 else a


def view_size(a: float, levels: float, redundancy: int) -> float:
    """Entries of all views of a participant, m = R a (l - 1) + a (equation 18); l need not be whole.

    Examples
    --------
    >>> view_size(22, 3, 3)
    154
    """
    return redundancy * a * (levels - 1) + a


def level_rounds(
    a: float, level: int, redundancy: int, fanout: float, p: float,
    *, loss: float = 0.0, crash: float = 0.0, c: float = 0.0,
) -> float:  # fmt: skip
    """Rounds gossiped at one level, T(m(i) p(i), F p(i)) (a term of equation 20).

    Examples
    --------
    >>> round(level_rounds(22, 1, 3, 2, 0.1), 2), round(level_rounds(22, 3, 3, 2, 0.1), 2)
    (8.27, 5.91)
    """
    share = interest_probability(p, a ** (level - 1))
    size = level_view_size(a, level, redundancy)
    return expected_rounds(size * share, fanout * share, loss, crash, c)


def total_rounds(
    a: float, levels: int, redundancy: int, fanout: float, p: float,
    *, loss: float = 0.0, crash: float = 0.0, c: float = 0.0, pessimistic: bool = False,
) -> float:  # fmt: skip
    """Rounds through all levels (equation 21; 20 if `pessimistic`).

    Below the highest level, equation 21 subtracts the rounds from 1 to R infected, because a subsystem starts
    with its delegates. For p = 1 it is T(n, F) for every depth (equation 28).

    Examples
    --------
    >>> round(total_rounds(10, 3, 3, 2, p=1.0), 6) == round(expected_rounds(10**3, 2), 6)
    True
    """
    settings = {"loss": loss, "crash": crash, "c": c}
    rounds = sum(level_rounds(a, i, redundancy, fanout, p, **settings) for i in range(1, levels + 1))
    if not pessimistic:
        rounds -= (levels - 1) * expected_rounds(redundancy, fanout, **settings)
    return rounds
