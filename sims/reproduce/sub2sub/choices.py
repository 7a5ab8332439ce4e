"""What Sub-2-Sub leaves open about building rings, and how much it matters: one choice changed at a time.

3 attributes, power law, as published but for the choice. Nothing here is a statement of the paper; that a
capped ring view leaves rings open for ever is this project's finding, and can fail.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from sims.figures.style import band, figure, legend_beside, line, stated_line
from sims.reproduce.claims import OURS, Claim, observed, span, stated
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.overlay.overlay import OverlaySettings
from sub2sub.ring.settings import Partner, RingSettings
from sub2sub.vicinity.proximity import Tie

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
    }


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Build the same rings with one choice changed at a time."""
    size, cycles, seeds = (1_000, 30, 2) if quick else (10_000, 60, 2)
    variants = _variants()
    frames = []
    for s in range(seed, seed + seeds):
        for number, (name, settings) in enumerate(variants.items()):
            simulation, _ = start(Setting("power-law-3", size, size, s), settings)
            simulation.run(cycles)
            progress((s - seed) * len(variants) + number + 1, seeds * len(variants))
            frames.append(pd.DataFrame(simulation.tables["rings"]).assign(variant=name, seed=s))
    table = pd.concat(frames, ignore_index=True)[["variant", "seed", "cycle", "links", "complete"]]
    return Measured({"choices": table}, f"{size:,} peers, {size:,} events, {seeds} seeds")


def judge(tables: Tables) -> list[Claim]:
    """Complete rings at the end, by variant."""
    table = tables["choices"]
    final = table[table.cycle == table.cycle.max()].groupby("variant", sort=False).complete
    cycles = int(table.cycle.max())
    capped, base = final.get_group(CAPPED), final.get_group(BASE)
    return [
        stated(
            f"ring views cannot be capped: complete rings after {cycles} cycles with at most 20 links, best "
            "seed, and as published, worst seed (less than half as many)",
            OURS, "far fewer",
            {"capped": round(float(capped.max()), 4), "as published": round(float(base.min()), 4)},
            capped.max() < base.min() / 2, interval={"capped": span(capped), "as published": span(base)},
        ),
        *(
            observed(
                f"{name}: complete rings after {cycles} cycles, mean of seeds", "not in the paper",
                round(float(values.mean()), 4), interval=span(values),
            )
            for name, values in final
        ),
    ]  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Complete rings per cycle, a curve per variant."""
    table = tables["choices"]
    fig, axes = figure(figsize=(9.6, 4.8))
    for number, (name, own) in enumerate(table.groupby("variant", sort=False)):
        shares = 100 * own.groupby("cycle").complete.agg(["mean", "min", "max"])
        line(axes, number, shares.index, shares["mean"], str(name), markevery=(number % 5, 5), markersize=5)
        band(axes, number, shares.index, shares["min"], shares["max"])
    axes.set(xlabel="cycle", ylabel="complete rings (%)", ylim=(-3, 104))
    axes.set_title("3 attributes, power law", pad=16)
    if table.cycle.max() >= 40:
        stated_line(axes, "paper: all by 40", x=40)
    legend_beside(axes, fontsize=8)
    return {"": fig}


register(
    "sub2sub-choices",
    "What the paper leaves open, and how much it matters",
    measure=measure,
    judge=judge,
    draw=draw,
)
