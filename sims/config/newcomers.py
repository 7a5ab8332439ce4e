"""Newcomers with the next subscriptions of the workload: `kind = "join"` in an experiment file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

from sims.config.interests import Source
from sims.engine.control import Row
from sims.engine.faults import enter
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError

if TYPE_CHECKING:
    from sims.config.entries import Entry

REMEMBERED = 60  # cycles after which no links to a peer that left remain, with a margin


def room(faults: Iterable[Entry], size: int, cycles: int, seed: int = 0) -> int:
    """Return the number of places that the newcomers of a run need.

    The place of a peer that left is used again after `REMEMBERED` cycles.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sims.engine import Schedule
    >>> when = Schedule(start=10, until=30)
    >>> churn = SimpleNamespace(kind="churn", schedule=when, arguments={"share": 0.05})
    >>> room([churn], size=1000, cycles=40)
    1000
    """
    faults = tuple(faults)
    due = [
        (each, sum(each.schedule.due(cycle) for cycle in range(cycles)))
        for each in faults
        if each.kind in ("join", "churn", "resubscribe")
    ]
    joining = sum(times * int(each.arguments["count"]) for each, times in due if each.kind == "join")
    joining += sum(int(each.arguments["newcomers"]) for each in faults if each.kind == "add topic")
    replaced = sum(
        min(times, REMEMBERED) * math.ceil(float(each.arguments["share"]) * (size + joining))
        for each, times in due
        if each.kind != "join"
    )
    for each in faults:
        if each.kind == "sessions":
            from sims.engine.sessions import SessionSettings

            own = {field.name: each.arguments[field.name] for field in fields(SessionSettings)}
            joining += SessionSettings(**own).joins(size, cycles + 1, seed, REMEMBERED)
    return joining + replaced


class Newcomers:
    """A number of subscribers join, each on a new host, with the next subscriptions of the workload.

    Parameters
    ----------
    interests : Source
        Their subscriptions.
    count : int
        Number of subscribers that join each time.
    name : str
        Name of the control: names its table and selects its random numbers.
    """

    def __init__(self, interests: Source, count: int, name: str = "join") -> None:
        if count < 1:
            raise InputError(f"{name}.count: expected at least 1 newcomer, got {count}")
        self.interests, self.count, self.name = interests, count, name

    def execute(self, simulation: Simulation) -> Row:
        """Let the newcomers join."""
        first = int(simulation.overlay.population.row.max()) + 1
        lows, highs = self.interests.rows(first, first + self.count)
        return {"peers": int(enter(simulation, self.name, lows, highs).size)}
