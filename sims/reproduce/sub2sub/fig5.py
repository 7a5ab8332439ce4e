"""Figure 5 of Sub-2-Sub: how fast rings are built from nothing.

The paper shows four of its workloads and says that all rings are set up after 40 cycles; its text speaks of 3
and 5 attributes, uniform and power law, which are taken as the four. 1 and 2 attributes are reported beside
them. Everything as published, one exchange per layer and cycle.

The paper selects the partner of an exchange "among ring neighbours" and does not say how, and the choice
decides the speed: both readings are run. *Least recent*: the neighbour not met for longest, new ones first.
*Random*: any of them. Other choices are the subject of `sub2sub-choices`.

Without faults the true neighbour is the best there is, so a complete ring stays complete: a run ends when all
of them are, or after 90 cycles.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from sims.figures.style import COLOURS, band, figure, legend_above, line, stated_line
from sims.reproduce.claims import Claim, in_words, observed, span, within
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.overlay.overlay import OverlaySettings
from sub2sub.ring.settings import Partner, RingSettings

STATED, MOST = 40, 90  # cycles: the paper's, and those after which a run is given up
LATER = f"more than {MOST}"
PAPER = ("uniform-3", "power-law-3", "uniform-5", "power-law-5")
OTHERS = ("uniform-1", "power-law-1", "uniform-2", "power-law-2")
PARTNERS = {"least recent partner": Partner.LEAST_RECENT, "random partner": Partner.RANDOM}
SOURCE = "Sub-2-Sub, Section 5 and Figure 5: after 40 cycles all rings are fully set up"


def partnered(partner: Partner) -> OverlaySettings:
    """The overlay as published with one choice of the partner of a ring exchange."""
    return replace(OverlaySettings.paper(), ring=RingSettings.paper(partner=partner))


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Build the rings of eight workloads with either choice of partner."""
    size, seeds = (1_000, 3) if quick else (10_000, 3)
    runs = [
        (reading, workload, s)
        for workload in (*PAPER, *OTHERS)
        for reading in PARTNERS
        for s in range(seed, seed + (seeds if workload in PAPER else 1))
    ]
    frames = []
    for number, (reading, workload, s) in enumerate(runs):
        frames.append(_build(Setting(workload, size, size, s), reading))
        progress(number + 1, len(runs))
    scale = f"{size:,} peers, {size:,} events, {seeds} seeds (1 seed for 1 and 2 attributes)"
    return Measured({"rings": pd.concat(frames, ignore_index=True)}, scale)


def _build(setting: Setting, reading: str) -> pd.DataFrame:
    """One row per cycle, until all rings are complete."""
    simulation, _ = start(setting, partnered(PARTNERS[reading]))
    simulation.execute_controls()
    while simulation.tables["rings"][-1]["complete"] < 1.0 and simulation.cycle < MOST:
        simulation.step()
        simulation.execute_controls()
    table = pd.DataFrame(simulation.tables["rings"])[["cycle", "links", "complete"]]
    return table.assign(reading=reading, workload=setting.workload, seed=setting.seed)


def completed(rings: pd.DataFrame) -> float:
    """The cycle at which all rings of one run are complete; infinite if they are not."""
    done = rings.cycle[rings.complete == 1.0]
    return float(done.min()) if len(done) else float("inf")


def _cycles(rings: pd.DataFrame, reading: str, workload: str) -> list[float]:
    mine = rings[(rings.reading == reading) & (rings.workload == workload)]
    return [completed(own) for _, own in mine.groupby("seed")]


def judge(tables: Tables) -> list[Claim]:
    """Per workload and reading, whether the slowest seed needs at most 40 cycles."""
    rings = tables["rings"]
    claims = []
    for reading in PARTNERS:
        for workload in PAPER:
            cycles = _cycles(rings, reading, workload)
            text = f"{Setting(workload).title}: cycles until all rings are complete, slowest seed"
            claims.append(within(text, cycles, STATED, source=SOURCE, reading=reading, never=LATER))
        claims.append(
            observed(
                "1 and 2 attributes, uniform and power law: cycles until all rings are complete", SOURCE,
                {
                    Setting(workload).title: in_words(max(_cycles(rings, reading, workload)), LATER)
                    for workload in OTHERS
                },
                paper=f"at most {STATED}, if they are among the paper's four", reading=reading,
            )
        )  # fmt: skip
        at = rings[(rings.reading == reading) & rings.workload.isin(PAPER) & (rings.cycle <= STATED)]
        shares = at.sort_values("cycle").groupby(["workload", "seed"]).complete.last()
        claims.append(
            observed(
                f"share of complete rings at cycle {STATED}, by workload, worst seed", SOURCE,
                shares.groupby("workload").min().round(5).to_dict(), paper=1.0, interval=span(shares, 5),
                reading=reading,
            )
        )  # fmt: skip
    return claims


def draw(tables: Tables) -> Figures:
    """Links in place and complete rings per cycle; a column per workload of the paper, a row per reading."""
    rings = tables["rings"]
    fig, axes = figure(2, 4, figsize=(13.2, 6.2), sharex=True, sharey=True)
    for row, reading in enumerate(PARTNERS):
        for column, workload in enumerate(PAPER):
            panel = axes[row, column]
            mine = rings[(rings.reading == reading) & (rings.workload == workload)]
            for number, name in enumerate(("links", "complete")):
                # A run that has ended stays as it is.
                curves = 100 * mine.pivot(index="cycle", columns="seed", values=name).ffill()
                cycles = curves.index.to_numpy()
                label = {"links": "ring links in place", "complete": "complete rings"}[name]
                line(panel, number, cycles, curves.mean(axis=1), label, markevery=8, markersize=4)
                band(panel, number, cycles, curves.min(axis=1), curves.max(axis=1))
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
    legend_above(fig, axes[0, 0], 2)
    return {"": fig}


register(
    "sub2sub-fig5",
    "Ring links in place and complete rings, per cycle",
    measure=measure,
    judge=judge,
    draw=draw,
)
