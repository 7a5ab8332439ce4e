"""Exact tables of a population, those of a perfect membership (hpmcast, Section 4.1).

All participants of a subsystem share one table per level, so the tables of a level have as many lines as
there are populated subsystems, and a million participants fit into a few arrays. Crashed participants can be
left out: the membership protocol should converge to these tables.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.membership.tables import LineTables, condense, electorate, empty_table
from hierarchy.hpmcast.population import Population
from hierarchy.hpmcast.settings import Condensation
from hierarchy.hpmcast.views import Knowledge
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Boxes

DEFAULT = Condensation()


@kernel
def _condense_all(table, bounds, compared, target, compared_there, voters):
    row = np.int64(0)  # a literal 0 has another type, for which numba would compile another kernel
    for b in range(target.members.shape[1]):
        condense(table, row, bounds[b], bounds[b + 1], compared, target, row, b, compared_there, voters)


def exact_knowledge(
    population: Population,
    settings: Condensation = DEFAULT,
    interests: Boxes | None = None,
    capacity: ArrayLike | None = None,
    alive: NDArray[np.uint8] | None = None,
) -> Knowledge:
    """The exact tables of a population.

    Parameters
    ----------
    population : Population
    settings : Condensation
    interests : pair of (n, d) arrays, optional
        Half-open boxes as from `sub2sub.geometry.boxes.normalise`; without them all events pass all filters.
    capacity : (n,) array_like, optional
        Elect participants with the largest capacity, not those with the smallest addresses.
    alive : (n,) uint8, optional
        Participants with 0 are left out.

    Examples
    --------
    >>> known = exact_knowledge(Population.regular(a=4, levels=2), Condensation(redundancy=2))
    >>> known.tables[1].delegates[0].tolist()
    [[0, 1], [4, 5], [8, 9], [12, 13]]
    >>> views = known.views()
    >>> views.entry[views.start[4] : views.start[5]].tolist()
    [0, 1, 4, 5, 8, 9, 12, 13]
    """
    n, levels = population.n, population.levels
    voters = electorate(n, interests, capacity, settings.by_coverage)
    attributes = voters.own.shape[2]
    compared = settings.mask(levels, attributes)
    leaf = empty_table(1, n, settings.redundancy, 1, attributes)
    leaf.members[0] = 1 if alive is None else alive
    leaf.delegates[0, :, 0] = np.arange(n)
    leaf.used[:] = 1
    leaf.boxes[0, :, 0] = voters.own
    leaf.stamp[:] = 0
    tables: list[LineTables] = [leaf]
    bounds = [population.children(level).astype(np.int64) for level in range(1, levels + 1)]
    for i, most in enumerate(settings.most(levels)[1:], start=1):
        table = empty_table(1, population.branches(i), settings.redundancy, most, attributes)
        _condense_all(tables[i - 1], bounds[i - 1], compared[i - 1], table, compared[i], voters)
        tables.append(table)
    return Knowledge(tables, bounds, population.branch_of[1:], compared)


def spread_interest(population: Population, interested: ArrayLike) -> NDArray[np.uint8]:
    """Which lines of exact tables contain an interested participant: exact filters.

    Examples
    --------
    >>> spread_interest(Population.regular(a=2, levels=2), [0, 0, 0, 1]).tolist()
    [0, 0, 0, 1, 0, 1]
    """
    flags = np.asarray(interested, np.uint8)
    if flags.shape != (population.n,):
        raise InputError(f"interested: expected {population.n} flags, got shape {flags.shape}")
    parts = [flags]
    for level in range(1, population.levels):
        parts.append(np.maximum.reduceat(flags, population.first[level][:-1]))
    return np.concatenate(parts)
