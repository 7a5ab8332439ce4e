"""Each system in one line: what it costs at its working point, and why a number is missing.

A system's *working point* in a world is the knob with the fewest messages among those that deliver `GOOD` of
all deliveries with 5 % of the messages lost: the lower end of the 95 % confidence interval of the hit ratio,
over a thousand events and all seeds, is at least `GOOD`. Costs are measured with other events. A system of
which no knob delivers that much is shown at the knob that delivers most, and is not compared with others.
Working points are not chosen without faults: a ring would then need no shortcuts and gossip hardly any
duplicates, with which nobody would run them.
"""

from __future__ import annotations

from math import floor
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sims.compare.worlds import CRASH, GOOD, NONE, WORKING

BUILT = {
    "links": "links.mean",
    "links, max": "links.max",
    "memory bytes": "memory_bytes.mean",
    "upkeep messages": "upkeep_messages.mean",
    "upkeep, median": "upkeep_messages.median",
    "upkeep, p99": "upkeep_messages.p99",
    "upkeep, max": "upkeep_messages.max",
    "upkeep bytes": "upkeep_bytes.mean",
    "cycles to converge": "converge_cycles",
    "cycles to heal": "heal_cycles",
    "seconds to heal": "heal_seconds",
    "upkeep bit/s": "upkeep_bits_per_second",
}
CRASHED = "crashed_hit_ratio"  # the hit ratio with `CRASH`, and nothing repaired
PUBLISHED = {
    "hit ratio": "hit_ratio",
    f"hit ratio, {CRASH}": CRASHED,
    "messages per event": "messages_per_event",
    "per delivery": "messages_per_delivery",
    "bytes per event": "bytes_per_event",
    "bytes per delivery": "bytes_per_delivery",
    "duplicates": "duplicates_per_event",
    "spam": "spam_per_event",
    "hops": "hops_to_last_match",
    "ms": "ms_median",
    "ms, p99": "ms_p99",
    "ms, max": "ms_max",
    "last ms": "last_ms_median",
    "last ms, p99": "last_ms_p99",
    "last ms, max": "last_ms_max",
}
REACHES = "99 % with 5 % lost"
HEALED = "seeds healed"
COLUMNS = ["system", "knob", REACHES, *PUBLISHED, *BUILT, HEALED, "notes"]


class WorkingPoint(NamedTuple):
    """A knob, and what it delivers under the fault it was chosen for.

    Attributes
    ----------
    knob : str
    hit, low : float
        Hit ratio, and the lower end of its confidence interval.
    reached : bool
        Whether that is enough.
    """

    knob: str
    hit: float
    low: float
    reached: bool

    def __str__(self) -> str:
        """Yes, or how much at best."""
        return "yes" if self.reached else f"no, {self.hit:.3f} at best"


def value(
    table: pd.DataFrame, world: str, system: str, metric: str, knob: str = "", loss: float = 0.0,
    crashed: float = 0.0,
) -> pd.Series | None:  # fmt: skip
    """One cell of the table; None if there is none."""
    found = table[
        (table.world == world) & (table.system == system) & (table.metric == metric) & (table.knob == knob)
        & (table.loss == loss) & (table.crashed == crashed)
    ]  # fmt: skip
    return None if found.empty else found.iloc[0]


def cost(table: pd.DataFrame, world: str, system: str, metric: str) -> pd.Series | None:
    """The cell of a metric at a system's working point."""
    return _cost_at(table, world, system, metric, working_point(table, world, system))


def _cost_at(
    table: pd.DataFrame, world: str, system: str, metric: str, point: WorkingPoint | None
) -> pd.Series | None:
    """The cell of a metric at a working point; metrics of the overlay, without events, have no knob."""
    is_built = metric.startswith(("links", "memory", "upkeep", "converge", "heal"))
    knob = "" if point is None or is_built else point.knob
    fault = CRASH if metric == CRASHED else NONE
    return value(table, world, system, metric.removeprefix("crashed_"), knob, *fault)


def ends(cell: pd.Series | None) -> tuple[float, float, float]:
    """Mean, low and high of a cell; NaN if there is none."""
    return (np.nan,) * 3 if cell is None else (cell["mean"], cell["low"], cell["high"])


def systems_in(table: pd.DataFrame, world: str) -> list[str]:
    """The systems of a world."""
    return [str(system) for system in table[table.world == world].system.unique()]


