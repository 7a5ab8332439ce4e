"""Beyond the papers: CAMCAST with up to a million processes and ten levels.

The papers' setting (c = 5, g = 5, a = 1, z = 3, messages arrive with probability 0.85) in two shapes: the
papers' three communities of 1 : 10 : 100, and a chain of ten communities of equal size. The claimed growth,
N ln N messages and tables of ln N, is measured over three powers of ten.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from hierarchy.analysis.reliability import propagation_exact
from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters
from sims.reproduce.camcast.sweep import P_SUCCESS, dice_for, lossy_network, random_publisher, table_entries
from sims.reproduce.claims import Claims, claim, means, share_interval
from sims.reproduce.reproduction import Tables

DEEP = "10 equal levels"
SHAPES = {"3 levels, 1 : 10 : 100": (1, 10, 100), DEEP: (1,) * 10}
SETTINGS = TopicSettings()


def unit(n: int, shape: str, shares: list[float], seed: int) -> list[dict[str, Any]]:
    """One population: a row per run and share of failed processes."""
    parts = SHAPES[shape]
    sizes = [max(2, n * part // sum(parts)) for part in parts]
    group = Communities.chain(*sizes)
    static, params = StaticTables(group, SETTINGS), parameters(group.sizes, SETTINGS)
    bottom = len(sizes) - 1
    network = lossy_network(len(group))
    rows = []
    for run in range(2 if n == 1_000_000 else min(40, 400_000 // n)):
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
                    "processes": len(group), "failed": share, "run": run, "largest": sizes[bottom],
                    "entries": int(entries[publisher]), "sent": int(spread.sent[bottom]),
                    "sent_all": int(spread.sent.sum() + spread.upward.sum()), "received": received,
                    "top": bool(spread.delivered[0]), "rounds": spread.rounds,
                }
            )  # fmt: skip
    return rows


def judge(tables: Tables) -> Claims:
    """Growth of messages, and how often an event gets through ten levels."""
    whole = tables["scale"][tables["scale"].failed == 0]
    n = whole.largest
    shares = (whole.sent / (n * (np.log(n) + SETTINGS.c))).groupby(whole.processes)
    spans = whole.groupby("shape")
    grown = spans.entries.max() - spans.entries.min()
    expected = np.log(spans.largest.max() / spans.largest.min())
    deep = whole[whole["shape"] == DEEP]
    size, top = int(deep.largest.min()), float(deep.top.mean())
    border = propagation_exact(size, SETTINGS.select(size), SETTINGS.forward, SETTINGS.z, P_SUCCESS)
    ends = share_interval(float(deep.top.sum()), len(deep), 3)
    more = {str(k): {"more entries": int(grown[k]), "more ln N": round(expected[k], 2)} for k in SHAPES}
    yield means("messages", shares, shares.mean().max() / shares.mean().min(), digits=3, name="{:,}")
    yield claim("deep", round(top, 3), abs(top - border**9), paper=round(border**9, 3), interval=ends)
    yield claim("entries", more)


def of_largest(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of each shape's largest system."""
    return rows[rows.processes == rows.groupby("shape").processes.transform("max")]
