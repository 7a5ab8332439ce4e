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
from sims.reproduce.camcast.sweep import P_SUCCESS, dice_for, lossy_network, random_publisher, table_entries
from sims.reproduce.claims import Claims, intervals, observed, rounded, share_interval, stated
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from workloads.charts.chart import Chart, Sheet, curves

DEEP = "10 equal levels"
SHAPES = {"3 levels, 1 : 10 : 100": (1, 10, 100), DEEP: (1,) * 10}
SETTINGS = TopicSettings()

Row = dict[str, Any]


def plan(quick: bool, seed: int) -> Plan:
    """Messages, tables, rounds and reception against the number of processes."""
    populations = [1_000, 10_000, 100_000] if quick else [1_000, 10_000, 100_000, 1_000_000]
    shares = [0.0, 0.3] if quick else [0.0, 0.15, 0.3, 0.45, 0.6]
    scale = f"{populations[0]:,} to {populations[-1]:,} processes, 2 to 40 runs"
    return Plan(scale, unit, grid(n=populations, shape=SHAPES), {"shares": shares, "seed": seed}, "scale")


def unit(n: int, shape: str, shares: list[float], seed: int) -> list[Row]:
    """One population: a row per run and share of failed processes."""
    return _population(shape, n, shares, 2 if n == 1_000_000 else min(40, 400_000 // n), seed)


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
        interval=share_interval(float(deep.top.sum()), len(deep), 3),
    )  # fmt: skip
    yield observed(
        "more table entries in the largest system than in the smallest, beside the growth of ln N",
        {str(k): {"more entries": int(grown[k]), "more ln N": round(float(expected[k]), 2)} for k in SHAPES},
        source="CAMCAST, Section 1.3: memory grows as ln N (here by construction)",
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Messages, tables, rounds and reception."""
    frame = tables["scale"]
    arrived = frame[(frame.failed == 0) & frame.top]
    largest = frame[frame.processes == frame.groupby("shape").processes.transform("max")]

    def chart(title: str, label: str, column: str, **options: Any) -> Chart:
        return Chart(
            title,
            "processes",
            label,
            curves(arrived, "processes", column, "shape", over=""),
            log_x=True,
            **options,
        )

    return Sheet(
        [
            chart("paper: N ln N messages", "messages per event", "sent_all", log_y=True),
            chart("paper: ln N entries", "table entries, lowest level", "entries"),
            chart("", "rounds to last reception", "rounds"),
            Chart(
                "the largest", "processes failed (%)", "live processes reached",
                curves(largest, "failed", "received", "shape", over="", across=100), top=1.03, bottom=0,
            ),
        ],
        columns=2,
    )  # fmt: skip


REPRODUCTIONS = {"camcast-scale": (plan, judge, charts)}
