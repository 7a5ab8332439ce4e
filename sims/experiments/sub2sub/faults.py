"""Faults, beyond the paper: crashes, loss, churn, a partition that heals; as published and as extended here.

3 attributes, power law. The overlay is built first, then the fault sets in; ring completeness among the
living and the fate of test events are followed. Published: dead ring neighbours are never forgotten, so
nothing heals. Extended (the default): ages, probes, hello, repeated requests; see `sub2sub.probing`,
`sub2sub.ring` and `sub2sub.cyclon`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from sims.engine import Schedule
from sims.engine.control import Control
from sims.engine.faults import Churn, Crash, Loss, Partition
from sims.experiments.claims import Claim, save_figure, save_table
from sims.experiments.registry import Progress, experiment
from sims.experiments.sub2sub.setting import Setting, start
from sims.figures.style import figure, line, styled
from sims.observers import Delivery
from sub2sub.dissemination import DisseminationSettings
from sub2sub.overlay import OverlaySettings

__all__ = ["churn", "crash", "loss", "partition"]

BUILT = 40  # cycles given to build the rings before a fault
Faults = list[tuple[Schedule, Control]]
Table = dict[str, np.ndarray]

VARIANTS: dict[str, tuple[Callable[[], OverlaySettings], Callable[[], DisseminationSettings]]] = {
    "as published": (OverlaySettings.paper, DisseminationSettings.paper),
    "extended": (OverlaySettings, DisseminationSettings),
}


def _follow(
    levels: list[float],
    faults: Callable[[float], Faults],
    after: int,
    quick: bool,
    seed: int,
    progress: Progress,
    spare: float = 0.0,
) -> Table:
    """Rings and deliveries of both variants at each level of a fault, cycle by cycle from its beginning."""
    size, built = (1_000, 25) if quick else (10_000, BUILT)
    columns: dict[str, list[float | str]] = {
        name: [] for name in ("variant", "level", "cycle", "rings", "hit_ratio", "deliveries", "spam")
    }
    done, steps = 0, len(VARIANTS) * len(levels) * (built + after)
    for variant, (overlay, dissemination) in VARIANTS.items():
        for level in levels:
            setting = Setting("power-law-3", size, size // 5, seed)
            controls = [(_later(schedule, built), control) for schedule, control in faults(level)]
            simulation, events = start(setting, overlay(), controls, spare=round(spare * size), every=1)
            simulation.controls.append((Schedule(start=built, every=2), Delivery(events, dissemination())))
            for _ in range(built + after):
                simulation.step()
                done += 1
                progress(done, steps)
            simulation.execute_controls()
            rings = {row["cycle"]: row["complete"] for row in simulation.tables["rings"]}
            for row in simulation.tables["delivery"]:
                values = (variant, level, row["cycle"] - built, rings[row["cycle"]], row["hit_ratio"])
                for name, value in zip(
                    columns, (*values, row["complete"], row["spam"] / row["events"]), strict=True
                ):
                    columns[name].append(value)
    return {name: np.array(values) for name, values in columns.items()}


def _later(schedule: Schedule, cycles: int) -> Schedule:
    until = None if schedule.until is None else schedule.until + cycles
    at = None if schedule.at is None else schedule.at + cycles
    return Schedule(schedule.start + cycles, until, schedule.every, at)


def _rows(table: Table, variant: str, level: float) -> np.ndarray:
    return np.flatnonzero((table["variant"] == variant) & (table["level"] == level))


def _recovery(table: Table, variant: str, level: float, column: str, since: int = 0) -> float:
    """Cycles after `since` from which on a share stays at 1; infinite if it does not."""
    rows = _rows(table, variant, level)
    short = table["cycle"][rows][table[column][rows] < 1.0]
    short = short[short >= since]
    if short.size and short.max() == table["cycle"][rows].max():
        return float("inf")
    return float(short.max() + 2 - since) if short.size else 0.0


def _shown(cycles: float) -> float | str:
    """Cycles as a claim states them: JSON knows no infinity."""
    return "never" if np.isinf(cycles) else cycles


def _draw(
    out: Path, id: str, table: Table, levels: list[float], title: str, label: Callable[[float], str]
) -> None:
    with styled():
        fig, axes = figure(2, 2, figsize=(9.6, 6.0), sharex=True, sharey=True)
        for row, (column, name) in enumerate((("rings", "complete rings"), ("hit_ratio", "hit ratio"))):
            for side, variant in enumerate(VARIANTS):
                panel = axes[row, side]
                for number, level in enumerate(levels):
                    rows = _rows(table, variant, level)
                    line(
                        panel,
                        number,
                        table["cycle"][rows],
                        100 * table[column][rows],
                        label(level),
                        markevery=4,
                    )
                panel.set_title(f"{name}, {variant}", fontsize=10)
                panel.set_ylim(-3, 103)
        for panel in axes[1]:
            panel.set_xlabel("cycles after the fault")
        for panel in axes[:, 0]:
            panel.set_ylabel("%")
        axes[0, 1].legend(fontsize=8)
        fig.suptitle(title, fontsize=12)
        save_figure(out, id, fig)


@experiment("sub2sub-crash", title="Rings and deliveries after a share of the peers crashes at once")
def crash(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Crash 10 to 80 %."""
    levels = [0.2, 0.5] if quick else [0.1, 0.2, 0.5, 0.8]
    table = _follow(levels, lambda x: [(Schedule(at=0), Crash(x))], 60, quick, seed, progress)
    save_table(out, "crash", table)
    _draw(out, "sub2sub-crash", table, levels, "Crash of a share of the peers", lambda x: f"{x:.0%}")
    claims = []
    for level, within in ((0.2, 30), (0.5, 60)):
        healed = _recovery(table, "extended", level, "rings")
        hits = _recovery(table, "extended", level, "hit_ratio")
        text = f"{level:.0%} crashed: cycles until all rings are complete again, extended"
        claims.append(
            Claim(
                "sub2sub-crash", text, f"not in the paper; at most {within}", _shown(healed), healed <= within
            )
        )
        text = f"{level:.0%} crashed: cycles until every event reaches everybody again, extended"
        claims.append(
            Claim("sub2sub-crash", text, "not in the paper; before the rings", _shown(hits), hits <= healed)
        )
        never = _recovery(table, "as published", level, "rings")
        text = f"{level:.0%} crashed: as published the rings do not recover"
        claims.append(Claim("sub2sub-crash", text, "not in the paper", _shown(never), bool(np.isinf(never))))
    return claims


