"""What a comparison found: one sentence for each world, computed from its table.

Costs are those of the working points (`sims.compare.summary`). A system that is not shown to deliver what the
rule asks, or could not run, is compared with nobody. Two costs differ if their 95 % confidence intervals do
not overlap. If they overlap, the sentence says so, and calls costs equal only if their ratio is at most
`CLOSE`: an interval over few seeds may be wide because worlds differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

import numpy as np
import pandas as pd

from sims.compare.summary import cost, ends, family_in, is_between, number, rule_of, systems_in, working_point
from sims.compare.worlds import world_options

RINGS, CAMCAST, ENCLOSING, COVER = "sub2sub", "camcast", "enclosing topic", "exact cover"
BOUND, COST = "matching tree", "bytes_per_delivery"
BESIDE = {"topics": (RINGS, CAMCAST), "ranges": (RINGS, ENCLOSING, COVER)}  # what sentences always name
CLOSE = 1.05  # the ratio up to which costs are called equal if their intervals overlap


def findings(table: pd.DataFrame) -> list[str]:
    """A sentence for each world of topics or ranges in the table, and one for the family between."""
    family = family_in(table)
    worlds = [world for world in dict.fromkeys(table.world) if not is_between(world)]
    sentences = [_world(table[table.world == world], world) for world in worlds]
    return sentences + ([_between(table, family)] if len(family) > 1 else [])


def _cost(table: pd.DataFrame, world: str, system: str) -> pd.Series | None:
    """Bytes per delivery at the working point; None for a system that does not deliver enough."""
    point, cell = working_point(table, world, system), cost(table, world, system, COST)
    reached = point is not None and point.reached
    return cell if reached and cell is not None and not np.isnan(cell["mean"]) else None


def _world(table: pd.DataFrame, world: str) -> str:
    """Which systems take the fewest bytes, what those of interest take beside them, and how many deliver."""
    systems = [system for system in systems_in(table, world) if system != BOUND]  # which is no protocol
    costs = {s: cell for s in systems if (cell := _cost(table, world, s)) is not None}
    named = [system for system in BESIDE[world.partition(" ")[0]] if system in systems]
    if not costs:
        return f"{world_label(world)}: no system is shown to deliver {rule_of(table)}."
    best = min(costs, key=lambda system: float(costs[system]["mean"]))
    text = f"{best} takes the fewest bytes per delivery ({_shown(costs[best])})"
    others = [system for system in named if system in costs and system != best]
    beside = [f"{system} {_times(costs[system], costs[best])}" for system in others]
    if alike := [s for s in costs if s not in (best, *named) and _alike(costs[s], costs[best])]:
        beside.append(f"{len(alike)} more as many, within the intervals")
    if beside:
        text += f", {_listed(beside)}"
    text += f"; {len(costs)} of {len(systems)} systems deliver {rule_of(table)}"
    if lacking := [system for system in named if system not in costs]:
        text += f", not {_listed(lacking)}"
    return f"{world_label(world)}: {text}."


def break_even(table: pd.DataFrame, world: str, system: str, other: str) -> tuple[float, bool] | None:
    """Events per second at which two systems cost the same, in bytes, events and upkeep together.

    Returns
    -------
    rate, above
        And whether the first costs less above that rate, rather than below; infinity where it costs less at
        every rate or, below infinity, at none. None where a cost is not known. Per cycle without a network.
    """
    told = [
        [ends(cost(table, world, each, metric))[0] for metric in ("upkeep_bytes.total", "bytes_per_event")]
        for each in (system, other)
    ]
    (upkeep, event), (its_upkeep, its_event) = told
    seconds = ends(cost(table, world, system, "upkeep_seconds"))[0]
    if np.isnan([upkeep, event, its_upkeep, its_event]).any():
        return None
    saved, more = its_event - event, upkeep - its_upkeep
    if saved * more <= 0:  # one costs less in both
        return np.inf, saved < 0 or (saved == 0 and more > 0)
    return more / saved / (1.0 if np.isnan(seconds) else seconds), saved > 0


def rings_cost_less(table: pd.DataFrame, world: str, other: str) -> str:
    """At which rates of events rings take fewer bytes than another system; empty where that is unknown."""
    point = break_even(table, world, RINGS, other)
    if other == RINGS or point is None or any(_cost(table, world, each) is None for each in (RINGS, other)):
        return ""
    rate, above = point
    if np.isinf(rate):
        return "never" if above else "always"
    seconds = not np.isnan(ends(cost(table, world, RINGS, "upkeep_seconds"))[0])
    return f"{'>' if above else '<'}\u00a0{rate:.2g}/{'s' if seconds else 'cycle'}"


def _between(table: pd.DataFrame, family: list[tuple[float, str]]) -> str:
    """Where along the family rings cost less than topics."""
    parts = []
    for other in (ENCLOSING, COVER):
        pairs = [(t, _cost(table, world, RINGS), _cost(table, world, other)) for t, world in family]
        less = [f"{t:g}" for t, a, b in pairs if a is not None and b is not None and a.high < b.low]
        unknown = [f"{t:g}" for t, a, b in pairs if a is None or b is None]
        parts.append(f"than {other} at {_some(less, len(pairs))}")
        if unknown:
            parts[-1] += f" (at {_some(unknown, len(pairs))} one of them does not deliver)"
    return f"From topics (t = 0) to ranges (t = 1), {RINGS} takes fewer bytes per delivery {_listed(parts)}."


def _some(shares: list[str], of: int) -> str:
    """Some shares of ranges in words."""
    return "no t" if not shares else "every t" if len(shares) == of else f"t = {_listed(shares)}"


def world_label(world: str) -> str:
    """Return the label of a world.

    Examples
    --------
    >>> world_label("topics"), world_label("ranges power-law-3"), world_label("between 0.3")
    ('Topics', 'Ranges (power-law-3)', 'Between topics and ranges, t = 0.3')
    >>> world_label("ranges power-law-3 hosts=4 publishers=others")
    'Ranges (power-law-3, 4 a host, publishers do not match)'
    """
    kind, _, rest = world.partition(" ")
    if kind == "between":
        return f"Between topics and ranges, t = {rest}"
    rest, options = world_options(rest)
    more = f", 2^{options['bits']} values" if "bits" in options else ""
    more += f", {options['hosts']} a host" if "hosts" in options else ""
    more += ", publishers do not match" if "publishers" in options else ""
    return kind.capitalize() + (f" ({PurePath(rest).stem}{more})" if rest else "")


def _overlap(a: pd.Series, b: pd.Series) -> bool:
    """Whether intervals overlap; those of a single seed, which are NaN, always do."""
    return not (a.high < b.low or b.high < a.low)


def _alike(a: pd.Series, b: pd.Series) -> bool:
    least, most = sorted((float(a["mean"]), float(b["mean"])))
    return most <= CLOSE * least and _overlap(a, b)


def _times(a: pd.Series, b: pd.Series) -> str:
    ratio = a["mean"] / b["mean"]
    times = f"{ratio:.2g} times as many" if ratio < 10 else f"{ratio:,.0f} times as many"
    return "as many" if _alike(a, b) else times + (", within the intervals" if _overlap(a, b) else "")


def _shown(cell: pd.Series) -> str:
    half = (cell.high - cell.low) / 2
    reach = number(half) if half >= 100 else f"{half:.2g}"
    return number(cell["mean"]) + ("" if np.isnan(half) else f" ± {reach}")


def _listed(names: Iterable[str]) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
