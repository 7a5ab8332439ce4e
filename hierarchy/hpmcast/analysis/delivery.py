"""Expected delivery in a regular hierarchy (hpmcast, Section 5.2, equations 14 to 19 and 22 to 27).

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

from hierarchy.hpmcast.analysis.chain import (
    expected_infected,
    expected_rounds,
    reach_probability,
)
from sub2sub.errors import InputError


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
