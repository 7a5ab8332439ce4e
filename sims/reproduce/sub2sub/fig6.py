"""Figure 6 of Sub-2-Sub: how well events are delivered while the rings are still being built.

Everything is as in the paper: one exchange per layer and cycle, one random shortcut along proximity or random
links; both readings of the partner of a ring exchange (see `fig5`). In each cycle each test event is
published by a random subscriber of it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claims, in_words, last_cycle, observed, span, stated
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from sims.reproduce.sub2sub.fig5 import PARTNERS, built, extended
from workloads.charts.chart import Chart, Sheet, columns

CYCLES = {"least recent partner": 45, "random partner": 70}
SOURCE = "Sub-2-Sub, Section 5 and Figure 6: dissemination is complete even before all rings are in place"


def plan(quick: bool, seed: int) -> Plan:
    """Publish the test events after every cycle of an overlay that starts from nothing."""
    size, seeds = (1_000, 2) if quick else (10_000, 3)
    settings = grid(reading=PARTNERS, seed=range(seed, seed + seeds))
    return Plan(f"{size:,} peers, {size:,} events, {seeds} seeds", unit, settings, {"size": size}, "delivery")


def unit(reading: str, seed: int, size: int) -> pd.DataFrame:
    """One row per cycle, until all rings are complete."""
    changes = {"observers": [{"kind": "rings"}, {"kind": "delivery", "details": False}]}
    found = built("sub2sub-fig6", reading, seed, size, CYCLES[reading], changes)
    table = pd.DataFrame(found["delivery"])[["cycle", "hit_ratio", "complete", "incomplete_hit_ratio"]]
    return table.assign(rings_complete=pd.DataFrame(found["rings"]).complete)


def _first_at_one(run: pd.DataFrame, name: str) -> float:
    """The first cycle of one run from which on a share stays at 1; infinite if it does not."""
    return last_cycle(run.cycle, run[name] < 1.0, run.cycle.min() - 1.0) + 1


def judge(tables: Tables) -> Claims:
    """Whether deliveries are all complete in an earlier cycle than the rings, in every seed."""
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        runs = [run for _, run in own.groupby("seed")]
        delivered = [_first_at_one(run, "complete") for run in runs]
        rings = [_first_at_one(run, "rings_complete") for run in runs]
        words = {
            name: [in_words(cycle, "not yet") for cycle in cycles]
            for name, cycles in (("all delivered", delivered), ("all rings", rings))
        }
        earlier = [np.isfinite(d) and d < r for d, r in zip(delivered, rings, strict=True)]
        open_yet = [
            float(run.rings_complete[run.cycle == d].iloc[0])
            for run, d in zip(runs, delivered, strict=True)
            if np.isfinite(d)
        ]
        yield stated(
            "first cycle from which on every event is delivered to everybody, and first cycle with all "
            "rings complete, per seed", SOURCE, "the first is earlier", words, all(earlier), reading=reading,
        )  # fmt: skip
        yield observed(
            "share of complete rings when all events are delivered completely, mean of seeds",
            round(float(np.mean(open_yet)), 4) if open_yet else "not reached", source=SOURCE, paper="below 1",
            interval=span(open_yet) if open_yet else None, reading=reading,
        )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Hit ratio of incomplete disseminations, complete ones, and the rings of Figure 5."""
    labels = {
        "complete": "complete disseminations", "rings_complete": "complete rings",
        "incomplete_hit_ratio": "hit ratio of incomplete disseminations",
    }  # fmt: skip
    found = []
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        series = columns(extended(own), "cycle", labels, over="seeds", times=100)
        found.append(Chart(str(reading), "cycle", "%", series, top=104, bottom=0))
    return Sheet(found, note="paper: complete disseminations reach 100 % before complete rings")


REPRODUCTIONS = {"sub2sub-fig6": (plan, judge, charts)}
