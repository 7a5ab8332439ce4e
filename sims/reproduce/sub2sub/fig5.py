"""Figure 5 of Sub-2-Sub: how fast rings are built from nothing.

The paper shows four workloads and says that all rings are set up after 40 cycles. Its text mentions 3 and 5
attributes, uniform and power law; these are taken as the four. 1 and 2 attributes are reported beside them.
Everything is as published, with one exchange per layer and cycle.

The paper selects the partner of an exchange "among ring neighbours" without saying how, and this choice
determines the speed, so both readings are run. *Least recent*: the neighbour of the least recent exchange,
new ones first. *Random*: any neighbour. `sub2sub-choices` has other choices.

Without faults a peer never replaces its true neighbour, so a complete ring stays complete: a run ends when
all rings are complete, or after 90 cycles.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from sims.engine import Simulation
from sims.figures.style import COLOURS, figure, legend_above, seed_line, stated_line
from sims.reproduce.claims import Claims, in_words, observed, span, within
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import OverlaySettings, Partner, RingSettings

STATED, MOST = 40, 90  # cycles: the paper's, and those after which a run is given up
LATER = f"more than {MOST}"
PAPER = ("uniform-3", "power-law-3", "uniform-5", "power-law-5")
OTHERS = ("uniform-1", "power-law-1", "uniform-2", "power-law-2")
PARTNERS = {"least recent partner": Partner.LEAST_RECENT, "random partner": Partner.RANDOM}
SOURCE = "Sub-2-Sub, Section 5 and Figure 5: after 40 cycles all rings are fully set up"


def partnered(partner: Partner) -> OverlaySettings:
    """The overlay as published with one choice of the partner of a ring exchange."""
    return replace(OverlaySettings.paper(), ring=RingSettings.paper(partner=partner))


def build_rings(simulation: Simulation[Overlay], most: int) -> dict[str, Any]:
    """Step until all rings are complete, at most `most` cycles; return the observations."""
    simulation.look()
    while simulation.tables["rings"][-1]["complete"] < 1.0 and simulation.cycle < most:
        simulation.step()
        simulation.look()
    return simulation.tables


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Build the rings of eight workloads with either choice of partner."""
    size, seeds = (1_000, 3) if quick else (10_000, 3)
    runs = [
        (reading, workload, s)
        for workload in (*PAPER, *OTHERS)
        for reading in PARTNERS
        for s in range(seed, seed + (seeds if workload in PAPER else 1))
    ]
    frames = [
        _build(Setting(workload, size, size, s), reading) for reading, workload, s in tracked(runs, progress)
    ]
    scale = f"{size:,} peers, {size:,} events, {seeds} seeds (1 seed for 1 and 2 attributes)"
    return measurement(scale, rings=frames)


def _build(setting: Setting, reading: str) -> pd.DataFrame:
    simulation, _ = start(setting, partnered(PARTNERS[reading]))
    table = pd.DataFrame(build_rings(simulation, MOST)["rings"])[["cycle", "links", "complete"]]
    return table.assign(reading=reading, workload=setting.workload, seed=setting.seed)


def completed(rings: pd.DataFrame) -> float:
    """The cycle at which all rings of one run are complete; infinite if they are not."""
    done = rings.cycle[rings.complete == 1.0]
    return float(done.min()) if len(done) else float("inf")


def _cycles(rings: pd.DataFrame, reading: str, workload: str) -> list[float]:
    mine = rings[(rings.reading == reading) & (rings.workload == workload)]
    return [completed(own) for _, own in mine.groupby("seed")]


def judge(tables: Tables) -> Claims:
    """Per workload and reading, whether the slowest seed needs at most 40 cycles."""
    rings = tables["rings"]
    for reading in PARTNERS:
        for workload in PAPER:
            cycles = _cycles(rings, reading, workload)
            text = f"{Setting(workload).title}: cycles until all rings are complete, slowest seed"
            yield within(text, cycles, STATED, source=SOURCE, reading=reading, never=LATER)
        others = {Setting(name).title: max(_cycles(rings, reading, name)) for name in OTHERS}
        yield observed(
            "1 and 2 attributes, uniform and power law: cycles until all rings are complete",
            {title: in_words(cycles, LATER) for title, cycles in others.items()}, source=SOURCE,
            paper=f"at most {STATED}, if they are among the paper's four", reading=reading,
        )  # fmt: skip
        at = rings[(rings.reading == reading) & rings.workload.isin(PAPER) & (rings.cycle <= STATED)]
        shares = at.sort_values("cycle").groupby(["workload", "seed"]).complete.last()
        yield observed(
            f"share of complete rings at cycle {STATED}, by workload, worst seed",
            shares.groupby("workload").min().round(5).to_dict(), source=SOURCE, paper=1.0,
            interval=span(shares, 5), reading=reading,
        )  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Links in place and complete rings per cycle; a column per workload of the paper, a row per reading."""
    rings = tables["rings"]
    fig, axes = figure(2, 4, figsize=(13.2, 6.2), sharex=True, sharey=True)
    for row, reading in enumerate(PARTNERS):
        for column, workload in enumerate(PAPER):
            panel = axes[row, column]
            mine = rings[(rings.reading == reading) & (rings.workload == workload)]
            labels = {"links": "ring links in place", "complete": "complete rings"}
            for number, (name, label) in enumerate(labels.items()):
                # A run that has ended stays as it is.
                curves = 100 * mine.pivot(index="cycle", columns="seed", values=name).ffill()
                seed_line(panel, number, curves, label, markevery=8, markersize=4)
            stated_line(panel, "paper: all by 40" if not row else "", x=STATED)
            slowest = max(_cycles(rings, reading, workload))
            panel.axvline(min(slowest, MOST), color=COLOURS[1], linewidth=0.8)
            panel.annotate(
                f"all: {slowest:.0f}" if np.isfinite(slowest) else f"not by {MOST}",
                (min(slowest, MOST), 20), (4 if slowest < STATED else -4, 0), textcoords="offset points",
                ha="left" if slowest < STATED else "right", fontsize=8, color=COLOURS[1], zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
            if row:
                panel.set_xlabel("cycle")
            else:
                panel.set_title(Setting(workload).title, fontsize=10, pad=14)
        axes[row, 0].set_ylabel(f"{reading}\n%")
    axes[0, 0].set(ylim=(-3, 104))
    return {"": legend_above(fig, axes[0, 0], 2)}


register("sub2sub-fig5", "Ring links in place and complete rings, per cycle", measure, judge, draw)
