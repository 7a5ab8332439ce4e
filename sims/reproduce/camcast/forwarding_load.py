"""Load of the processes that forward, which are chosen so that it is balanced (CAMCAST, Section 1.3).

The papers' communities of 1000, 100 and 10, c = 5, g = 5, a = 1, z = 3, nothing lost. Many events of g, each
from a random process of g, over tables drawn once: static tables are the worst case for balance, since a
process that is in many tables stays there. Counted per process and event taken: messages forwarded within the
community and upward, and copies received. "Even" is taken as a Gini coefficient below 0.2; the bound is ours.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from hierarchy.camcast import Communities, StaticTables, disseminate, parameters
from hierarchy.compiled.camcast.dissemination import UPWARD
from sims.reproduce.camcast.sweep import LEVELS, SIZES
from sims.reproduce.claims import Claims, claim, span
from sims.reproduce.reproduction import Tables
from sub2sub.compiled.events.outcome import gini
from workloads.charts.chart import Chart, Series, Sheet, shares


def unit(seed: int, events: int) -> pd.DataFrame:
    """A row per process."""
    group = Communities.chain(*SIZES)
    params, bottom = parameters(group.sizes), group.community(len(SIZES) - 1)
    tables = StaticTables(group).draw(seed)
    dice = np.random.Generator(np.random.Philox(seed))
    totals = np.zeros((4, len(group)), np.int64)
    for event in range(events):
        spread = disseminate(tables, params, int(dice.choice(bottom)), seed=seed, event=event)
        trace = spread.trace
        totals += np.array([trace.reached, trace.sent, trace.received, spread.counts[:, UPWARD]])
    columns = dict(zip(("taken", "forwarded", "received", "upward"), totals, strict=True))
    return pd.DataFrame({"community": np.array(LEVELS)[group.topic], **columns})


def balance(load: pd.DataFrame) -> pd.DataFrame:
    """Gini coefficients of load per event taken, by community and seed."""
    rows = []
    for (community, seed), own in load[load.taken > 0].groupby(["community", "seed"]):
        shares = {name: gini(own[name] / own.taken) for name in ("forwarded", "received", "upward")}
        rows.append({"community": community, "seed": seed, **shares})
    return pd.DataFrame(rows).set_index(["community", "seed"])


def judge(tables: Tables) -> Claims:
    """Forwarded within the community, and upward."""
    found = balance(tables["load"])
    worst = found.groupby("community").max().round(4)
    lower = worst.upward.drop("a", errors="ignore")  # there is no community above the root
    yield claim("forwarded", worst.forwarded.to_dict(), worst.forwarded, interval=span(found.forwarded))
    yield claim("upward", lower.to_dict(), lower, interval=span(found.upward.drop("a")))
    yield claim("received", worst.received.to_dict(), interval=span(found.received))


def of_first_seed(load: pd.DataFrame, name: str) -> list[Series]:
    """Processes by their load per event, by community."""
    own = load[(load.seed == load.seed.min()) & (load.taken > 0)]
    return [
        shares(rows[name] / rows.taken, f"{level} ({size} processes)", style="plain")
        for level, size in zip(LEVELS, SIZES, strict=True)
        for rows in [own[own.community == level]]
    ]


def charts(tables: Tables) -> Sheet:
    """Processes by what they forward and send upward per event, first seed."""
    names = {"forwarded": "messages forwarded", "received": "copies received", "upward": "upward messages"}
    y = "processes with at most that (%)"
    found = [
        Chart(label, f"{label} per event taken", y, of_first_seed(tables["load"], name))
        for name, label in names.items()
    ]
    return Sheet(found, note="paper: evenly balanced (a steep step is even)")
