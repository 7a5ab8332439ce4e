"""What Sub-2-Sub leaves open about building rings, and how much it matters: one choice changed at a time.

3 attributes, power law, as published except for the choice. None of this is a statement of the paper. That a
capped ring view leaves rings open for ever is this project's finding, and can fail.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pandas as pd

from sims.figures.style import figure, legend_beside, seed_line, stated_line
from sims.reproduce.claims import OURS, Claims, observed, span, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.peers.settings import OverlaySettings, Partner, RingSettings, Tie

BASE, CAPPED = "as published (least recent partner, random ties)", "ring view capped at 20"


def _variants() -> dict[str, OverlaySettings]:
    paper = OverlaySettings.paper()

    def ring(**changes: object) -> OverlaySettings:
        return replace(paper, ring=RingSettings.paper(**changes))

    def tie(kind: Tie) -> OverlaySettings:
        return replace(paper, vicinity=replace(paper.vicinity, tie=kind))

    return {
        BASE: paper,
        "partner: random": ring(partner=Partner.RANDOM),
        "partner: nearest ID": ring(partner=Partner.NEAREST),
        "ties: first come": tie(Tie.KEEP),
        "ties: nearest ID": tie(Tie.SEQUENCE),
        "one-sided exchange": ring(two_sided=False),
        "two exchanges a cycle": ring(exchanges=2),
        CAPPED: ring(cap=20),
        "with hello (default)": ring(hello=True),
        "with hello to those that last 6 cycles": ring(hello=True, hello_after=6),
    }


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Build the same rings with one choice changed at a time."""
    size, cycles, seeds = (1_000, 30, 2) if quick else (10_000, 60, 2)
    variants, frames = _variants(), []
    for s, name in tracked(product(range(seed, seed + seeds), variants), progress):
        simulation, _ = start(Setting("power-law-3", size, size, s), variants[name])
        simulation.run(cycles)
        frames.append(pd.DataFrame(simulation.tables["rings"]).assign(variant=name, seed=s))
    table = pd.concat(frames, ignore_index=True)[["variant", "seed", "cycle", "links", "complete"]]
    return measurement(f"{size:,} peers, {size:,} events, {seeds} seeds", choices=table)


def judge(tables: Tables) -> Claims:
    """Complete rings at the end, by variant."""
    table = tables["choices"]
    final = table[table.cycle == table.cycle.max()].groupby("variant", sort=False).complete
    cycles = int(table.cycle.max())
    capped, base = final.get_group(CAPPED), final.get_group(BASE)
    yield stated(
        f"ring views cannot be capped: complete rings after {cycles} cycles with at most 20 links, best "
        "seed, and as published, worst seed (less than half as many)", OURS, "far fewer",
        {"capped": round(float(capped.max()), 4), "as published": round(float(base.min()), 4)},
        capped.max() < base.min() / 2, interval={"capped": span(capped), "as published": span(base)},
    )  # fmt: skip
    for name, values in final:
        yield observed(
            f"{name}: complete rings after {cycles} cycles, mean of seeds", round(float(values.mean()), 4),
            interval=span(values),
        )  # fmt: skip
    whole = table[table.complete >= 0.99].groupby(["variant", "seed"], sort=False).cycle.min()
    for name, first in whole.groupby("variant", sort=False):
        yield observed(
            f"{name}: cycles until 99 % of the rings are complete, mean of seeds", float(first.mean()),
            interval=span(first),
        )  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Complete rings per cycle, a curve per variant."""
    table = tables["choices"]
    fig, axes = figure(figsize=(9.6, 4.8))
    for number, (name, own) in enumerate(table.groupby("variant", sort=False)):
        shares = 100 * own.pivot(index="cycle", columns="seed", values="complete")
        seed_line(axes, number, shares, str(name), markevery=(number % 5, 5), markersize=5)
    axes.set(xlabel="cycle", ylabel="complete rings (%)", ylim=(-3, 104))
    axes.set_title("3 attributes, power law", pad=16)
    if table.cycle.max() >= 40:
        stated_line(axes, "paper: all by 40", x=40)
    legend_beside(axes, fontsize=8)
    return {"": fig}


register("sub2sub-choices", "What the paper leaves open, and how much it matters", measure, judge, draw)
