"""CAMCAST with one topic beside the membership protocol beneath it (CAMCAST, Section 1.3).

The paper: if there is only one topic, CAMCAST does not degrade in reliability, nor increase in memory,
messages or latency, against the bare membership protocol M. Two readings of M:

- *SCAMP*: the unstructured membership of CAMCAST with one community, beside SCAMP alone with the same joins.
  Messages of upkeep and of events, table entries, rounds, and events that reach all processes are counted.
- *Static tables*: tables of ln N + c entries drawn at random, beside gossip broadcast over such tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy import camcast
from hierarchy.compiled.scamp.layer import Scamp
from hierarchy.gossip import GossipBroadcast
from hierarchy.membership import Unstructured
from sims.figures.style import figure, legend_above, mean_bars
from sims.reproduce.camcast.sweep import table_entries
from sims.reproduce.claims import Claims, intervals, rounded, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked
from sub2sub.compiled.common.network import Network

SIZES, C, EVENTS, CYCLES = (100, 1000), 5.0, 10, 40
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


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Events over either, with M read in two ways: a row per run, whose events share tables."""
    runs = 8 if quick else 100
    rows = []
    for n, run in tracked(product(SIZES, range(runs)), progress):
        for beneath, protocol, tables, params, upkeep in _known(camcast.Communities.chain(n), seed + run):
            spreads = [
                camcast.disseminate(tables, params, number % n, seed=seed, event=number)
                for number in range(EVENTS * run, EVENTS * (run + 1))
            ]
            messages = np.mean([spread.sent.sum() + spread.upward.sum() for spread in spreads])
            rounds = np.mean([spread.rounds for spread in spreads])
            everybody = np.mean([spread.delivered.sum() == n for spread in spreads])
            entries = float(table_entries(tables).mean())
            rows.append((beneath, protocol, n, run, messages, entries, rounds, everybody, upkeep))
    table = pd.DataFrame(rows, columns=["beneath", "protocol", "n", "run", *QUANTITIES])
    scale = f"communities of {' and '.join(map(str, SIZES))}, {runs} runs of {EVENTS} events"
    return measurement(scale, runs=table)


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
            if quantity == "upkeep" and beneath == STATIC:
                continue  # static tables are not kept
            behind, found, ends = _behind(runs, quantity)
            yield stated(
                f"{name} with one topic, by size: CAMCAST no worse than the protocol beneath by more than "
                "three standard errors",
                "CAMCAST, Section 1.3: with one topic no degradation in reliability, memory, messages or "
                "latency of the membership protocol beneath", "no worse", found, behind <= 1e-9,
                interval=ends, reading=beneath,
            )  # fmt: skip


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


def draw(tables: Tables) -> Figures:
    """Every quantity, side by side."""
    runs = tables["runs"]
    fig, panels = figure(2, 5, figsize=(14.4, 6.6))
    for row, (beneath, mine) in enumerate(runs.groupby("beneath", sort=False)):
        for axes, (quantity, label) in zip(panels[row], QUANTITIES.items(), strict=True):
            for i, (protocol, own) in enumerate(mine.groupby("protocol", sort=False)):
                by = own.groupby("n")[quantity]
                mean_bars(axes, i, by, str(protocol), np.arange(by.ngroups) + 0.36 * (i - 0.5), 0.36)
            axes.set_xticks(range(runs.n.nunique()), [f"{n:,}" for n in sorted(runs.n.unique())])
            axes.set_title(label, fontsize=9)
            if row:
                axes.set(xlabel="processes")
        panels[row, 0].set_ylabel(str(beneath))
    panels[0, -1].set_visible(bool(runs.upkeep[runs.beneath == STATIC].any()))
    title = "paper: with one topic the left bar is no worse than the right one"
    return {"": legend_above(fig, panels[0, 0], 2, title=title)}


register(
    "camcast-one-topic", "CAMCAST with one topic beside the membership protocol beneath it",
    measure, judge, draw,
)  # fmt: skip
