"""hpmcast's membership while participants join, leave and crash, and messages are lost (Section 4.2.1).

- *Joins*: all participants start at once, each with one contact, with messages lost from the first on.
- *Contacts*: one participant at a time joins a converged system through a near or a distant participant; the
  paper says that a close contact makes joining faster and cheaper.
- *Leaves*: a tenth of the participants leaves after a goodbye to two neighbours each, beside a tenth that
  leaves without one.
- *Piggybacked*: a fifth crashes while events carry membership data, beside dedicated gossip alone.

Views count as right if at most two entries in a hundred are dead and at most two are missing: with 30 % loss,
one in a hundred is missing at any time, because a live participant seems dead after a lost ping. That bound
is ours, chosen after seeing runs, so the time is an observation without a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Gossip, Membership, Population, disseminate
from hierarchy.hpmcast.membership.audit import audit
from sims.reproduce.claims import Claims, in_words, intervals, last_cycle, observed, rounded, stated
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from sub2sub.compiled.common.network import Network
from workloads.charts.chart import Chart, Reference, Sheet, curves
from workloads.statistics.intervals import below

LEVELS, RIGHT, CYCLES = 3, 0.02, 80
LOSSES, RATES = (0.0, 0.1, 0.3), (0, 1, 5)
LEAVING, CRASHED = 0.1, 0.2
GOODBYE, SILENT = "with goodbyes", "without a word"


def plan(quick: bool, seed: int) -> Plan:
    """Every scenario."""
    a, seeds, alone = (6, 2, 20) if quick else (16, 3, 200)
    scale = f"{a**LEVELS:,} participants, R = 3, {alone} single joins, {seeds} seeds"
    return Plan(scale, unit, grid(seed=range(seed, seed + seeds)), {"a": a, "alone": alone})


def unit(seed: int, a: int, alone: int) -> dict[str, list[dict[str, Any]]]:
    """A row per cycle, and a row per single join."""
    rows: list[dict[str, Any]] = []
    for loss in LOSSES:
        rows += _marked(_joins(a, loss, seed), scenario="join", how="", loss=loss, rate=0)
        for how in (GOODBYE, SILENT):
            rows += _marked(
                _leaves(a, loss, seed, how == GOODBYE), scenario="leave", how=how, loss=loss, rate=0
            )
    for rate in RATES:
        rows += _marked(_events(a, rate, seed), scenario="crash", how="", loss=0.0, rate=rate)
    return {"upkeep": rows, "contacts": _contacts(a, alone, seed)}


def _marked(rows: list[dict[str, Any]], **keys: Any) -> list[dict[str, Any]]:
    return [{**keys, **row} for row in rows]


def _look(layer: Membership, network: Network, cycle: int, cost: Mapping[str, int]) -> dict[str, Any]:
    found = audit(layer.knowledge().views(), layer.exact(network.alive).views(), network.alive)
    living = int(network.alive.sum())
    return {
        "cycle": cycle, "dead": found.dead, "missing": found.missing, "whole": found.whole,
        "messages": cost["messages"] / living, "kilobytes": cost["bytes"] / living / 1000,
    }  # fmt: skip


def _system(a: int, seed: int) -> tuple[Membership, Network, np.random.Generator]:
    layer = Membership(Population.regular(a, LEVELS), seed=seed)
    return layer, Network.whole(a**LEVELS), np.random.Generator(np.random.Philox(seed))


def _joins(a: int, loss: float, seed: int) -> list[dict[str, Any]]:
    layer, network, dice = _system(a, seed)
    network.loss = loss
    places = np.arange(a**LEVELS)
    layer.join(places, np.where(places > 0, dice.integers(0, np.maximum(places, 1)), -1), 0)
    return [_look(layer, network, c, layer.step(c, network)) for c in range(1, CYCLES + 1)]


def _leaves(a: int, loss: float, seed: int, goodbye: bool) -> list[dict[str, Any]]:
    layer, network, dice = _system(a, seed)
    layer.make_exact()
    network.loss = loss
    layer.step(1, network)
    gone = np.sort(dice.permutation(a**LEVELS)[: round(LEAVING * a**LEVELS)])
    first: Mapping[str, int] = layer.leave(gone, 2, network) if goodbye else {"messages": 0, "bytes": 0}
    network.alive[gone] = 0
    rows = [_look(layer, network, 0, first)]
    return rows + [_look(layer, network, c, layer.step(c + 1, network)) for c in range(1, CYCLES + 1)]


def _events(a: int, rate: int, seed: int) -> list[dict[str, Any]]:
    """A crash while `rate` events a cycle carry membership along, in place of their senders' other gossip."""
    layer, network, dice = _system(a, seed)
    layer.make_exact()
    layer.step(1, network)
    network.alive[dice.permutation(a**LEVELS)[: round(CRASHED * a**LEVELS)]] = 0
    rows = []
    for c in range(1, CYCLES + 1):
        cost = {"messages": 0, "bytes": 0}
        for event in range(rate):
            known = layer.knowledge()
            publisher = int(dice.choice(np.flatnonzero(network.alive)))
            outcome = disseminate(
                known.views(), known.match([]), publisher, Gossip(), network=network, seed=seed,
                event=rate * c + event, record=True,
            )  # fmt: skip
            answers = layer.piggyback(outcome.arrivals, rate * c + event, network)
            cost = {name: cost[name] + answers[name] for name in cost}
        stepped = layer.step(c + 1, network)
        row = _look(layer, network, c, {name: cost[name] + stepped[name] for name in cost})
        rows.append({**row, "dedicated": stepped["messages"] / int(network.alive.sum())})
    return rows


