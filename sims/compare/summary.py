"""Each system in one line: what it costs at its working point, and why a number is missing.

A system's *working point* in a world is the knob with the fewest messages among those that deliver `GOOD` of
what is wanted with 5 % of the messages lost; *deliver* means that the lower end of the 95 % confidence
interval of the hit ratio is not below, over a thousand events and all seeds. Costs are measured with other
events. Where no knob delivers that much the system is shown as such, at the knob that delivers most, and is
compared with nobody. Tuned without any faults a ring needs no shortcut and gossip hardly a duplicate, and
nobody would run either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sims.compare.worlds import GOOD, WORKING, Fault

__all__ = [
    "COLUMNS",
    "GOOD",
    "WORKING",
    "WorkingPoint",
    "facts",
    "number",
    "summary",
    "value",
    "working_point",
]

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
PUBLISHED = {
    "hit ratio": "hit_ratio",
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


def working_point(
    table: pd.DataFrame, world: str, system: str, fault: Fault = WORKING, good: float = GOOD
) -> WorkingPoint | None:
    """The cheapest knob that delivers enough under a fault, else the one that delivers most."""
    here = table[
        (table.world == world) & (table.system == system) & (table.loss == fault.loss)
        & (table.crashed == fault.crashed)
    ]  # fmt: skip
    chosen = here[here.metric == "choosing_hit_ratio"].set_index("knob")
    if chosen.empty:
        return None
    cost = here[here.metric == "messages_per_event"].set_index("knob")["mean"]
    # One that only some seeds have tried was dearer than what the others chose, and has too few events.
    chosen = chosen[chosen["seeds"] == chosen["seeds"].max()]
    enough = chosen.index[chosen["low"] >= good]
    knob = cost[enough].idxmin() if len(enough) else chosen["mean"].idxmax()
    row = chosen.loc[knob]
    return WorkingPoint(str(knob), float(row["mean"]), float(row["low"]), bool(len(enough)))


def summary(table: pd.DataFrame, world: str) -> list[dict[str, str]]:
    """A line for each system of a world."""
    rows = []
    for system in table[table.world == world].system.unique():
        point = working_point(table, world, system)
        row = dict.fromkeys(COLUMNS, "—") | {"system": system}
        if point is not None:
            row |= {"knob": point.knob, REACHES: str(point)}
        notes = []
        for name, metric in (PUBLISHED | BUILT).items():
            cell = value(table, world, system, metric, point.knob if point and name in PUBLISHED else "")
            if cell is not None:
                row[name] = _shown(cell)
                notes += [f"{name}: {cell.note}"] if cell.note else []
        if (seeds := healed(table, world, system)) is not None:
            row[HEALED] = f"{seeds[0]} of {seeds[1]}"
        unable = value(table, world, system, "unable")
        notes += [str(unable.note)] if unable is not None else []
        row["notes"] = "; ".join(notes)
        rows.append(row)
    return rows


def healed(table: pd.DataFrame, world: str, system: str) -> tuple[int, int] | None:
    """In how many seeds a system healed, and of how many; None where that was not measured."""
    cycles, tried = (value(table, world, system, name) for name in ("heal_cycles", "healed_hit_ratio"))
    return None if cycles is None or tried is None else (int(cycles.seeds), int(tried.seeds))


def facts(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The same as numbers, for programs: a dictionary for each world and system."""
    found = []
    for world, system in table[["world", "system"]].drop_duplicates().itertuples(index=False, name=None):
        point = working_point(table, world, system)
        row: dict[str, Any] = {"world": world, "system": system}
        if point is not None:
            row |= {"knob": point.knob, "reached": point.reached, "hit_ratio_chosen": point.hit}
        for name, metric in (PUBLISHED | BUILT).items():
            cell = value(table, world, system, metric, point.knob if point and name in PUBLISHED else "")
            if cell is not None and not np.isnan(cell["mean"]):
                row[metric] = {end: float(cell[end]) for end in ("mean", "low", "high")}
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


def number(x: float) -> str:
    """A number as tables show it."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}" if abs(x) < 0.995 or abs(x) >= 1 else f"{x:.4f}"
