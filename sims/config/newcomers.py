"""Newcomers who want what the workload says next: `kind = "join"` of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sims.engine import Schedule
from sims.engine.control import Row
from sims.engine.faults import enter
from sims.engine.sessions import SessionSettings
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError

__all__ = ["REMEMBERED", "Newcomers", "Subscriptions", "room"]

REMEMBERED = 60  # cycles after which nobody links to one who has left, with room to spare


class Scheduled(Protocol):
    """A fault with its settings, and when it happens."""

    @property
    def kind(self) -> str:
        """Its name."""
        ...

    @property
    def schedule(self) -> Schedule:
        """When it happens."""
        ...

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Its settings."""
        ...


def room(faults: Iterable[Scheduled], size: int, cycles: int, seed: int = 0) -> int:
    """Places for all newcomers of a run; those of one who left are free again when nobody remembers it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> when = Schedule(start=10, until=30)
    >>> churn = SimpleNamespace(kind="churn", schedule=when, arguments={"share": 0.05})
    >>> room([churn], size=1000, cycles=40)
    1000
    """
    faults = tuple(faults)
    due = [
        (each, sum(each.schedule.due(cycle) for cycle in range(cycles + 1)))
        for each in faults
        if each.kind in ("join", "churn", "resubscribe")
    ]
    joining = sum(times * int(each.arguments["count"]) for each, times in due if each.kind == "join")
    replaced = sum(
        min(times, REMEMBERED) * math.ceil(float(each.arguments["share"]) * (size + joining))
        for each, times in due
        if each.kind != "join"
    )
    visits = [SessionSettings(**_sessions(each.arguments)) for each in faults if each.kind == "sessions"]
    back = sum(each.joins(size, cycles + 1, seed, REMEMBERED) for each in visits)
    return joining + replaced + back


def _sessions(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in SessionSettings.__dataclass_fields__}


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
