"""What a comparison found, in a sentence for each kind of world, computed from its table.

Costs are those of the working points (`sims.compare.summary`); a system that delivers less than 99 % with 5 %
of the messages lost is named with what it delivers, and compared with nobody. Two costs differ when their
95 % confidence intervals do not overlap; otherwise they are called equal.
"""

from __future__ import annotations

from pathlib import PurePath

import numpy as np
import pandas as pd

from sims.compare.summary import healed, value, working_point
from sims.compare.worlds import CRASH, world_options

RINGS, CAMCAST, ENCLOSING, COVER = "sub2sub", "camcast", "enclosing topic", "exact cover"
ANCHORS = (
    "matching tree", "broker", "plumtree", "plumtree, view 4", "gossipsub", "gossipsub, D 4", "poldercast",
    "scribe", "meghdoot",
)  # fmt: skip
BOUND, COST = "matching tree", "messages_per_delivery"
COSTS = {
    COST: "messages per delivery",
    "bytes_per_delivery": "bytes per delivery",
    "hops_to_last_match": "hops to the last",
    "last_ms_median": "milliseconds to the last",
    "links.mean": "links",
    "memory_bytes.mean": "memory bytes",
    "upkeep_messages.mean": "upkeep messages",
    "upkeep_messages.p99": "those of the 99th percentile",
    "upkeep_messages.max": "of the busiest",
    "upkeep_bytes.mean": "upkeep bytes a cycle",
    "heal_cycles": "cycles to heal",
}
BUILT = {metric for metric in COSTS if metric.startswith(("links", "memory", "upkeep", "heal"))}
MEASURES = {COST: "messages per delivery", "upkeep_bytes.mean": "upkeep bytes", "links.mean": "links"}


def findings(table: pd.DataFrame) -> list[str]:
    """A sentence for each kind of world in the table: topics, ranges, the family between."""
    worlds = list(dict.fromkeys(table.world))
    kinds = {kind: [w for w in worlds if w.split(" ")[0] == kind] for kind in ("topics", "ranges", "between")}
    sentences = []
    if kinds["topics"]:
        sentences.append(_topics(table, kinds["topics"][0]))
    if kinds["ranges"]:
        sentences.append(_ranges(table, kinds["ranges"]))
    for world in (*kinds["topics"], *kinds["ranges"]):
        sentences += _beside_anchors(table, world)
    if len(kinds["between"]) > 1:
        sentences.append(_between(table, kinds["between"]))
    return [sentence for sentence in sentences if sentence]


def _cell(table: pd.DataFrame, world: str, system: str, metric: str, built: bool = False) -> pd.Series | None:
    """A cost at the working point, or of the overlay; None for a system that does not deliver enough."""
    point = working_point(table, world, system)
    if point is None or not point.reached:
        return None
    cell = value(table, world, system, metric, "" if built else point.knob)
    return None if cell is None or np.isnan(cell["mean"]) else cell


def _short(table: pd.DataFrame, world: str, system: str) -> str:
    """What a system that does not deliver enough delivers; nothing for one that does or does not run."""
    point = working_point(table, world, system)
    return f"{point.hit:.3f}" if point is not None and not point.reached else ""


