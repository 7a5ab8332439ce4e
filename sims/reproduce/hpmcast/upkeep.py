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
from sims.reproduce.claims import Claims, claim, in_words, last_cycle, means, rounded, worst_seed
from sims.reproduce.reproduction import Tables
from sub2sub.compiled.common.network import Network
from workloads.statistics.intervals import below

LEVELS, RIGHT, CYCLES = 3, 0.02, 80
LOSSES, RATES = (0.0, 0.1, 0.3), (0, 1, 5)
LEAVING, CRASHED = 0.1, 0.2
GOODBYE, SILENT = "with goodbyes", "without a word"


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
    by = {str(name): own for name, own in tables["upkeep"].groupby("scenario", sort=False)}
    gone, times = _times(by["leave"], "loss", "how"), _times(by["crash"], "rate")
    for loss, cycles in _times(by["join"], "loss").items():
        yield worst_seed("joins", cycles, loss=100 * loss)
    contacts = tables["contacts"].groupby("distance").messages
    more = all(below(*two) for two in pairwise(own for _, own in contacts))
    yield means("contacts", contacts, more, digits=2, name="level {}")
    for loss in by["leave"].loss.unique():
        early, late = gone[loss, GOODBYE], gone[loss, SILENT]
        found = {GOODBYE: in_words(max(early)), SILENT: in_words(min(late))}
        ends = {GOODBYE: [*map(in_words, early)], SILENT: [*map(in_words, late)]}
        yield claim("goodbyes", found, max(early) < min(late), interval=ends, loss=100 * loss)
    none, *rates = (max(own) for own in times.values())
    last = {f"{rate} events": in_words(max(own)) for rate, own in times.items()}
    ends = {f"{rate} events": [*map(in_words, own)] for rate, own in times.items()}
    sent = by["crash"].groupby("rate").dedicated.mean()
    yield claim("crash", last, max(rates) <= none, interval=ends)
    yield claim("dedicated", rounded(sent, 3, "{} events"), bool((np.diff(sent) < 0).all()))
