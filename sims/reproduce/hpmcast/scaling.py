"""Figures 11 to 13 of hpmcast: delivery against size a and redundancy R, and with audience threshold D.

Figure 11 has l = 3, R = 4, F = 3. The settings of Figures 12 and 13 did not survive; both are drawn in that
of Figure 8 (a = 22, l = 3, F = 2), Figure 13 with R = 3. All with c = 0, in the readings of Figure 6 that
differ at level 1 (see `interest`). Redundancy is also for crashes, so Figure 12 is run with every tenth
participant crashed, too. Bounds for "slightly" and "clearly" are ours and in the claims.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Gossip
from sims.figures.style import figure, legend_above, mean_line
from sims.reproduce.claims import Claim, below, interval_of_mean, stated
from sims.reproduce.hpmcast.trials import READINGS, hierarchy, means, run_trials, table_of
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables

FRACTIONS = (0.1, 0.2, 0.5, 1.0)
WELL, SLIGHTLY, CLEARLY = 0.01, 0.05, 0.01


def measure_sizes(quick: bool, seed: int, progress: Progress) -> Measured:
    """Let a grow in a hierarchy of fixed depth: up to 8,000 participants, or a million."""
    sizes = [5, 10, 15, 20] if quick else [5, 10, 15, 20, 30, 40, 60, 100]
    frames = []
    for k, a in enumerate(sizes):
        system = hierarchy(a, 3, 4)
        # Every size gets about as many participants in all, within reason.
        events = min(200, max(3, (200_000 if quick else 2_000_000) // a**3))
        for name, reading in READINGS.items():
            for p in FRACTIONS:
                gossip = Gossip(fanout=3, reading=reading, redundancy=4)
                frames.append(table_of(run_trials(system, p, events, seed, gossip), reading=name, a=a, p=p))
        progress(k + 1, len(sizes))
    scale = f"{sizes[0] ** 3:,} to {sizes[-1] ** 3:,} participants, 3 to 200 events"
    return Measured({"delivery": pd.concat(frames, ignore_index=True)}, scale)


def judge_fig11(tables: Tables) -> list[Claim]:
    """What delivery loses with size, and what small p lacks."""
    source = "hpmcast, Section 5.3.3 and Figure 11:"
    claims = []
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        by = means(own, "a", "p").unstack("p")
        lost, gap = by.loc[10] - by.iloc[-1], by[1.0] - by[0.1]
        largest = dict(iter(own[own.a == by.index[-1]].groupby("p").delivery))
        claims += [
            stated(
                f"delivery lost from a = 10 to the greatest a, by p (below {WELL} for all)",
                f"{source} very good scalability with growing a; the bound is ours", "little or nothing",
                {str(p): round(v, 4) for p, v in lost.items()}, lost.max() < WELL, reading=str(reading),
            ),
            stated(
                "delivery at the greatest a, by p: less for p = 0.1 than for p = 1, beyond chance",
                f"{source} a small p shows in a stronger decrease", "less",
                {str(p): round(v, 5) for p, v in by.iloc[-1].items()}, below(largest[0.1], largest[1.0]),
                reading=str(reading),
                interval={str(p): interval_of_mean(values, 5) for p, values in largest.items()},
            ),
            stated(
                f"what p = 0.1 lacks against p = 1, by a (below {SLIGHTLY} for all)",
                f"{source} slightly; the bound is ours",
                "slightly",
                {str(a): round(v, 4) for a, v in gap.items()}, gap.max() < SLIGHTLY, reading=str(reading),
            ),
        ]  # fmt: skip
    return claims


def measure_redundancy(quick: bool, seed: int, progress: Progress) -> Measured:
    """Vary the number of delegates, without crashes and with."""
    redundancies = [1, 2, 3, 4, 5, 6]
    events = 10 if quick else 40
    frames = []
    for k, redundancy in enumerate(redundancies):
        system = hierarchy(22, 3, redundancy)
        for crashed in (0.0, 0.1):
            for name, reading in READINGS.items():
                gossip = Gossip(reading=reading, redundancy=redundancy)
                for p in FRACTIONS:
                    trials = run_trials(system, p, events, seed, gossip, crashed=crashed)
                    frames.append(table_of(trials, reading=name, R=redundancy, p=p, crashed=crashed))
        progress(k + 1, len(redundancies))
    scale = f"{22**3:,} participants, {events} events of each kind"
    return Measured({"delivery": pd.concat(frames, ignore_index=True)}, scale)


def judge_fig12(tables: Tables) -> list[Claim]:
    """What the second delegate brings, and what all further ones."""
    claims = []
    for (crashed, reading), own in tables["delivery"].groupby(["crashed", "reading"], sort=False):
        by = means(own, "R")
        first, rest = float(by[2] - by[1]), float(by[6] - by[2])
        claims.append(
            stated(
                f"{100 * crashed:.0f} % crashed: mean gain from R = 1 to 2, and from 2 to 6 (the first more "
                "than twice the second)",
                "hpmcast, Section 5.3.5 and Figure 12: beyond R > 1 only little more reliability is gained; "
                "the bound is ours",
                "the second is little", {"R = 1 to 2": round(first, 4), "R = 2 to 6": round(rest, 4)},
                first > 2 * rest and first > 0,
                reading=str(reading),
            )
        )  # fmt: skip
    return claims


AUDIENCE = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)


def measure_audience(quick: bool, seed: int, progress: Progress) -> Measured:
    """Compare the plain algorithm with one that widens small audiences."""
    events = 10 if quick else 60
    system = hierarchy(22, 3, 3)
    frames = []
    thresholds = (0, 5, 10)
    for k, threshold in enumerate(thresholds):
        for name, reading in READINGS.items():
            gossip = Gossip(audience=threshold, reading=reading, redundancy=3)
            for p in AUDIENCE:
                frames.append(
                    table_of(run_trials(system, p, events, seed, gossip), reading=name, D=threshold, p=p)
                )
        progress(k + 1, len(thresholds))
    scale = f"{22**3:,} participants, {events} events of each kind"
    return Measured({"delivery": pd.concat(frames, ignore_index=True)}, scale)


def judge_fig13(tables: Tables) -> list[Claim]:
    """What the threshold gains for small p, and whether it costs delivery anywhere."""
    source = "hpmcast, Section 5.4.2 and Figure 13:"
    claims = []
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        by = means(own, "D", "p").unstack("p")
        small = own[np.isclose(own.p, 0.1)]
        gain = by.loc[10] - by.loc[0]
        claims += [
            stated(
                f"mean delivery at p = 0.1 with D = 0, 5 and 10 (D = 10 more than {CLEARLY} above D = 0)",
                f"{source} improved reliability where few are interested; the bound is ours",
                "clearly better", {f"D = {d}": round(float(v), 4) for d, v in by[0.1].items()},
                by[0.1][10] > by[0.1][0] + CLEARLY, reading=str(reading),
                interval=[interval_of_mean(values) for _, values in small.groupby("D").delivery],
            ),
            stated(
                "least gain of D = 10 over all p (above -0.002)",
                f"{source} an improvement; the bound is ours", "0 or more",
                round(float(gain.min()), 4), gain.min() > -0.002, reading=str(reading),
            ),
        ]  # fmt: skip
    return claims


def _curves(axes: Any, table: pd.DataFrame, x: str, by: str, label: str, column: str = "delivery") -> None:
    for k, (value, own) in enumerate(table.groupby(by, sort=False)):
        mean_line(axes, k, own.groupby(x)[column], f"{label} = {value}")


def _draw_fig11(tables: Tables) -> Figures:
    fig, panels = figure(columns=3, figsize=(13.8, 4.6), sharey=True)
    for axes, (reading, own) in zip(panels, tables["delivery"].groupby("reading", sort=False), strict=True):
        _curves(axes, own, "a", "p", "p")
        axes.set(xlabel="subsystems of a subsystem, a  (n = a³)", title=str(reading))
        axes.title.set_fontsize(10)
    panels[0].set(ylabel="probability of delivery")
    legend_above(
        fig,
        panels[0],
        4,
        title="l = 3, R = 4, F = 3, c = 0 (paper: flat, slightly lower for small p; numbers lost)",
    )
    return {"": fig}


def _draw_fig12(tables: Tables) -> Figures:
    fig, panels = figure(2, 3, figsize=(13.8, 7.0), sharex=True, sharey=True)
    groups = tables["delivery"].groupby(["crashed", "reading"], sort=False)
    for axes, ((crashed, reading), own) in zip(panels.ravel(), groups, strict=True):
        _curves(axes, own, "R", "p", "p")
        axes.set_title(f"{reading}, {100 * crashed:.0f} % crashed", fontsize=10)
    for axes in panels[1]:
        axes.set(xlabel="delegates of a subsystem, R")
    for axes in panels[:, 0]:
        axes.set(ylabel="probability of delivery")
    legend_above(
        fig,
        panels[0, 0],
        4,
        title="n = 22³, l = 3, F = 2, c = 0 (paper: little gained beyond R > 1; numbers lost)",
    )
    return {"": fig}


def _draw_fig13(tables: Tables) -> Figures:
    fig, panels = figure(2, 3, figsize=(13.8, 7.0), sharex=True, sharey="row")
    table = tables["delivery"].assign(reached=100 * tables["delivery"].parasites)
    for column, (reading, own) in enumerate(table.groupby("reading", sort=False)):
        _curves(panels[0, column], own, "p", "D", "D")
        _curves(panels[1, column], own, "p", "D", "D", "reached")
        panels[0, column].set_title(str(reading), fontsize=10)
        panels[1, column].set(xlabel="fraction of interested participants")
    panels[0, 0].set(ylabel="probability of delivery")
    panels[1, 0].set(ylabel="uninterested participants reached (%)")
    legend_above(
        fig,
        panels[0, 0],
        3,
        title="n = 22³, l = 3, R = 3, F = 2, c = 0 (paper: better for small p; numbers lost)",
    )
    return {"": fig}


register(
    "hpmcast-fig11", "Delivery against the size of the hierarchy",
    measure=measure_sizes, judge=judge_fig11, draw=_draw_fig11,
)  # fmt: skip
register(
    "hpmcast-fig12", "Delivery against the redundancy R",
    measure=measure_redundancy, judge=judge_fig12, draw=_draw_fig12,
)  # fmt: skip
register(
    "hpmcast-fig13", "Delivery with the audience threshold D",
    measure=measure_audience, judge=judge_fig13, draw=_draw_fig13,
)  # fmt: skip
