"""What a comparison found, in sentences computed from its table.

Costs are those of the working points (`sims.compare.summary`). A system that is not shown to deliver what the
rule asks is listed with what it lacks, and one that could not run with the reason; neither is compared with
others. Where bytes per delivery and upkeep point in different directions, the rate of events is told from
which on a system costs less. Two costs differ if their 95 % confidence intervals do not overlap. If they
overlap, the sentence says so, and calls costs equal only if their ratio is at most `CLOSE`: an interval over
few seeds may be wide because worlds differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

import numpy as np
import pandas as pd

from sims.compare.summary import cost, ends, number, rule_of, systems_in, value, working_point
from sims.compare.worlds import world_options

RINGS, CAMCAST, ENCLOSING, COVER = "sub2sub", "camcast", "enclosing topic", "exact cover"
BOUND, COST = "matching tree", "bytes_per_delivery"
MEASURES = {COST: "bytes per delivery", "upkeep_bytes.mean": "upkeep bytes", "links.mean": "links"}
CLOSE = 1.05  # the ratio up to which costs are called equal if their intervals overlap


def findings(table: pd.DataFrame) -> list[str]:
    """A sentence for each world of topics or ranges in the table, and one for the family between."""
    worlds = list(dict.fromkeys(table.world))
    kinds = {kind: [w for w in worlds if w.split(" ")[0] == kind] for kind in ("topics", "ranges", "between")}
    sentences = [_topics(table, world) for world in kinds["topics"]]
    sentences += [_ranges(table, world) for world in kinds["ranges"]]
    if len(kinds["between"]) > 1:
        sentences.append(_between(table, kinds["between"]))
    return [sentence for sentence in sentences if sentence]


def _cell(table: pd.DataFrame, world: str, system: str, metric: str) -> pd.Series | None:
    """A cost at the working point, or of the overlay; None for a system that does not deliver enough."""
    point, cell = working_point(table, world, system), cost(table, world, system, metric)
    reached = point is not None and point.reached
    return cell if reached and cell is not None and not np.isnan(cell["mean"]) else None


def _lacking(table: pd.DataFrame, world: str, system: str) -> str:
    """Why a system is not compared with others; empty for one that delivers or takes no part."""
    point, unable = working_point(table, world, system), value(table, world, system, "unable")
    if unable is not None and (point is None or not point.reached):
        return str(unable.note).replace("not run: ", "").removesuffix(" (and alike)")
    return "" if point is None else point.why if not point.reached else ""


def _topics(table: pd.DataFrame, world: str) -> str:
    systems = systems_in(table, world)
    costs = {s: cell for s in systems if (cell := _cell(table, world, s, COST)) is not None}
    costs.pop(BOUND, None)  # no protocol: only the simulator knows which subscribers match
    text = f"Where interests are topics, {_cheapest(table, world, costs)}"
    text += _from_which_rate(table, world, costs)
    rings, camcast = costs.get(RINGS), costs.get(CAMCAST)
    if rings is not None and camcast is not None:
        text += f"; rings over nested ranges take {_times(rings, camcast)} as CAMCAST on its own tables"
        text += f" ({_pair(rings, camcast)})"
        own, other = (_cell(table, world, s, "upkeep_bytes.mean") for s in (RINGS, CAMCAST))
        if own is not None and other is not None:
            text += f", and for upkeep {_times(own, other)} ({_pair(own, other)})"
    lacking = {s: why for s in systems if (why := _lacking(table, world, s))}
    if lacking:
        text += "; not shown to deliver that: " if costs else ": "
        text += _listed(f"{s} ({why})" for s, why in lacking.items())
    return text + "."


def _cheapest(table: pd.DataFrame, world: str, costs: dict[str, pd.Series]) -> str:
    """The systems that need the fewest messages; several, if their costs are equal."""
    if not costs:
        return f"no system is shown to deliver {rule_of(table)}"
    least = min(costs.values(), key=lambda cell: float(cell["mean"]))
    first = [system for system, cell in costs.items() if _alike(cell, least)]
    first.sort(key=lambda system: float(costs[system]["mean"]))
    told = "; ".join(f"{system} {_shown(costs[system])} {_setting(table, world, system)}" for system in first)
    if len(costs) == 1:
        return f"one system is shown to deliver {rule_of(table)} (bytes per delivery: {told})"
    need = "needs" if len(first) == 1 else "need, not to be told apart,"
    return (
        f"{_listed(first)} {need} the fewest bytes per delivery of the {len(costs)} systems shown to "
        f"deliver {rule_of(table)} ({told})"
    )


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


def _from_which_rate(table: pd.DataFrame, world: str, costs: dict[str, pd.Series]) -> str:
    """Beside which systems rings cost less in bytes, and from which rate of events on."""
    if RINGS not in costs:
        return ""
    seconds = not np.isnan(ends(cost(table, world, RINGS, "upkeep_seconds"))[0])
    unit = "events per second" if seconds else "events per cycle"
    found = {other: break_even(table, world, RINGS, other) for other in costs if other != RINGS}
    words: dict[str, list[str]] = {"": [], "always": [], "never": []}
    for other, point in found.items():
        if point is None:
            continue
        rate, above = point
        if np.isinf(rate):
            words["never" if above else "always"].append(other)
        else:
            words[""].append(f"{other} {'above' if above else 'below'} {rate:.2g} {unit}")
    parts = [f"than {_listed(words[''])}"] if words[""] else []
    parts += [f"than {_listed(words['always'])} at any rate"] if words["always"] else []
    parts += [f"than {_listed(words['never'])} at none"] if words["never"] else []
    return f"; with upkeep, rings cost less in bytes {', '.join(parts)}" if parts else ""


def _ranges(table: pd.DataFrame, world: str) -> str:
    name, rings = short_name(world), _cell(table, world, RINGS, COST)
    if rings is None:
        why = _lacking(table, world, RINGS)
        lacking = (
            f"Where interests are ranges, on {name} rings are not shown to deliver {rule_of(table)} ({why})."
        )
        return lacking if why else ""
    text = f"Where interests are ranges, on {name} rings take {_shown(rings)} bytes per delivery"
    if (spam := _cell(table, world, RINGS, "spam_per_event")) is not None:
        text += f" and send {f'{_shown(spam)} an event as' if spam['mean'] > 0 else 'no'} spam"
    for system, words in ((ENCLOSING, "one enclosing topic"), (COVER, "an exact cover")):
        text += _instead(table, world, system, words, rings)
    others = {s: cell for s in systems_in(table, world) if (cell := _cell(table, world, s, COST)) is not None}
    others.pop(BOUND, None)
    return text + _from_which_rate(table, world, others) + "."


def _instead(table: pd.DataFrame, world: str, system: str, words: str, rings: pd.Series) -> str:
    """What topics cost where interests are ranges, beside rings."""
    messages = _cell(table, world, system, COST)
    if messages is None:
        why = _lacking(table, world, system)
        return f", {words} is not shown to deliver as much ({why})" if why else ""
    text = f", {words} takes {_times(messages, rings)}"
    links = [_cell(table, world, s, "links.mean") for s in (system, RINGS)]
    if system == COVER and links[0] is not None and links[1] is not None:
        text += f" on {_ratio(links[0], links[1])} the links"
    spam, copies = (_cell(table, world, system, f"{what}_per_delivery") for what in ("spam", "copies"))
    if spam is not None and copies is not None and spam["mean"] > 0:
        text += f" ({100 * spam['mean'] / copies['mean']:.0f} % of the copies spam)"
    return text


def _between(table: pd.DataFrame, worlds: list[str]) -> str:
    steps = sorted((float(world.split(" ")[1]), world) for world in worlds)
    compared = ((ENCLOSING, COST), (COVER, COST), (COVER, "upkeep_bytes.mean"), (COVER, "links.mean"))
    parts = [part for other, metric in compared if (part := _crossing(table, steps, other, metric))]
    return f"From topics (t = 0) to free ranges (t = 1), {'; '.join(parts)}." if parts else ""


def _crossing(table: pd.DataFrame, steps: list[tuple[float, str]], other: str, metric: str) -> str:
    """Where along the family rings cost less than another system."""
    pairs = [
        (t, _cell(table, world, RINGS, metric), _cell(table, world, other, metric)) for t, world in steps
    ]
    known = [(t, a, b) for t, a, b in pairs if a is not None and b is not None]
    if not known:
        reasons = [why for _, world in steps if (why := _lacking(table, world, other))]
        told = metric == COST and len(reasons) == len(steps)
        return f"the {other} is nowhere shown to deliver {rule_of(table)} ({max(reasons)})" if told else ""
    words = {
        "less": [t for t, a, b in known if a.high < b.low],
        "more": [t for t, a, b in known if a.low > b.high],
        "neither more nor less, within the intervals,": [t for t, a, b in known if _overlap(a, b)],
    }
    where = ", ".join(
        word if len(at) == len(known) else f"{word} at t = {_listed(f'{t:g}' for t in at)}"
        for word, at in words.items()
        if at
    )
    ends = ", ".join(
        f"{_ratio(b, a)} the rings' at t = {t:g}" for t, a, b in known[:: max(len(known) - 1, 1)]
    )
    left_out = [f"{t:g}" for t, a, b in pairs if a is None or b is None]
    missing = f"; not compared at t = {_listed(left_out)}" if left_out else ""
    return f"rings cost {where} than the {other} in {MEASURES[metric]} ({ends}{missing})"


def short_name(world: str) -> str:
    """What a world is made of, without its folder and options."""
    return PurePath(world_options(world.partition(" ")[2])[0]).name.removesuffix(".toml")


def _setting(table: pd.DataFrame, world: str, system: str) -> str:
    point = working_point(table, world, system)
    return f"with {point.knob}" if point is not None and point.knob else "as it is"


def _overlap(a: pd.Series, b: pd.Series) -> bool:
    """Whether intervals overlap; those of a single seed, which are NaN, always do."""
    return not (a.high < b.low or b.high < a.low)


def _alike(a: pd.Series, b: pd.Series) -> bool:
    least, most = sorted((float(a["mean"]), float(b["mean"])))
    return most <= CLOSE * least and _overlap(a, b)


def _times(a: pd.Series, b: pd.Series) -> str:
    return "as many" if _alike(a, b) else f"{_ratio(a, b)} as many"


def _pair(a: pd.Series, b: pd.Series) -> str:
    return f"{_shown(a)} and {_shown(b)}" + (": the intervals overlap" if _overlap(a, b) else "")


def _ratio(a: pd.Series, b: pd.Series) -> str:
    ratio = a["mean"] / b["mean"]
    return f"{ratio:.2g} times" if ratio < 10 else f"{ratio:,.0f} times"


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