def _contacts(a: int, alone: int, seed: int) -> list[dict[str, Any]]:
    """Messages of one participant that joins a converged system, through contacts at every distance."""
    layer, network, dice = _system(a, seed)
    layer.make_exact()
    state = {name: array.copy() for name, array in layer.arrays().items()}
    rows = []
    for x in dice.choice(a**LEVELS, alone, replace=False).tolist():
        for distance in range(1, LEVELS + 1):
            layer.load(state)
            spread = a**distance
            group = np.arange(x // spread * spread, (x // spread + 1) * spread)
            inner = spread // a
            far = group[group // inner != x // inner]
            layer.join(np.array([x]), dice.choice(far, 1), 1)
            layer.busy[:] = 1  # no other gossip: only the join is counted
            rows.append({"distance": distance, "messages": layer.step(1, network)["messages"]})
    return rows


def righted(run: pd.DataFrame) -> float:
    """The first cycle of a run from which on views stay right; infinite if they do not."""
    wrong = (run.dead > RIGHT) | (run.missing > RIGHT)
    return last_cycle(run.cycle, wrong, run.cycle.min() - 1.0) + 1


def _times(own: pd.DataFrame, *keys: str) -> dict[Any, list[float]]:
    groups = own.groupby(list(keys) if len(keys) > 1 else keys[0], sort=False)
    return {key: [righted(run) for _, run in rows.groupby("seed")] for key, rows in groups}


def judge(tables: Tables) -> Claims:
    """How long until views are right, and what closeness, goodbyes and events bring."""
    table, contacts = tables["upkeep"], tables["contacts"]
    gone = _times(table[table.scenario == "leave"], "loss", "how")
    for loss, cycles in _times(table[table.scenario == "join"], "loss").items():
        yield observed(
            f"{100 * loss:.0f} % lost, all join at once: cycles until views are right, worst seed",
            in_words(max(cycles)), source="hpmcast, Section 4.2.1: how to join; no time is stated",
            interval=[in_words(min(cycles)), in_words(max(cycles))],
        )  # fmt: skip
    by = contacts.groupby("distance").messages
    yield stated(
        "messages of a join by the distance of the contact: more with each level that it is away, beyond "
        "chance",
        "hpmcast, Section 4.2.1: through a close participant joining is faster and has less overhead", "more",
        rounded(by.mean(), 2, "level {}"), all(below(*two) for two in pairwise(own for _, own in by)),
        interval=intervals(by, 2, "level {}"),
    )  # fmt: skip
    for loss in table.loss[table.scenario == "leave"].unique():
        early, late = (gone[(loss, how)] for how in (GOODBYE, SILENT))
        yield stated(
            f"{100 * loss:.0f} % lost, a tenth leaves: cycles until views are right with goodbyes, worst "
            "seed, and without a word, best seed (sooner)",
            "hpmcast, Section 4.2.1: neighbours that are told remove who leaves, and this spreads", "sooner",
            {GOODBYE: in_words(max(early)), SILENT: in_words(min(late))}, max(early) < min(late),
            interval={GOODBYE: [in_words(v) for v in early], SILENT: [in_words(v) for v in late]},
        )  # fmt: skip
    crash = table[table.scenario == "crash"]
    times, sent = _times(crash, "rate"), crash.groupby("rate").dedicated.mean()
    rates = sorted(times)
    yield stated(
        "a fifth crashes: cycles until views are right by events a cycle, worst seed (none more than "
        "without events)",
        "hpmcast, Section 4.2: views are piggybacked by event gossips; the comparison is ours", "no later",
        {f"{rate} events": in_words(max(times[rate])) for rate in rates},
        max(max(times[rate]) for rate in rates[1:]) <= max(times[rates[0]]),
        interval={f"{rate} events": [in_words(v) for v in times[rate]] for rate in rates},
    )  # fmt: skip
    yield stated(
        "dedicated messages per participant and cycle by events a cycle (falls)",
        "hpmcast, Section 4.2: dedicated gossips are used in the absence of events", "falls",
        rounded(sent, 3, "{} events"), bool((np.diff(sent) < 0).all()),
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Wrong entries over time in each scenario, and messages of a join."""
    table = tables["upkeep"]
    wrong = table.assign(wrong=100 * (table.dead + table.missing))
    titles = {"join": "All join at once", "leave": "A tenth leaves", "crash": "A fifth crashes, nothing lost"}

    def name(key: tuple[float, str, int]) -> str:
        return f"{100 * key[0]:.0f} % lost" + f", {key[1]}" * bool(key[1])

    found = []
    for scenario, title in titles.items():
        by, label = (("loss", "how"), name) if scenario != "crash" else ("rate", "{} events a cycle")
        series = curves(wrong[wrong.scenario == scenario], "cycle", "wrong", by, label=label, over="")
        right = [Reference("right", y=100 * RIGHT)]
        y = "entries dead or missing (%)"
        found.append(Chart(title, "cycle", y, series, linear=0.1, bottom=0, top=150, references=right))
    joins = curves(tables["contacts"], "distance", "messages", label="", shape="bars")
    ticks = {float(level): str(level) for level in range(1, LEVELS + 1)}
    title = "A single join (paper: cheaper through a close contact)"
    found.append(Chart(title, "distance of the contact (level)", "messages of a join", joins, ticks=ticks))
    return Sheet(found)


REPRODUCTIONS = {"hpmcast-upkeep": (plan, judge, charts)}
