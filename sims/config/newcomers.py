"""Newcomers who want what the workload says next: `kind = "join"` of a run."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sims.engine.control import Row
from sims.engine.faults import enter
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError

__all__ = ["Newcomers", "Subscriptions"]


class Subscriptions(Protocol):
    """Any number of subscriptions, a row each."""

    def rows(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Closed ranges (lows, highs) of the subscriptions [start, stop)."""
        ...


class Newcomers:
    """So many subscribers join, each on a host of its own, with the next subscriptions of the workload.

    Parameters
    ----------
    interests : Subscriptions
        Where their subscriptions come from.
    count : int
        How many join each time.
    name : str
        Of the control: of its row in the log of faults, and of its draws.
    """

    def __init__(self, interests: Subscriptions, count: int, name: str = "join") -> None:
        if count < 1:
            raise InputError(f"{name}.count: expected at least 1 newcomer, got {count}")
        self.interests, self.count, self.name = interests, count, name

    def execute(self, simulation: Simulation) -> Row:
        """Let them in."""
        first = int(simulation.overlay.population.row.max()) + 1
        lows, highs = self.interests.rows(first, first + self.count)
        return {"peers": int(enter(simulation, self.name, lows, highs).size)}