def _topics(table: pd.DataFrame, world: str) -> str:
    costs = {s: cell for s in _systems(table, world) if (cell := _cell(table, world, s, COST)) is not None}
    costs.pop(BOUND, None)  # no protocol: who wants an event is the simulator's knowledge
    short = {s: hit for s in _systems(table, world) if (hit := _short(table, world, s))}
    if not costs:
        return f"In the world of {world} no system delivers 99 % with 5 % of the messages lost."
    cheapest = min(costs, key=lambda s: costs[s]["mean"])
    text = (
        f"Where interests are topics, {_named(table, world, cheapest)} needs the fewest messages per "
        f"delivery of the {len(costs)} systems that deliver 99 % with 5 % of the messages lost "
        f"({_shown(costs[cheapest])})"
    )
    rings, camcast = (_cell(table, world, s, COST) for s in (RINGS, CAMCAST))
    if rings is not None and camcast is not None:
        upkeep = [_cell(table, world, s, "upkeep_messages.mean", built=True) for s in (RINGS, CAMCAST)]
        text += f"; rings over nested ranges take {_versus(rings, camcast)} CAMCAST on its own tables"
        if upkeep[0] is not None and upkeep[1] is not None:
            text += f", and {_versus(upkeep[0], upkeep[1])} it for upkeep"
    if short:
        text += "; " + ", ".join(f"{s} ({hit} at best)" for s, hit in short.items())
        text += f" {'do' if len(short) > 1 else 'does'} not deliver 99 %"
    return text + _after_crash(table, world) + "."


def _after_crash(table: pd.DataFrame, world: str) -> str:
    """What the settings of these systems deliver where many are down."""
    found = {}
    for system in _systems(table, world):
        point = working_point(table, world, system)
        if point is not None and point.reached:
            cell = value(table, world, system, "hit_ratio", point.knob, CRASH.loss, CRASH.crashed)
            if cell is not None:
                found[system] = float(cell["mean"])
    if not found:
        return ""
    most, least = max(found, key=lambda s: found[s]), min(found, key=lambda s: found[s])
    return (
        f"; with {CRASH} and nothing repaired, the same settings deliver from {100 * found[least]:.3g} % "
        f"({least}) to {100 * found[most]:.3g} % ({most})"
    )


def _ranges(table: pd.DataFrame, worlds: list[str]) -> str:
    parts = []
    for world in worlds:
        rings = _cell(table, world, RINGS, COST)
        name = PurePath(world_options(world.partition(" ")[2])[0]).stem
        if rings is None:
            if hit := _short(table, world, RINGS):
                parts.append(f"on {name} rings deliver {hit} at best with 5 % of the messages lost, not 99 %")
            continue
        part = f"on {name} rings take {_shown(rings)} messages per delivery and send no spam"
        spam = _cell(table, world, RINGS, "spam_per_event")
        if spam is not None and spam["mean"] > 0:
            part = part.replace("send no spam", f"{_shown(spam)} spam an event")
        enclosing = _cell(table, world, ENCLOSING, COST)
        if enclosing is not None:
            share = _cell(table, world, ENCLOSING, "spam_per_delivery")
            part += f", one enclosing topic {_ratio(enclosing, rings)} as many"
            if share is not None:
                part += f" ({100 * share['mean'] / enclosing['mean']:.0f} % spam)"
        elif short := _short(table, world, ENCLOSING):
            part += f", one enclosing topic delivers {short} at best"
        cover, unable = _cell(table, world, COVER, COST), value(table, world, COVER, "unable")
        links = [_cell(table, world, s, "links.mean", built=True) for s in (COVER, RINGS)]
        if cover is not None and links[0] is not None and links[1] is not None:
            part += (
                f", an exact cover {_ratio(cover, rings)} as many on {_ratio(links[0], links[1])} the links"
            )
        elif short := _short(table, world, COVER):
            part += f", an exact cover delivers {short} at best"
        elif unable is not None:
            part += f", an exact cover is {unable.note.replace('not run: ', 'out of reach (')})"
        parts.append(part)
    return "Where interests are ranges, " + "; ".join(parts) + "." if parts else ""


