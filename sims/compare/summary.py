"""Each system in one line: what it costs at its working point, and why a number is missing.

A system's *working point* in a world is the knob with the fewest messages among those that deliver `GOOD` of
what is wanted with 5 % of the messages lost; where none does, the one that delivers most then. Tuned without
any faults a ring needs no shortcut and gossip hardly a duplicate, and nobody would run either.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.compare.worlds import Fault

__all__ = ["COLUMNS", "GOOD", "WORKING", "summary", "value", "working_point"]

GOOD, WORKING = 0.99, Fault(loss=0.05)

BUILT = {
    "links": "links.mean",
    "links, max": "links.max",
    "upkeep messages": "upkeep_messages.mean",
    "upkeep bytes": "upkeep_bytes.mean",
    "cycles to converge": "converge_cycles",
    "cycles to heal": "heal_cycles",
}
PUBLISHED = {
    "hit ratio": "hit_ratio",
    "messages per event": "messages_per_event",
    "per delivery": "messages_per_delivery",
    "duplicates": "duplicates_per_event",
    "spam": "spam_per_event",
    "hops": "hops_to_last_match",
}
COLUMNS = ["system", "knob", *PUBLISHED, *BUILT, "notes"]


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
) -> str | None:
    """The cheapest knob that delivers enough under a fault, else the one that delivers most."""
    here = table[
        (table.world == world) & (table.system == system) & (table.loss == fault.loss)
        & (table.crashed == fault.crashed)
    ]  # fmt: skip
    hit = here[here.metric == "hit_ratio"].set_index("knob")["mean"]
    cost = here[here.metric == "messages_per_event"].set_index("knob")["mean"]
    if hit.empty:
        return None
    enough = hit.index[hit >= good]
    return str(cost[enough].idxmin() if len(enough) else hit.idxmax())


def summary(table: pd.DataFrame, world: str) -> list[dict[str, str]]:
    """A line for each system of a world."""
    rows = []
    for system in table[table.world == world].system.unique():
        knob = working_point(table, world, system)
        row = dict.fromkeys(COLUMNS, "—") | {"system": system, "knob": knob or "—"}
        notes = []
        for name, metric in (PUBLISHED | BUILT).items():
            cell = value(table, world, system, metric, (knob or "") if name in PUBLISHED else "")
            if cell is not None:
                row[name] = _shown(cell)
                notes += [f"{name}: {cell.note}"] if cell.note else []
        unable = value(table, world, system, "unable")
        notes += [str(unable.note)] if unable is not None else []
        row["notes"] = "; ".join(notes)
        rows.append(row)
    return rows


def _shown(cell: pd.Series) -> str:
    """A mean with half of its interval."""
    if np.isnan(cell["mean"]):
        return "—"
    half = (cell.high - cell.low) / 2
    return _number(cell["mean"]) + (f" ± {_number(half)}" if half > 0 else "")


def _number(x: float) -> str:
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}" if abs(x) < 0.995 or abs(x) >= 1 else f"{x:.4f}"
