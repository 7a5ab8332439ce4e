"""When a control runs: PeerSim's `from / until / step / at` (peersim.core.Scheduler)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from sub2sub.errors import InputError


class When(TypedDict, total=False):
    """The fields of a `Schedule`, given by name."""

    start: int
    until: int | None
    every: int
    at: int | None


@dataclass(frozen=True)
class Schedule:
    """The cycles in which a control runs: `at` one cycle, or `every` n-th cycle from `start` until `until`.

    `until` is exclusive, as in PeerSim; cycles count from 1, and 0 is the state before the first.

    Attributes
    ----------
    start : int
        The first cycle (`from` in files).
    until : int, optional
        The cycle at which the schedule ends, exclusive; the end of the run if not given.
    every : int
        Number of cycles between two executions.
    at : int, optional
        The only cycle; replaces the other settings.

    Examples
    --------
    >>> [cycle for cycle in range(12) if Schedule(start=2, every=3, until=9).due(cycle)]
    [2, 5, 8]
    >>> [cycle for cycle in range(12) if Schedule(at=4).due(cycle)]
    [4]
    """

    start: int = 0
    until: int | None = None
    every: int = 1
    at: int | None = None

    def __post_init__(self) -> None:
        given = {"from": self.start, "until": self.until, "every": self.every, "at": self.at}
        for name, value in given.items():
            if value is not None and not isinstance(value, int | np.integer):
                raise InputError(f"{name}: expected a whole number of cycles, got {value!r}")
        if self.every < 1:
            raise InputError(f"every: expected 1 or more cycles, got {self.every}")
        first = self.start if self.at is None else self.at
        if min(first, self.start) < 0:
            raise InputError(f"from, at: expected cycle 0 or later, got {first}")
        if self.until is not None and self.until <= self.start:
            raise InputError(f"until: expected a cycle after from = {self.start}, got {self.until}")

    def due(self, cycle: int) -> bool:
        """Whether the control runs in this cycle."""
        if self.at is not None:
            return cycle == self.at
        within = cycle >= self.start and (self.until is None or cycle < self.until)
        return within and (cycle - self.start) % self.every == 0
