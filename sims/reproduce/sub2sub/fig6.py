"""Figure 6 of Sub-2-Sub: how well events are delivered while the rings are still being built.

Everything is as in the paper: one exchange per layer and cycle, one random shortcut along proximity or random
links; both readings of the partner of a ring exchange (see `fig5`). In each cycle each test event is
published by a random subscriber of it.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from sims.figures.style import COLOURS, figure, legend_above
from sims.observers import Delivery
from sims.reproduce.claims import Claims, in_words, last_cycle, observed, span, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked
from sims.reproduce.sub2sub.fig5 import PARTNERS, build_rings, partnered
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.peers.settings import DisseminationSettings

CYCLES = {"least recent partner": 45, "random partner": 70}
SOURCE = "Sub-2-Sub, Section 5 and Figure 6: dissemination is complete even before all rings are in place"


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Publish the test events after every cycle of an overlay that starts from nothing."""
    size, seeds = (1_000, 2) if quick else (10_000, 3)
    runs = tracked(product(PARTNERS, range(seed, seed + seeds)), progress)
    frames = [_run(reading, size, s) for reading, s in runs]
    return measurement(f"{size:,} peers, {size:,} events, {seeds} seeds", delivery=frames)


def _run(reading: str, size: int, seed: int) -> pd.DataFrame:
    """One row per cycle, until all rings are complete."""
    simulation, events = start(Setting("power-law-3", size, size, seed), partnered(PARTNERS[reading]))
    simulation.observe(Delivery(events, DisseminationSettings.paper(shortcuts=1)))
    found = build_rings(simulation, CYCLES[reading])
    table = pd.DataFrame(found["delivery"])[["cycle", "hit_ratio", "complete", "incomplete_hit_ratio"]]
    return table.assign(rings_complete=pd.DataFrame(found["rings"]).complete, reading=reading, seed=seed)


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


def draw(tables: Tables) -> Figures:
    """Bars as in the paper, and the rings of Figure 5 as a line."""
    fig, panels = figure(1, 2, figsize=(11.6, 4.4), sharey=True)
    for axes, reading in zip(panels, PARTNERS, strict=True):
        own = tables["delivery"][tables["delivery"].reading == reading]
        means = {
            name: 100 * own.pivot(index="cycle", columns="seed", values=name)
            for name in ("incomplete_hit_ratio", "complete", "rings_complete")
        }
        cycles = means["complete"].index
        complete, rings = means["complete"].ffill(), means["rings_complete"].ffill()
        partly = {"color": "#cccccc", "label": "hit ratio of incomplete disseminations"}
        axes.bar(cycles, means["incomplete_hit_ratio"].mean(axis=1), 0.9, **partly)
        mean = complete.mean(axis=1)
        error = [mean - complete.min(axis=1), complete.max(axis=1) - mean]
        axes.bar(
            cycles, mean, 0.55, color=COLOURS[0], label="complete disseminations", yerr=error,
            error_kw={"elinewidth": 0.8},
        )  # fmt: skip
        axes.plot(cycles, rings.mean(axis=1), color=COLOURS[1], linestyle="--", label="complete rings")
        look = {"color": COLOURS[1], "alpha": 0.2, "linewidth": 0}
        axes.fill_between(cycles, rings.min(axis=1), rings.max(axis=1), **look)
        title = f"{reading}\n(paper: blue reaches 100 % before the dashed line)"
        axes.set(xlabel="cycle", ylim=(0, 104), title=title)
        axes.title.set_fontsize(10)
    panels[0].set_ylabel("%")
    return {"": legend_above(fig, panels[0], 3)}


register("sub2sub-fig6", "Hit ratio and complete disseminations, per cycle", measure, judge, draw)