@experiment("sub2sub-loss", title="Rings and deliveries while messages are lost")
def loss(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Lose up to 30 % of all messages for 30 cycles."""
    levels = [0.0, 0.15, 0.3] if quick else [0.0, 0.05, 0.15, 0.3]
    stop = 30
    table = _follow(
        levels,
        lambda x: [(Schedule(at=0), Loss(x)), (Schedule(at=stop), Loss(0.0))],
        50, quick, seed, progress,
    )  # fmt: skip
    save_table(out, "loss", table)
    _draw(out, "sub2sub-loss", table, levels, f"Loss for {stop} cycles", lambda x: f"{x:.0%} lost")
    claims = []
    for level in levels[1:]:
        rows = _rows(table, "extended", level)
        during = table["cycle"][rows] < stop
        least = float(table["hit_ratio"][rows][during].min())
        after = _recovery(table, "extended", level, "hit_ratio", stop)
        text = f"{level:.0%} lost: least hit ratio meanwhile, and cycles until full afterwards, extended"
        claims.append(Claim("sub2sub-loss", text, "not in the paper", [least, _shown(after)], after <= 30))
    return claims


@experiment("sub2sub-churn", title="Rings and deliveries under continuous churn")
def churn(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Exchange up to 5 % of the peers in every cycle for 30 cycles."""
    levels = [0.01, 0.05] if quick else [0.002, 0.01, 0.05]
    stop = 30
    table = _follow(
        levels, lambda x: [(Schedule(start=0, until=stop), Churn(x))], 70, quick, seed, progress, spare=1.8
    )
    save_table(out, "churn", table)
    _draw(out, "sub2sub-churn", table, levels, f"Churn for {stop} cycles", lambda x: f"{x:.1%} per cycle")
    claims = []
    for level in levels:
        rows = _rows(table, "extended", level)
        least = float(table["hit_ratio"][rows][table["cycle"][rows] < stop].min())
        after = _recovery(table, "extended", level, "rings", stop)
        text = f"{level:.1%} per cycle: least hit ratio meanwhile, cycles until all rings complete afterwards"
        claims.append(
            Claim("sub2sub-churn", text, "not in the paper", [least, _shown(after)], bool(np.isfinite(after)))
        )
    return claims


@experiment("sub2sub-partition", title="Rings and deliveries after a partition of 50 cycles")
def partition(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Divide the network into 2 and 4 parts, and merge it again."""
    levels, merged = [2.0, 4.0], 50
    table = _follow(
        levels,
        lambda x: [(Schedule(at=0), Partition(int(x))), (Schedule(at=merged), Partition(1))],
        merged + 50, quick, seed, progress,
    )  # fmt: skip
    save_table(out, "partition", table)
    _draw(
        out, "sub2sub-partition", table, levels, f"Partition for {merged} cycles", lambda x: f"{x:.0f} parts"
    )
    claims = []
    for level in levels:
        after = _recovery(table, "extended", level, "rings", merged)
        text = f"{level:.0f} parts: cycles after the merge until all rings are complete, extended"
        claims.append(
            Claim("sub2sub-partition", text, "not in the paper", _shown(after), bool(np.isfinite(after)))
        )
    return claims
