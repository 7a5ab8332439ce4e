"""Expected delivery in a regular hierarchy (hpmcast, Sections 5.2.3 and 5.2.4, equations 22 to 27).

At each level, the chain gives the expected share of interested delegates that gossip infects. An entity (a
subsystem with its R delegates; at level 1 a participant) is infected if one of them is, and only infected
entities continue at the level below.

Differences from the paper:

- An infected entity of level i + 1 is interested, so it has a p(i) / p(i + 1) interested entities of level i
  and not a p(i). With a p(i), as printed, the delivery for p < 1 would be too small by the product of all
  p(i), even if no participant were missed. `conditional=False` is the printed form.
- Equation 24 multiplies by P[g(i+1) = j], and equation 25 does so again; here it is done once.
- Equation 27, whose operator is missing in the text, is the product over the levels: a sum would add
  participants and subsystems.
- The equations use the mean share of interested entries for every group, though groups differ, most at
  level 1 where m p is small; hpmcast measures the share in each group. `hpmcast-fig7` shows both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.analysis.chain import (
    binomials,
    expected_infected,
    expected_rounds,
    log_factorials,
    reach_probability,
)
from hierarchy.hpmcast.analysis.sizes import interest_probability, level_view_size
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError


@dataclass(frozen=True)
class Regular:
    """A regular hierarchy and the event to be multicast in it.

    Attributes
    ----------
    a, levels, redundancy, fanout : int
        a, l, R, F.
    p : float
        Probability that a participant is interested.
    loss, crash, c : float
        As in `expected_rounds`.
    lowest : int
        Factor on the size of level 1 for its rounds: R if line 27 of Figure 6 is taken as printed, else 1.

    Examples
    --------
    >>> Regular(a=22, levels=3, redundancy=3, fanout=2, p=0.5).share(1)
    0.5
    """

    a: int
    levels: int
    redundancy: int
    fanout: int
    p: float
    loss: float = 0.0
    crash: float = 0.0
    c: float = 0.0
    lowest: int = 1

    def __post_init__(self) -> None:
        """Refuse values that are not a hierarchy."""
        if min(self.a, self.levels, self.redundancy, self.fanout) < 1:
            raise InputError("regular hierarchy: expected a, levels, redundancy and fanout of at least 1")
        if not 0 < self.p <= 1:
            raise InputError(f"p: expected a probability above 0, got {self.p}")

    def share(self, level: int) -> float:
        """p(i): the expected share of interested entries at a level; 1 above the highest."""
        return interest_probability(self.p, self.a ** (level - 1)) if level <= self.levels else 1.0


def entity_infection(system: Regular, level: int, initial: int = 1) -> float:
    """r(i): the probability that an interested entity is infected by gossip at its level (equations 22, 23).

    Parameters
    ----------
    initial : int
        Infected participants at the start of this level; 1 is the paper's pessimistic choice.

    Examples
    --------
    >>> round(entity_infection(Regular(22, 3, 3, 2, p=1.0), level=3), 3)
    1.0
    """
    share, size = system.share(level), level_view_size(system.a, level, system.redundancy)
    whole = max(1, round(size * share))
    reach = reach_probability(size * share, system.fanout * share, system.loss, system.crash)
    counted = size * (system.lowest if level == 1 else 1)
    rounds = expected_rounds(counted * share, system.fanout * share, system.loss, system.crash, system.c)
    fraction = expected_infected(whole, reach, rounds, initial) / whole
    return float(1 - (1 - fraction) ** (size / system.a))


def expected_delivery(system: Regular, initial: int = 1, conditional: bool = True) -> float:
    """The expected share of interested participants that get the event (equations 26 and 27 over n p).

    Examples
    --------
    >>> 0.9 < expected_delivery(Regular(22, 3, 3, 2, p=1.0)) < 1
    True
    """
    infected = 1.0
    for level in range(system.levels, 0, -1):
        entities = system.a * system.share(level)
        if conditional:
            entities /= system.share(level + 1)
        infected *= entity_infection(system, level, initial if level < system.levels else 1) * entities
    return float(infected / (system.a**system.levels * system.p))


@kernel
def _mix(above, entities, infection, logs, out, row):
    """Equations 24 and 25: add up binomials over the number of infected entities above."""
    out[:] = 0.0
    for j in range(above.shape[0]):
        if above[j] > 0.0:
            trials = min(np.int64(np.round(j * entities)), out.shape[0] - 1)
            binomials(trials, infection, logs, row)
            for k in range(trials + 1):
                out[k] += above[j] * row[k]


def infected_entities(system: Regular, initial: int = 1) -> list[NDArray[np.float64]]:
    """P[g(i) = k]: how many entities of a level are infected, highest level first (equations 24 and 25).

    Examples
    --------
    >>> [float(chance.sum().round(6)) for chance in infected_entities(Regular(5, 2, 2, 3, p=0.5))]
    [1.0, 1.0]
    """
    chances, above = [], np.array([0.0, 1.0])
    for level in range(system.levels, 0, -1):
        entities = system.a * system.share(level) / system.share(level + 1)
        most = int(np.ceil((len(above) - 1) * entities))
        out = np.empty(most + 1)
        infection = entity_infection(system, level, initial if level < system.levels else 1)
        _mix(above, entities, infection, log_factorials(most), out, np.empty(most + 1))
        chances.append(out)
        above = out
    return chances
