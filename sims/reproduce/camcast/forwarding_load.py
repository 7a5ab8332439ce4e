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
from sims.figures.style import figure, legend_above, line
from sims.reproduce.camcast.sweep import LEVELS, SIZES
from sims.reproduce.claims import Claims, observed, span, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked
from sub2sub.compiled.events.outcome import gini

EVEN = 0.2
SOURCE = (
    "CAMCAST, Section 1.3: those that forward are chosen so that load is evenly balanced; the bound is ours"
)


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Publish many events over the same tables: a row per process and seed."""
    events, seeds = (300, 2) if quick else (2000, 3)
    group = Communities.chain(*SIZES)
    params, bottom = parameters(group.sizes), group.community(len(SIZES) - 1)
    frames = []
    for own in tracked(range(seed, seed + seeds), progress):
        tables = StaticTables(group).draw(own)
        dice = np.random.Generator(np.random.Philox(own))
        totals = np.zeros((4, len(group)), np.int64)
        for event in range(events):
            spread = disseminate(tables, params, int(dice.choice(bottom)), seed=own, event=event)
            trace = spread.trace
            totals += np.array([trace.reached, trace.sent, trace.received, spread.counts[:, UPWARD]])
        columns = dict(zip(("taken", "forwarded", "received", "upward"), totals, strict=True))
        names = np.array(LEVELS)[group.topic]
        frames.append(pd.DataFrame({"community": names, "seed": own, **columns}))
    return measurement(f"{len(group):,} processes, {events:,} events of g, {seeds} seeds", load=frames)


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


def draw(tables: Tables) -> Figures:
    """Processes by what they forward and send upward per event, first seed."""
    load = tables["load"]
    load = load[(load.seed == load.seed.min()) & (load.taken > 0)]
    fig, panels = figure(1, 3, figsize=(12.6, 4.2), sharey=True)
    labels = ("messages forwarded", "copies received", "upward messages")
    for axes, name, label in zip(panels, ("forwarded", "received", "upward"), labels, strict=True):
        for number, level in enumerate(LEVELS):
            own = load[load.community == level]
            share = np.sort(own[name] / own.taken)
            label_of = f"{level} ({SIZES[number]} processes)"
            line(axes, number, share, np.linspace(0, 100, share.size), label_of, marker="")
        axes.set(xlabel=f"{label} per event taken")
    panels[0].set_ylabel("processes with at most that (%)")
    return {"": legend_above(fig, panels[0], 3, title="paper: evenly balanced (a steep step is even)")}


register("camcast-load", "Load of the processes that forward", measure, judge, draw)
