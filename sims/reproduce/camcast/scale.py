"""Beyond the papers: CAMCAST with up to a million processes and ten levels.

The papers' setting (c = 5, g = 5, a = 1, z = 3, messages arrive with 0.85) in two shapes: the papers' three
communities of 1 : 10 : 100, and ten communities of equal size one below the other. The claimed growth,
N ln N messages and tables of ln N, is measured over three powers of ten.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hierarchy.analysis.reliability import propagation_exact
from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters
from sims.figures.style import figure, line, styled
from sims.reproduce.camcast.sweep import P_SUCCESS, random_publisher
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sub2sub.kernels.randomness import cycle_key, stream_number
from sub2sub.overlay.network import Network

__all__ = ["scale"]

ID = "camcast-scale"
DEEP = "10 equal levels"
SHAPES = {"3 levels, 1 : 10 : 100": (1, 10, 100), DEEP: (1,) * 10}
SETTINGS = TopicSettings()

Row = dict[str, Any]


@experiment(ID, title="CAMCAST with up to a million processes and ten levels")
def scale(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Messages, tables, rounds and reception against the number of processes."""
    populations = [1_000, 10_000, 100_000] if quick else [1_000, 10_000, 100_000, 1_000_000]
    shares = [0.0, 0.3] if quick else [0.0, 0.15, 0.3, 0.45, 0.6]
    jobs = [(shape, n) for n in populations for shape in SHAPES]
    rows: list[Row] = []
    for done, (shape, n) in enumerate(jobs):
        runs = 2 if n == 1_000_000 else min(40, 400_000 // n)
        rows += _population(shape, n, shares, runs, seed)
        progress(done + 1, len(jobs))
    frame = pd.DataFrame(rows)
    save_table(out, "scale", {name: frame[name].to_numpy() for name in frame})
    _draw(out, frame)
    return _claims(frame)


def _population(shape: str, n: int, shares: list[float], runs: int, seed: int) -> list[Row]:
    parts = SHAPES[shape]
    sizes = [max(2, n * part // sum(parts)) for part in parts]
    group = Communities.chain(*sizes)
    static, params = StaticTables(group, SETTINGS), parameters(group.sizes, SETTINGS)
    bottom = len(sizes) - 1
    network = Network.whole(len(group))
    network.loss = 1 - P_SUCCESS
    rows = []
    for run in range(runs):
        tables = static.draw(seed, run)
        dice = np.random.default_rng(int(cycle_key(seed, stream_number(ID), run)))
        fate = dice.random(len(group))
        entries = (tables.topic_table >= 0).sum(axis=1) + (tables.super_table >= 0).sum(axis=(1, 2))
        for share in shares:
            network.alive[:] = fate >= share
            publisher = random_publisher(group, bottom, network, dice)
            spread = disseminate(tables, params, publisher, seed=seed, event=run, network=network)
            rows.append(
                {
                    "shape": shape,
                    "processes": len(group),
                    "failed": share,
                    "run": run,
                    "largest": sizes[bottom],
                    "entries": int(entries[publisher]),
                    "sent": int(spread.sent[bottom]),
                    "sent_all": int(spread.sent.sum() + spread.upward.sum()),
                    "received": int((spread.trace.first >= 0).sum()) / int(network.alive.sum()),
                    "top": bool(spread.delivered[0]),
                    "rounds": spread.rounds,
                }
            )
    return rows


def _claims(frame: pd.DataFrame) -> list[Claim]:
    whole = frame[frame.failed == 0]
    n = whole.largest
    share = (whole.sent / (n * (np.log(n) + SETTINGS.c))).groupby(whole.processes).mean()
    spans = whole.groupby("shape").agg(["min", "max"])
    grown = (spans.entries["max"] - spans.entries["min"]).to_dict()
    expected = np.log(spans.largest["max"] / spans.largest["min"]).round(1).to_dict()
    deep = whole[whole["shape"] == DEEP]
    pit = propagation_exact(
        deep.largest.min(), SETTINGS.select(deep.largest.min()), SETTINGS.forward, SETTINGS.z, P_SUCCESS
    )
    return [
        Claim(
            ID,
            "messages in the largest community grow as N ln N: share of N (ln N + c), by number of processes",
            "constant, within 10 %",
            {f"{processes:,}": round(value, 3) for processes, value in share.items()},
            bool(share.max() / share.min() < 1.1),
        ),
        Claim(
            ID,
            "table entries grow as ln N: more entries in the largest system than in the smallest",
            expected,
            grown,
            all(abs(grown[shape] - expected[shape]) <= 1 for shape in SHAPES),
        ),
        Claim(
            ID,
            "with ten levels the event reaches the root as often as nine borders let it, within 0.15",
            round(pit**9, 3),
            round(float(deep.top.mean()), 3),
            bool(abs(deep.top.mean() - pit**9) < 0.15),
        ),
    ]


def _draw(out: Path, frame: pd.DataFrame) -> None:
    with styled():
        fig, panels = figure(2, 2)
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
        for axes in panels.ravel():
            axes.legend(fontsize=8)
        save_figure(out, ID, fig)
