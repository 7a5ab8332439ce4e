"""Beyond the papers: CAMCAST with up to a million processes and ten levels.

The papers' setting (c = 5, g = 5, a = 1, z = 3, messages arrive with probability 0.85) in two shapes: the
papers' three communities of 1 : 10 : 100, and a chain of ten communities of equal size. The claimed growth,
N ln N messages and tables of ln N, is measured over three powers of ten.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hierarchy.analysis.reliability import propagation_exact
from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters
from sims.figures.style import figure, legend_above, line
from sims.reproduce.camcast.sweep import P_SUCCESS, dice_for, lossy_network, random_publisher, table_entries
from sims.reproduce.claims import Claims, interval_of_share, intervals, observed, rounded, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked

DEEP = "10 equal levels"
SHAPES = {"3 levels, 1 : 10 : 100": (1, 10, 100), DEEP: (1,) * 10}
SETTINGS = TopicSettings()

Row = dict[str, Any]


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Messages, tables, rounds and reception against the number of processes: a row per run."""
    populations = [1_000, 10_000, 100_000] if quick else [1_000, 10_000, 100_000, 1_000_000]
    shares = [0.0, 0.3] if quick else [0.0, 0.15, 0.3, 0.45, 0.6]
    jobs = [(shape, n) for n in populations for shape in SHAPES]
    rows: list[Row] = []
    for shape, n in tracked(jobs, progress):
        runs = 2 if n == 1_000_000 else min(40, 400_000 // n)
        rows += _population(shape, n, shares, runs, seed)
    return measurement(f"{populations[0]:,} to {populations[-1]:,} processes, 2 to 40 runs", scale=rows)


def _population(shape: str, n: int, shares: list[float], runs: int, seed: int) -> list[Row]:
    parts = SHAPES[shape]
    sizes = [max(2, n * part // sum(parts)) for part in parts]
    group = Communities.chain(*sizes)
    static, params = StaticTables(group, SETTINGS), parameters(group.sizes, SETTINGS)
    bottom = len(sizes) - 1
    network = lossy_network(len(group))
    rows = []
    for run in range(runs):
        tables = static.draw(seed, run)
        dice = dice_for("camcast-scale", seed, run)
        fate, entries = dice.random(len(group)), table_entries(tables)
        for share in shares:
            network.alive[:] = fate >= share
            publisher = random_publisher(group, bottom, network, dice)
            spread = disseminate(tables, params, publisher, seed=seed, event=run, network=network)
            received = int((spread.trace.first >= 0).sum()) / int(network.alive.sum())
            rows.append(
                {
                    "shape": shape, "processes": len(group), "failed": share, "run": run,
                    "largest": sizes[bottom], "entries": int(entries[publisher]),
                    "sent": int(spread.sent[bottom]),
                    "sent_all": int(spread.sent.sum() + spread.upward.sum()), "received": received,
                    "top": bool(spread.delivered[0]), "rounds": spread.rounds,
                }
            )  # fmt: skip
    return rows


def judge(tables: Tables) -> Claims:
    """Growth of messages, and how often an event gets through ten levels."""
    frame = tables["scale"]
    whole = frame[frame.failed == 0]
    n = whole.largest
    shares = (whole.sent / (n * (np.log(n) + SETTINGS.c))).groupby(whole.processes)
    spans = whole.groupby("shape")
    grown = spans.entries.max() - spans.entries.min()
    expected = np.log(spans.largest.max() / spans.largest.min())
    deep = whole[whole["shape"] == DEEP]
    size = int(deep.largest.min())
    pit = propagation_exact(size, SETTINGS.select(size), SETTINGS.forward, SETTINGS.z, P_SUCCESS)
    mean = shares.mean()
    yield stated(
        "messages in the largest community as a share of N (ln N + c), by number of processes: greatest "
        "over least below 1.1", "CAMCAST, Section 1.3: message complexity grows as N ln N; the bound is ours",
        "constant", rounded(mean, 3, "{:,}"), mean.max() / mean.min() < 1.1,
        interval=intervals(shares, 3, "{:,}"),
    )  # fmt: skip
    yield stated(
        "with ten levels the event reaches the root as often as nine borders let it, within 0.15",
        "CAMCAST, Section 4.5.1: the product of the chances of all borders; the bound is ours",
        round(pit**9, 3), round(float(deep.top.mean()), 3), abs(float(deep.top.mean()) - pit**9) < 0.15,
        interval=interval_of_share(float(deep.top.sum()), len(deep), 3),
    )  # fmt: skip
    yield observed(
        "more table entries in the largest system than in the smallest, beside the growth of ln N",
        {str(k): {"more entries": int(grown[k]), "more ln N": round(float(expected[k]), 2)} for k in SHAPES},
        source="CAMCAST, Section 1.3: memory grows as ln N (here by construction)",
    )  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Messages, tables, rounds and reception."""
    frame = tables["scale"]
    fig, panels = figure(2, 2, figsize=(10.5, 7.4))
    for i, shape in enumerate(SHAPES):
        own = frame[frame["shape"] == shape]
        arrived = own[(own.failed == 0) & own.top].groupby("processes").mean(numeric_only=True)
        line(panels[0, 0], i, arrived.index, arrived.sent_all, shape)
        line(panels[0, 1], i, arrived.index, arrived.entries, shape)
        line(panels[1, 0], i, arrived.index, arrived.rounds, shape)
        largest = own.processes.max()
        reached = own[own.processes == largest].groupby("failed").received.mean()
        line(panels[1, 1], i, 100 * reached.index, reached, f"{shape}, {largest:,}")
    panels[0, 0].set(xscale="log", yscale="log", xlabel="processes", ylabel="messages per event")
    panels[0, 1].set(xscale="log", xlabel="processes", ylabel="table entries, lowest level")
    panels[1, 0].set(xscale="log", ylim=(0, None), xlabel="processes", ylabel="rounds to last reception")
    panels[1, 1].set(ylim=(0, 1.03), xlabel="processes failed (%)", ylabel="live processes reached")
    panels[0, 0].set_title("paper: N ln N messages, ln N entries", fontsize=9)
    return {"": legend_above(fig, panels[0, 0], 2)}


register("camcast-scale", "CAMCAST with up to a million processes and ten levels", measure, judge, draw)
