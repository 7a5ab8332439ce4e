"""Figure 5 of Sub-2-Sub: how fast rings are built from nothing.

The paper shows four of its workloads and says that all rings are complete after 40 cycles. Here: 1, 2, 3
and 5 attributes, uniform and power law, with the protocol as published and one exchange per layer and
cycle, over several seeds. What the paper leaves open and decides the speed (whom to exchange with, which of
the overlapping peers to prefer) is the subject of `sub2sub-choices`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sims.figures.style import COLOURS, figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment, part
from sims.reproduce.sub2sub.setting import Setting, start
from sims.runs.starting import start as start_file
from sub2sub.overlay.overlay import OverlaySettings
from sub2sub.ring.layer import Partner, RingSettings
from sub2sub.vicinity.proximity import Tie

__all__ = ["choices", "fig5"]

CYCLES = 40
WORKLOADS = tuple(f"{kind}-{d}" for d in (1, 2, 3, 5) for kind in ("uniform", "power-law"))


@experiment("sub2sub-fig5", title="Ring links in place and complete rings, per cycle")
def fig5(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Build the rings of eight workloads."""
    size, seeds = (1_000, 2) if quick else (10_000, 3)
    columns: dict[str, list[float | int | str]] = {
        k: [] for k in ("workload", "seed", "cycle", "links", "complete")
    }
    runs = [(workload, s) for workload in WORKLOADS for s in range(seed, seed + seeds)]
    for number, (workload, s) in enumerate(runs):
        for row in _build(out, workload, size, s, part(progress, number, len(runs))):
            for name, value in (("workload", workload), ("seed", s), *row.items()):
                if name in columns:
                    columns[name].append(value)
    save_table(out, "rings", columns)
    table = {name: np.array(values) for name, values in columns.items()}
    _draw(out, table)
    return [claim for workload in WORKLOADS for claim in _claims(workload, table)]


def _build(out: Path, workload: str, size: int, seed: int, progress: Progress) -> list[dict[str, Any]]:
    """One row per cycle of one run."""
    changes = {"workload.spec": workload, "population.size": size, "workload.events": size, "cycles": CYCLES}
    _, simulation = start_file("sub2sub-fig5", seed, out, {**changes, "observers": [{"kind": "rings"}]})
    simulation.run(CYCLES, lambda cycle: progress(cycle, CYCLES))
    return simulation.tables["rings"]


def _claims(workload: str, table: dict[str, np.ndarray]) -> list[Claim]:
    last = (table["workload"] == workload) & (table["cycle"] == CYCLES)
    complete = table["complete"][last]
    title = Setting(workload).title
    worst = float(complete.min())
    after = f"complete after {CYCLES} cycles (worst seed)"
    return [
        Claim("sub2sub-fig5", f"{title}: all rings are {after}", 1.0, worst, worst == 1.0),
        Claim(
            "sub2sub-fig5", f"{title}: at least 99.9 % of the rings are {after}", 1.0, worst, worst >= 0.999
        ),
    ]


def _draw(out: Path, table: dict[str, np.ndarray]) -> None:
    with styled():
        fig, axes = figure(2, 4, figsize=(12.8, 5.6), sharex=True, sharey=True)
        for number, workload in enumerate(WORKLOADS):
            panel = axes[number % 2, number // 2]
            mine = table["workload"] == workload
            cycles = np.unique(table["cycle"][mine])
            for name, colour in (("links", "#cccccc"), ("complete", COLOURS[0])):
                mean = [100 * table[name][mine & (table["cycle"] == cycle)].mean() for cycle in cycles]
                panel.bar(
                    cycles,
                    mean,
                    width=0.9,
                    color=colour,
                    label={"links": "ring links in place"}.get(name, "complete rings"),
                )
            panel.set_title(Setting(workload).title, fontsize=10)
        for panel in axes[1]:
            panel.set_xlabel("cycle")
        for panel in axes[:, 0]:
            panel.set_ylabel("%")
        axes[0, 0].legend(fontsize=8, loc="lower right", frameon=True)
        save_figure(out, "sub2sub-fig5", fig)


def _variants() -> dict[str, OverlaySettings]:
    paper = OverlaySettings.paper()

    def ring(**changes: object) -> OverlaySettings:
        return replace(paper, ring=RingSettings.paper(**changes))

    def tie(kind: Tie) -> OverlaySettings:
        return replace(paper, vicinity=replace(paper.vicinity, tie=kind))

    return {
        "paper (least recent partner, random ties)": paper,
        "partner: random": ring(partner=Partner.RANDOM),
        "partner: nearest ID": ring(partner=Partner.NEAREST),
        "ties: first come": tie(Tie.KEEP),
        "ties: nearest ID": tie(Tie.SEQUENCE),
        "one-sided exchange": ring(two_sided=False),
        "two exchanges a cycle": ring(exchanges=2),
        "ring view capped at 20": ring(cap=20),
        "with hello (default)": replace(paper, ring=RingSettings.paper(hello=True)),
    }


@experiment("sub2sub-choices", title="What the paper leaves open, and how much it matters")
def choices(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Build the same rings with one choice changed at a time."""
    size, cycles = (1_000, 30) if quick else (10_000, 60)
    variants = _variants()
    columns: dict[str, list[float | int | str]] = {k: [] for k in ("variant", "cycle", "links", "complete")}
    for number, (name, settings) in enumerate(variants.items()):
        simulation, _ = start(Setting("power-law-3", size, size, seed), settings)
        for cycle in range(cycles):
            simulation.step()
            progress(number * cycles + cycle + 1, len(variants) * cycles)
        simulation.execute_controls()
        for row in simulation.tables["rings"]:
            for column, value in (("variant", name), *row.items()):
                if column in columns:
                    columns[column].append(value)
    save_table(out, "choices", columns)
    table = {name: np.array(values) for name, values in columns.items()}
    final = {}
    with styled():
        fig, axes = figure(figsize=(8.0, 4.8))
        for number, name in enumerate(variants):
            mine = table["variant"] == name
            line(
                axes,
                number,
                table["cycle"][mine],
                100 * table["complete"][mine],
                name,
                markevery=5,
                markersize=4,
            )
            final[name] = float(table["complete"][mine][-1])
        axes.set(
            xlabel="cycle", ylabel="complete rings (%)", title=f"3 attributes, power law, {size:,} peers"
        )
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save_figure(out, "sub2sub-choices", fig)
    capped, paper = final["ring view capped at 20"], final["paper (least recent partner, random ties)"]
    return [
        Claim("sub2sub-choices", f"{name}: complete rings after {cycles} cycles", "not stated", share, True)
        for name, share in final.items()
    ] + [
        Claim("sub2sub-choices", "ring views cannot be capped", "not stated", [capped, paper], capped < paper)
    ]