def _beside_anchors(table: pd.DataFrame, world: str) -> list[str]:
    """All costs of rings beside those of what an engineer would choose instead."""
    lines, short = [], []
    for system in (s for s in (RINGS, *ANCHORS) if s in _systems(table, world)):
        costs = [_cell(table, world, system, metric, metric in BUILT) for metric in COSTS]
        if costs[0] is not None:
            told = ", ".join("—" if cost is None else f"{cost['mean']:.3g}" for cost in costs)
            seeds = healed(table, world, system)
            some = f" ({seeds[0]} of {seeds[1]} seeds)" if seeds and seeds[0] < seeds[1] else ""
            lines.append(f"{system} {told}{some}")
        elif hit := _short(table, world, system):
            short.append(f"{system} ({hit} at best)")
    if len(lines) < 2:
        return []
    text = f"On {world}, {', '.join(COSTS.values())}: {'; '.join(lines)}"
    missed = f"; {', '.join(short)} {'do' if len(short) > 1 else 'does'} not deliver 99 %" if short else ""
    return [text + missed + "."]


def _between(table: pd.DataFrame, worlds: list[str]) -> str:
    steps = sorted((float(world.split(" ")[1]), world) for world in worlds)
    parts = [
        _crossing(table, steps, other, metric, built)
        for other, metric, built in (
            (ENCLOSING, COST, False),
            (COVER, COST, False),
            (COVER, "upkeep_bytes.mean", True),
            (COVER, "links.mean", True),
        )
    ]
    return "From topics (t = 0) to free ranges (t = 1), " + "; ".join(part for part in parts if part) + "."


def _crossing(
    table: pd.DataFrame, steps: list[tuple[float, str]], other: str, metric: str, built: bool
) -> str:
    """Where along the family rings cost less than another system."""
    what = MEASURES[metric]
    pairs = [
        (t, _cell(table, world, RINGS, metric, built), _cell(table, world, other, metric, built))
        for t, world in steps
    ]
    known = [(t, a, b) for t, a, b in pairs if a is not None and b is not None]
    if not known:
        hits = [short for _, world in steps if (short := _short(table, world, other))]
        return f"the {other} delivers {max(hits)} at best, not 99 %" if hits and not built else ""
    cheaper = [t for t, a, b in known if a.high < b.low]
    dearer = [t for t, a, b in known if a.low > b.high]
    first, last = known[0], known[-1]
    grows = f"{_ratio(first[2], first[1])} the rings' at t = {first[0]:g}, "
    grows += f"{_ratio(last[2], last[1])} at t = {last[0]:g}"
    if len(cheaper) == len(known):
        return f"rings cost less than the {other} in {what} throughout ({grows})"
    if len(dearer) == len(known):
        return f"rings cost more than the {other} in {what} throughout ({grows})"
    if cheaper and cheaper == [t for t, _, _ in known][-len(cheaper) :]:
        before = f"more up to t = {dearer[-1]:g} and " if dearer else ""
        return f"rings cost {before}less than the {other} in {what} from t = {cheaper[0]:g} on ({grows})"
    told = [
        f"{word} at t = {', '.join(f'{t:g}' for t in at)}"
        for word, at in (("less", cheaper), ("more", dearer))
        if at
    ]
    apart = f"cost {' and '.join(told)}, and elsewhere cannot be told" if told else "cannot be told"
    return f"rings {apart} apart from the {other} in {what} ({grows})"


def _systems(table: pd.DataFrame, world: str) -> list[str]:
    return [str(s) for s in table[table.world == world].system.unique()]


def _named(table: pd.DataFrame, world: str, system: str) -> str:
    point = working_point(table, world, system)
    return system if point is None else f"{system} ({point.knob})"


def _versus(a: pd.Series, b: pd.Series) -> str:
    """How a compares with b, in words that go before the name of b."""
    if a.low <= b.high and b.low <= a.high:
        return f"as many ({_shown(a)} and {_shown(b)}) as"
    return f"{_ratio(a, b)} as many ({_shown(a)}) as"


def _ratio(a: pd.Series, b: pd.Series) -> str:
    return (
        f"{a['mean'] / b['mean']:.2g} times"
        if a["mean"] < 10 * b["mean"]
        else f"{a['mean'] / b['mean']:,.0f} times"
    )


def _shown(cell: pd.Series) -> str:
    return f"{cell['mean']:.3g} ± {(cell.high - cell.low) / 2:.2g}"
