"""Each system at its working point and as it is by default: what it costs, and why a number is missing.

A system's *working point* in a world is, of the settings that a rule allows (`sims.compare.worlds.Rule`),
the one with the least cost. Usually these are the settings that deliver 99 % with 5 % of the messages lost,
and with 10 % of the peers crashed and nothing repaired: the lower end of the 95 % confidence interval of the
hit ratio, over a thousand events and all seeds, under each of the faults; and the last subscriber has an
event within a budget. Costs are measured with other events, under the first of the faults. A system of which
no setting does is shown at the one that delivers most, and is not compared with others.
"""

from __future__ import annotations

from math import floor
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sims.compare.worlds import Fault, Rule

METRICS = (
    "complete", "copies_per_delivery", "control_per_delivery", "bytes_per_delivery", "messages_per_event",
    "bytes_per_event", "duplicates_per_event", "spam_per_event", "hops_to_last_match",
    "ms_median", "ms_p99", "last_ms_median", "last_ms_p99", "links.mean", "links.max", "memory_bytes.mean",
    "upkeep_messages.mean", "upkeep_messages.median", "upkeep_messages.p99", "upkeep_messages.max",
    "upkeep_bytes.mean", "converge_cycles", "heal_cycles", "heal_seconds", "upkeep_bits_per_second",
    "stream_ms_median", "stream_ms_p99", "goodput", "full_rate",
)  # fmt: skip
DEFAULT = "default"


class WorkingPoint(NamedTuple):
    """A knob, and what it delivers under the fault under which it delivers least.

    Attributes
    ----------
    knob : str
    hit, low : float
        Hit ratio, and the lower end of its confidence interval.
    reached : bool
        Whether the rule allows it.
    why : str
        Otherwise what it lacks.
    """

    knob: str
    hit: float
    low: float
    reached: bool
    why: str = ""


def rule_of(table: pd.DataFrame) -> Rule:
    """The rule of a comparison, the usual one of a table that was read from a file."""
    rule: Rule = table.attrs.get("rule", Rule())
    return rule


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


def cost(
    table: pd.DataFrame, world: str, system: str, metric: str, knob: str = "", fault: Fault | None = None
) -> pd.Series | None:
    """The cell of a metric at the working point, or with another knob, under the rule's first fault."""
    if metric.startswith(("links", "memory", "upkeep", "converge", "heal")):
        return value(table, world, system, metric)  # of the overlay, without events
    point = None if knob else working_point(table, world, system)
    knob = knob if point is None else point.knob
    return value(table, world, system, metric, knob, *(fault or rule_of(table).faults[0]))


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
    """The cheapest knob that the rule allows, else the one that delivers most."""
    rule = rule_of(table)
    own = table[(table.world == world) & (table.system == system)]
    under = [own[(own.loss == fault.loss) & (own.crashed == fault.crashed)] for fault in rule.faults]

    def by_knob(metric: str, column: str = "mean") -> pd.DataFrame:
        """A row for each knob that all faults have, a column for each fault."""
        columns = [here[here.metric == metric].set_index("knob")[column] for here in under]
        return pd.concat([each[each.index != ""] for each in columns], axis=1, join="inner")

    hit, low, seeds = (by_knob("choosing_hit_ratio", column) for column in ("mean", "low", "seeds"))
    if hit.empty:
        return None
    # One that only some seeds have tried was dearer than what the others chose, and has too few events.
    tried = seeds.min(axis=1)
    hit, low = (each[tried == tried.max()] for each in (hit, low))
    late = by_knob("last_ms_median").max(axis=1).reindex(hit.index)
    in_time = ~(late > rule.budget) if rule.budget else late.isna() | True
    allowed = low.index[(low.min(axis=1) >= rule.good) & in_time]
    costs = by_knob(rule.cost).mean(axis=1).reindex(allowed).dropna()
    knob = costs.idxmin() if len(costs) else hit.min(axis=1).where(in_time, -1.0).idxmax()
    worst, lowest = float(hit.loc[knob].min()), float(low.loc[knob].min())
    why = f"{worst:.3f} at best" if in_time[knob] else f"{late[knob] / 1000:.3g} s to the last"
    return WorkingPoint(str(knob), worst, lowest, bool(len(costs)), why)


def shown(table: pd.DataFrame, world: str) -> list[tuple[str, str, WorkingPoint | None]]:
    """What tables have a line for: each system at its working point, and as it is by default."""
    found: list[tuple[str, str, WorkingPoint | None]] = []
    for system in systems_in(table, world):
        point = working_point(table, world, system)
        found.append((system, "" if point is None else point.knob, point))
        by_default = cost(table, world, system, "hit_ratio", DEFAULT)
        if point is not None and point.knob != DEFAULT and by_default is not None:
            found.append((system, DEFAULT, None))
    return found


def healed(table: pd.DataFrame, world: str, system: str) -> tuple[int, int] | None:
    """In how many seeds a system healed, and of how many; None where that was not measured."""
    cycles, tried = (value(table, world, system, name) for name in ("heal_cycles", "healed_hit_ratio"))
    return None if cycles is None or tried is None else (int(cycles.seeds), int(tried.seeds))


def facts(table: pd.DataFrame) -> list[dict[str, Any]]:
    """What tables show as numbers, for programs: a dictionary for each world, system and setting."""
    found = []
    for world in dict.fromkeys(table.world):
        for system, knob, point in shown(table, world):
            row: dict[str, Any] = {"world": world, "system": system, "knob": knob}
            if point is not None:
                row |= {"reached": point.reached, "hit_ratio_chosen": point.hit}
            for fault in rule_of(table).faults:
                row[f"hit_ratio, {fault}"] = ends(cost(table, world, system, "hit_ratio", knob, fault))[0]
            for metric in METRICS:
                cell = cost(table, world, system, metric, knob)
                if cell is not None and not np.isnan(cell["mean"]):
                    row[metric] = {end: float(cell[end]) for end in ("mean", "low", "high")}
            if (seeds := healed(table, world, system)) is not None:
                row["seeds_healed"], row["seeds"] = seeds
            found.append(row)
    return found


def percent(share: float) -> str:
    """A share in percent; rounded down, so that only all of it is 100 %. A dash where there is none.

    Examples
    --------
    >>> percent(0.99999), percent(0.28512), percent(1.0)
    ('99.99', '28.5', '100')
    """
    if np.isnan(share):
        return "—"
    return f"{100 * share:.3g}" if share < 0.99 else f"{floor(1e4 * share + 1e-6) / 100:g}"


def number(x: float) -> str:
    """A number as tables show it."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}" if abs(x) < 0.995 or abs(x) >= 1 else f"{x:.4f}"
