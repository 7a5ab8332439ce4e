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
from sims.reproduce.claims import Claims, observed, span, stated
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from sub2sub.compiled.events.outcome import gini
from workloads.charts.chart import Chart, Sheet, shares

EVEN = 0.2
SOURCE = (
    "CAMCAST, Section 1.3: those that forward are chosen so that load is evenly balanced; the bound is ours"
)


def plan(quick: bool, seed: int) -> Plan:
    """Publish many events over the same tables."""
    events, seeds = (300, 2) if quick else (2000, 3)
    scale = f"{sum(SIZES):,} processes, {events:,} events of g, {seeds} seeds"
    return Plan(scale, unit, grid(seed=range(seed, seed + seeds)), {"events": events}, "load")


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
    worst = found.groupby("community").max()
    lower = worst.upward.drop("a", errors="ignore")  # there is no community above the root
    yield stated(
        f"Gini coefficient of messages forwarded per event taken, by community, worst seed (below {EVEN} in "
        "all)", SOURCE, "even", worst.forwarded.round(4).to_dict(), worst.forwarded.max() < EVEN,
        interval=span(found.forwarded), reading="all messages",
    )  # fmt: skip
    yield stated(
        f"Gini coefficient of upward messages per event taken, in d and g, worst seed (below {EVEN} in both)",
        SOURCE, "even", lower.round(4).to_dict(), lower.max() < EVEN, interval=span(found.upward.drop("a")),
        reading="upward messages alone",
    )  # fmt: skip
    yield observed(
        "Gini coefficient of copies received per event taken, by community, worst seed",
        worst.received.round(4).to_dict(), interval=span(found.received),
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Processes by what they forward and send upward per event, first seed."""
    load = tables["load"]
    load = load[(load.seed == load.seed.min()) & (load.taken > 0)]
    names = {"forwarded": "messages forwarded", "received": "copies received", "upward": "upward messages"}
    by = [
        (f"{level} ({SIZES[k]} processes)", load[load.community == level]) for k, level in enumerate(LEVELS)
    ]
    found = [
        Chart(
            label, f"{label} per event taken", "processes with at most that (%)",
            [shares(own[name] / own.taken, text, style="plain") for text, own in by],
        )
        for name, label in names.items()
    ]  # fmt: skip
    return Sheet(found, note="paper: evenly balanced (a steep step is even)")


REPRODUCTIONS = {"camcast-load": (plan, judge, charts)}
