"""Following an overlay through a fault: what the experiments on faults have in common.

3 attributes, power law. Two forms side by side: as published, where dead ring neighbours are never forgotten
and nothing heals; and as extended here, the default: ages, probes, hello, repeated requests, the rendezvous
(see `sub2sub.ring.probing`, `sub2sub.ring.layer`, `sub2sub.cyclon.layer`, `sub2sub.cyclon.rendezvous`). The
overlay is built once per form; each level of a fault befalls a copy of it. Rings among the living and the
fate of test events are observed every other cycle, from the cycle of the fault on, before anybody can react
to it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sims.engine import Schedule, Simulation
from sims.engine.control import Control
from sims.figures.style import figure, line, styled
from sims.observers import Delivery, RingCompleteness
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.overlay.overlay import Overlay, OverlaySettings

__all__ = ["EXTENDED", "PUBLISHED", "Faults", "Following", "Level", "Story", "follow", "shown"]

PUBLISHED, EXTENDED = "as published", "extended"
Faults = list[tuple[Schedule, Control[Overlay]]]
Level = float | str
Numbers = np.ndarray

_FORMS: dict[str, tuple[OverlaySettings, DisseminationSettings]] = {
    PUBLISHED: (OverlaySettings.paper(), DisseminationSettings.paper()),
    EXTENDED: (OverlaySettings(), DisseminationSettings()),
}
_COLUMNS = ("form", "level", "cycle", "rings", "links", "hit_ratio", "complete", "spam", "failed")


@dataclass(frozen=True)
class Story:
    """A fault, and how long it is followed.

    Attributes
    ----------
    id : str
        The experiment it belongs to.
    levels : sequence of float or str
        How strong it is, or how it comes: one curve each.
    faults : callable
        Controls for a level; their cycles count from when the overlay is built.
    after : int
        Cycles to follow it for.
    built : int
        Cycles given to build the rings before.
    spare : float
        Room for newcomers, per peer.
    every : int
        Cycles between two observations.
    """

    id: str
    levels: Sequence[Level]
    faults: Callable[[Any], Faults]
    after: int
    built: int = 40
    spare: float = 0.0
    every: int = 2


@dataclass(frozen=True)
class Following:
    """What was observed: columns of equal length, one row per form, level and cycle."""

    story: Story
    table: dict[str, Numbers]

    def curve(self, form: str, level: Level, column: str) -> tuple[Numbers, Numbers]:
        """The cycles since the fault, and a column at each."""
        rows = (self.table["form"] == form) & (self.table["level"] == level)
        return self.table["cycle"][rows], self.table[column][rows]

    def recovery(self, form: str, level: Level, column: str, since: int = 0, full: float = 1.0) -> float:
        """Cycles after `since` from which on a column stays at a value; infinite if it does not."""
        cycles, values = self.curve(form, level, column)
        short = cycles[(values != full) & (cycles >= since)]
        if short.size and short.max() == cycles.max():
            return float("inf")
        return float(short.max() + self.story.every - since) if short.size else 0.0

    def claim(self, text: str, wanted: str, measured: object, holds: bool) -> Claim:
        """A claim of ours: the paper says nothing of faults."""
        return Claim(self.story.id, text, f"not in the paper; {wanted}", measured, bool(holds))

    def no_spam(self) -> Claim:
        """That nobody ever received an event that does not match it."""
        spam = float(self.table["spam"].sum())
        return self.claim("messages to peers that do not match, in all", "none", spam, spam == 0.0)

    def save(self, out: Path, title: str, label: Callable[[Any], str]) -> None:
        """Write the table and the figure: complete rings and hit ratio over time, both forms."""
        save_table(out, self.story.id.removeprefix("sub2sub-"), self.table)
        with styled():
            fig, axes = figure(2, 2, figsize=(9.6, 6.0), sharex=True, sharey=True)
            for row, (column, name) in enumerate((("rings", "complete rings"), ("hit_ratio", "hit ratio"))):
                for side, form in enumerate(_FORMS):
                    panel = axes[row, side]
                    for number, level in enumerate(self.story.levels):
                        cycles, values = self.curve(form, level, column)
                        line(panel, number, cycles, 100 * values, label(level), markevery=4)
                    panel.set_title(f"{name}, {form}", fontsize=10)
                    panel.set_ylim(-3, 103)
            for panel in axes[1]:
                panel.set_xlabel("cycles after the fault" if self.story.built else "cycle")
            for panel in axes[:, 0]:
                panel.set_ylabel("%")
            axes[0, 1].legend(fontsize=8, loc="lower right")
            size = int(self.table["peers"][0])
            fig.suptitle(f"{title}: 3 attributes, power law, {size:,} peers", fontsize=12)
            save_figure(out, self.story.id, fig)


def shown(cycles: float) -> float | str:
    """Cycles as a claim states them: JSON knows no infinity."""
    return "never" if np.isinf(cycles) else cycles


def follow(story: Story, quick: bool, seed: int, progress: Progress) -> Following:
    """Let every level of a fault befall both forms of the overlay."""
    size, built = (1_000, min(story.built, 25)) if quick else (10_000, story.built)
    rows: list[tuple[object, ...]] = []
    steps = len(_FORMS) * (built + len(story.levels) * story.after)
    counted = _counted(progress, steps)
    for form, (overlay, dissemination) in _FORMS.items():
        whole, events = start(
            Setting("power-law-3", size, size // 5, seed), overlay, spare=round(story.spare * size)
        )
        whole.controls = []
        for _ in range(built):
            whole.step()
            next(counted)
        for level in story.levels:
            rows += [
                (form, level, *values)
                for values in _befallen(copy.deepcopy(whole), story, level, events, dissemination, counted)
            ]
    columns = zip(*rows, strict=True)
    table = {name: np.array(values) for name, values in zip(_COLUMNS, columns, strict=True)}
    return Following(story, {**table, "peers": np.full(len(rows), size)})


def _counted(progress: Progress, steps: int) -> Iterator[None]:
    for done in range(1, steps + 1):
        progress(done, steps)
        yield


def _befallen(
    simulation: Simulation[Overlay],
    story: Story,
    level: Level,
    events: Numbers,
    dissemination: DisseminationSettings,
    counted: Iterator[None],
) -> Iterator[tuple[object, ...]]:
    """What is observed of one overlay at one level, cycle by cycle."""
    built = simulation.cycle
    simulation.controls = [
        *((_later(schedule, built), control) for schedule, control in story.faults(level)),
        (Schedule(start=built, every=story.every), RingCompleteness(events)),
        (Schedule(start=built, every=story.every), Delivery(events, dissemination)),
    ]
    simulation.tables = {}
    simulation.run(built + story.after, lambda _: next(counted))
    for rings, delivery in zip(simulation.tables["rings"], simulation.tables["delivery"], strict=True):
        yield (
            rings["cycle"] - built, rings["complete"], rings["links"], delivery["hit_ratio"],
            delivery["complete"], *(delivery[name] / delivery["events"] for name in ("spam", "failed")),
        )  # fmt: skip


def _later(schedule: Schedule, cycles: int) -> Schedule:
    until = None if schedule.until is None else schedule.until + cycles
    at = None if schedule.at is None else schedule.at + cycles
    return Schedule(schedule.start + cycles, until, schedule.every, at)
