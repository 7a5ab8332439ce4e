"""CAMCAST with one topic beside the membership protocol beneath it (CAMCAST, Section 1.3).

The paper: if there is only one topic, CAMCAST does not degrade in reliability, nor increase in memory,
messages or latency, against the bare membership protocol M. Two readings of M:

- *SCAMP*: the unstructured membership of CAMCAST with one community, beside SCAMP alone with the same joins.
  Messages of upkeep and of events, table entries, rounds, and events that reach all processes are counted.
- *Static tables*: tables of ln N + c entries drawn at random, beside gossip broadcast over such tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy import camcast
from hierarchy.compiled.scamp.layer import Scamp
from hierarchy.gossip import GossipBroadcast
from hierarchy.membership import Unstructured
from sims.reproduce.camcast.sweep import table_entries
from sims.reproduce.claims import Claims, claim, intervals, rounded
from sims.reproduce.reproduction import Tables
from sub2sub.compiled.common.network import Network
from workloads.charts.chart import Chart, Sheet, curves

C, EVENTS, CYCLES = 5.0, 10, 40
SCAMP, STATIC = "SCAMP", "static tables"
CAMCAST, BARE = "CAMCAST", "the protocol beneath"
QUANTITIES = {
    "messages": "messages per event",
    "entries": "table entries of a process",
    "rounds": "rounds",
    "all_received": "share of events that reach all",
    "upkeep": "upkeep messages a process, cycle",
}
Known = tuple[str, str, camcast.Tables, camcast.Parameters, float]


def unit(n: int, run: int, seed: int) -> pd.DataFrame:
    """One run, whose events share tables: a row for each reading and protocol."""
    rows = []
    for beneath, protocol, tables, params, upkeep in _known(camcast.Communities.chain(n), seed + run):
        spreads = [
            camcast.disseminate(tables, params, number % n, seed=seed, event=number)
            for number in range(EVENTS * run, EVENTS * (run + 1))
        ]
        messages = np.mean([spread.sent.sum() + spread.upward.sum() for spread in spreads])
        rounds = np.mean([spread.rounds for spread in spreads])
        everybody = np.mean([spread.delivered.sum() == n for spread in spreads])
        rows.append((beneath, protocol, messages, table_entries(tables).mean(), rounds, everybody, upkeep))
    return pd.DataFrame(rows, columns=["beneath", "protocol", *QUANTITIES])


def _known(group: camcast.Communities, seed: int) -> Iterator[Known]:
    """Tables of CAMCAST and of what is beneath it, and the messages that it takes to keep them."""
    settings = camcast.TopicSettings(c=C)
    own, gossip = camcast.parameters(group.sizes, settings), GossipBroadcast(group, C)
    yield STATIC, CAMCAST, camcast.StaticTables(group, settings).draw(seed), own, 0.0
    yield STATIC, BARE, gossip.tables(0, seed), gossip.parameters(0), 0.0
    n = len(group)
    membership = Unstructured(group.tree, group.topic, seed, settings, true_sizes=True)
    scamp = Scamp(n, seed)
    for protocol, layer in ((CAMCAST, membership), (BARE, scamp)):
        upkeep = _kept(layer, n, seed)
        if protocol == CAMCAST:
            tables = membership.tables()
        else:
            tables = camcast.Tables(group.topic, scamp.views.partial, np.full((n, 1, 1), -1, np.int32))
        whole = np.full(1, tables.topic_table.shape[1], np.int32)
        params = camcast.Parameters(whole, np.ones(1), np.full(1, settings.forward))
        yield SCAMP, protocol, tables, params, upkeep


def _kept(layer: Unstructured | Scamp, n: int, seed: int) -> float:
    """Let all join, each through one before it, and keep the tables: messages a process and cycle."""
    dice = np.random.default_rng(seed)
    contacts: NDArray[np.int64] = dice.integers(0, np.arange(1, n))
    network, messages = Network.whole(n), 0
    layer.join(np.arange(1), np.array([-1]), 0)
    for cycle in range(CYCLES):
        messages += layer.step(cycle, network)["messages"]
        if cycle == 0:  # the first one is there
            layer.join(np.arange(1, n), contacts, 1)
    return messages / n / CYCLES


def judge(tables: Tables) -> Claims:
    """Differences between the two, beside what chance gives."""
    for beneath, runs in tables["runs"].groupby("beneath", sort=False):
        for quantity, name in QUANTITIES.items():
            if quantity != "upkeep" or beneath != STATIC:  # static tables are not kept
                behind, found, ends = _behind(runs, quantity)
                yield claim("no_worse", found, behind <= 1e-9, interval=ends, reading=beneath, name=name)


def _behind(runs: pd.DataFrame, quantity: str) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """How far CAMCAST is behind, less three standard errors, in the worst size; means and intervals."""
    better = 1.0 if quantity == "all_received" else -1.0
    worst, found, ends = 0.0, {}, {}
    for n, own in runs.groupby("n"):
        values = {name: own[quantity][own.protocol == name].to_numpy(float) for name in (CAMCAST, BARE)}
        mine, other = values[CAMCAST], values[BARE]
        error = sqrt(mine.var(ddof=1) / len(mine) + other.var(ddof=1) / len(other))
        worst = max(worst, better * (other.mean() - mine.mean()) - 3 * error)
        found[f"{n}"] = rounded({name: each.mean() for name, each in values.items()}, 3)
        ends[f"{n}"] = intervals(values, 3)
    return worst, found, ends


def charts(tables: Tables) -> Sheet:
    """Every quantity, side by side."""
    runs = tables["runs"]
    sizes = sorted(runs.n.unique())
    placed = runs.assign(place=[sizes.index(n) for n in runs.n])
    ticks = {place: f"{n:,}" for place, n in enumerate(sizes)}
    found = []
    for beneath, mine in placed.groupby("beneath", sort=False):
        for quantity, label in QUANTITIES.items():
            if mine[quantity].any():
                series = curves(mine, "place", quantity, "protocol", shape="bars")
                found.append(Chart(f"{label}, {beneath}", "processes", label, series, ticks=ticks))
    return Sheet(found, columns=5, note="paper: with one topic the left bar is no worse than the right one")
