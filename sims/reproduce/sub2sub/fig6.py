"""Figure 6 of Sub-2-Sub: how well events are delivered while the rings are still being built.

Everything as in the paper: one exchange per layer and cycle, one random shortcut along proximity or random
links. Each of the test events enters at a random one of its subscribers, anew in each cycle.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sims.figures.style import COLOURS, figure, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment, part
from sims.runs.starting import start

__all__ = ["fig6"]

CYCLES = 45
Columns = dict[str, NDArray[np.float64]]


@experiment("sub2sub-fig6", title="Hit ratio and complete disseminations, per cycle")
def fig6(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Publish the test events after every cycle of an overlay that starts from nothing."""
    size, seeds = (1_000, 2) if quick else (10_000, 3)
    rows: list[dict[str, float]] = []
    for number in range(seeds):
        rows += _run(out, size, seed + number, part(progress, number, seeds))
    save_table(out, "delivery", {name: [row[name] for row in rows] for name in rows[0]})
    table = {name: np.array([row[name] for row in rows], float) for name in rows[0]}
    _draw(out, table, size)
    return _claims(table, range(seed, seed + seeds))


def _run(out: Path, size: int, seed: int, progress: Progress) -> list[dict[str, float]]:
    """One row per cycle."""
    changes = {"population.size": size, "workload.events": size, "cycles": CYCLES}
    _, simulation = start("sub2sub-fig6", seed, out, changes)
    simulation.run(CYCLES, lambda cycle: progress(cycle, CYCLES))
    return [
        {"seed": seed, **delivery, "rings_complete": rings["complete"]}
        for delivery, rings in zip(simulation.tables["delivery"], simulation.tables["rings"], strict=True)
    ]


def first_at_one(table: Columns, name: str, seed: int) -> int | None:
    """The first cycle from which on a share stays at 1."""
    mine = table["seed"] == seed
    below = table["cycle"][mine][table[name][mine] < 1.0]
    last = int(below.max(initial=-1))
    return last + 1 if last < CYCLES else None


def _claims(table: Columns, seeds: range) -> list[Claim]:
    delivered = [first_at_one(table, "complete", seed) for seed in seeds]
    rings = [first_at_one(table, "rings_complete", seed) for seed in seeds]
    earlier = [d is not None and (r is None or d < r) for d, r in zip(delivered, rings, strict=True)]
    open_yet = [
        float(table["rings_complete"][(table["seed"] == seed) & (table["cycle"] == cycle)][0])
        for seed, cycle in zip(seeds, delivered, strict=True)
        if cycle is not None
    ]
    return [
        Claim(
            "sub2sub-fig6",
            "all events are delivered to all their subscribers before all rings are complete: "
            "first cycle of either, per seed",
            "earlier",
            [list(pair) for pair in zip(delivered, rings, strict=True)],
            all(earlier),
        ),
        Claim(
            "sub2sub-fig6",
            "share of complete rings when all events are delivered completely, per seed",
            "below 1",
            open_yet,
            bool(open_yet) and max(open_yet) < 1.0,
        ),
    ]


def _draw(out: Path, table: Columns, size: int) -> None:
    cycles = np.arange(CYCLES + 1)

    def mean(name: str) -> NDArray[np.float64]:
        values = [table[name][table["cycle"] == cycle] for cycle in cycles]
        return np.array([100 * np.nanmean(v) if not np.isnan(v).all() else np.nan for v in values])

    with styled():
        fig, axes = figure(figsize=(8.0, 4.2))
        axes.bar(
            cycles, mean("incomplete_hit_ratio"), 0.9, color="#cccccc", label="hit ratio of incomplete ones"
        )
        axes.bar(cycles, mean("complete"), 0.55, color=COLOURS[0], label="complete disseminations")
        axes.plot(
            cycles,
            mean("rings_complete"),
            color=COLOURS[1],
            linestyle="--",
            label="complete rings (Figure 5)",
        )
        axes.set(
            xlabel="cycle", ylabel="%", ylim=(0, 118), xlim=(-1, 41),
            title=f"Delivery while rings are built: 3 attributes, power law, {size:,} peers",
        )  # fmt: skip
        axes.legend(ncols=3, loc="upper center", fontsize=9)
        save_figure(out, "sub2sub-fig6", fig)