def family_in(table: pd.DataFrame) -> list[tuple[float, str]]:
    """The worlds between topics and ranges, in the order of their shares t of ranges."""
    worlds = [world for world in dict.fromkeys(table.world) if is_between(world)]
    return sorted((float(world.split(" ")[1]), str(world)) for world in worlds)


def is_between(world: str) -> bool:
    """Whether a world lies between topics and ranges."""
    return world.startswith("between")


def working_point(table: pd.DataFrame, world: str, system: str) -> WorkingPoint | None:
    """The cheapest knob that delivers enough with some messages lost, else the one that delivers most."""
    here = table[
        (table.world == world) & (table.system == system) & (table.loss == WORKING.loss)
        & (table.crashed == WORKING.crashed)
    ]  # fmt: skip
    chosen = here[here.metric == "choosing_hit_ratio"].set_index("knob")
    if chosen.empty:
        return None
    cost = here[here.metric == "messages_per_event"].set_index("knob")["mean"]
    # One that only some seeds have tried was dearer than what the others chose, and has too few events.
    chosen = chosen[chosen["seeds"] == chosen["seeds"].max()]
    enough = chosen.index[chosen["low"] >= GOOD]
    knob = cost[enough].idxmin() if len(enough) else chosen["mean"].idxmax()
    row = chosen.loc[knob]
    return WorkingPoint(str(knob), float(row["mean"]), float(row["low"]), bool(len(enough)))


def summary(table: pd.DataFrame, world: str) -> list[dict[str, str]]:
    """A line for each system of a world."""
    rows = []
    for system in systems_in(table, world):
        point, cells = _cells(table, world, system)
        row = dict.fromkeys(COLUMNS, "—") | {"system": system}
        if point is not None:
            row |= {"knob": point.knob, REACHES: str(point)}
        row |= {name: _shown(cell) for name, cell in cells.items()}
        notes = [f"{name}: {cell.note}" for name, cell in cells.items() if cell.note]
        if (seeds := healed(table, world, system)) is not None:
            row[HEALED] = f"{seeds[0]} of {seeds[1]}"
        unable = value(table, world, system, "unable")
        row["notes"] = "; ".join([*notes, *([] if unable is None else [str(unable.note)])])
        rows.append(row)
    return rows


def _cells(table: pd.DataFrame, world: str, system: str) -> tuple[WorkingPoint | None, dict[str, pd.Series]]:
    """The working point of a system, and the cells of its columns there."""
    point = working_point(table, world, system)
    found = {
        name: _cost_at(table, world, system, metric, point) for name, metric in (PUBLISHED | BUILT).items()
    }
    return point, {name: cell for name, cell in found.items() if cell is not None}


def healed(table: pd.DataFrame, world: str, system: str) -> tuple[int, int] | None:
    """In how many seeds a system healed, and of how many; None where that was not measured."""
    cycles, tried = (value(table, world, system, name) for name in ("heal_cycles", "healed_hit_ratio"))
    return None if cycles is None or tried is None else (int(cycles.seeds), int(tried.seeds))


def facts(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The same as numbers, for programs: a dictionary for each world and system."""
    found = []
    for world, system in table[["world", "system"]].drop_duplicates().itertuples(index=False, name=None):
        point, cells = _cells(table, world, system)
        row: dict[str, Any] = {"world": world, "system": system}
        if point is not None:
            row |= {"knob": point.knob, "reached": point.reached, "hit_ratio_chosen": point.hit}
        for name, cell in cells.items():
            if not np.isnan(cell["mean"]):
                row[(PUBLISHED | BUILT)[name]] = {end: float(cell[end]) for end in ("mean", "low", "high")}
        if (seeds := healed(table, world, system)) is not None:
            row["seeds_healed"], row["seeds"] = seeds
        found.append(row)
    return found


def _shown(cell: pd.Series) -> str:
    """A mean with half of its interval."""
    if np.isnan(cell["mean"]):
        return "—"
    half = (cell.high - cell.low) / 2
    return number(cell["mean"]) + (f" ± {number(half)}" if half > 0 else "")


def percent(share: float) -> str:
    """A share in percent; rounded down, so that only all of it is 100 %.

    Examples
    --------
    >>> percent(0.99999), percent(0.28512), percent(1.0)
    ('99.99', '28.5', '100')
    """
    return f"{100 * share:.3g}" if share < 0.99 else f"{floor(1e4 * share + 1e-6) / 100:g}"


def number(x: float) -> str:
    """A number as tables show it."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}" if abs(x) < 0.995 or abs(x) >= 1 else f"{x:.4f}"
