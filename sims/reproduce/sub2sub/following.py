"""Following an overlay through a fault: what the experiments on faults have in common.

3 attributes, power law. Two forms side by side: as published, where dead ring neighbours are never forgotten
and nothing heals; and as extended here, the default: ages, probes, hello, repeated requests, the rendezvous
(see `sub2sub.ring.probing`, `sub2sub.ring.layer`, `sub2sub.cyclon.layer`, `sub2sub.cyclon.rendezvous`). The
overlay is built once per form and seed; each level of a fault happens to a copy of it. Rings among the living
and the fate of test events are observed every other cycle, from the cycle of the fault on, before anybody can
react to it.

The paper says nothing of faults: verdicts are about absolute bounds of ours, in the worst seed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sims.engine import Schedule, Simulation
from sims.engine.control import Control
from sims.figures.style import band, figure, legend_above, line
from sims.observers import Delivery, RingCompleteness
from sims.reproduce.claims import Claim, in_words, last_cycle, observed, within
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.overlay.overlay import Overlay, OverlaySettings

PUBLISHED, EXTENDED = "as published", "extended"
TABLE = "faults"
Faults = list[tuple[Schedule, Control[Overlay]]]
Level = float | str
Numbers = np.ndarray

Forms = Mapping[str, tuple[OverlaySettings, DisseminationSettings]]

FORMS: Forms = {
    PUBLISHED: (OverlaySettings.paper(), DisseminationSettings.paper()),
    EXTENDED: (OverlaySettings(), DisseminationSettings()),
}
_COLUMNS = ("form", "level", "seed", "cycle", "rings", "links", "hit_ratio", "complete", "spam", "failed")


@dataclass(frozen=True)
class FaultScenario:
    """A fault, and how long it is followed.

    Attributes
    ----------
    id, title : str
        Of the experiment.
    levels, quick_levels : sequence of float or str
        How strong it is, or how it comes: one curve each.
    faults : callable
        faults(level, peers, seed): controls; their cycles count from when the overlay is built.
    label : callable
        What a figure calls a level.
    after : int
        Cycles to follow it for.
    built : int
        Cycles given to build the rings before.
    spare : float
        Room for newcomers, per peer.
    every : int
        Cycles between two observations.
    forms : mapping
        Settings of the overlay and of dissemination, by name.
    """

    id: str
    title: str
    levels: Sequence[Level]
    quick_levels: Sequence[Level]
    faults: Callable[[Any, int, int], Faults]
    label: Callable[[Any], str]
    after: int
    built: int = 40
    spare: float = 0.0
    every: int = 2
    forms: Forms = field(default_factory=lambda: FORMS)


@dataclass(frozen=True)
class Seen:
    """What was observed of a fault: the table, and how to ask it."""

    table: pd.DataFrame

    @property
    def levels(self) -> list[Any]:
        """The levels, in the order in which they were run."""
        return list(dict.fromkeys(self.table.level))

    def runs(self, form: str, level: Level) -> list[pd.DataFrame]:
        """The rows of one form and level, seed by seed, in the order of cycles."""
        own = self.table[(self.table.form == form) & (self.table.level == level)]
        return [run.sort_values("cycle") for _, run in own.groupby("seed")]

    def recoveries(
        self, form: str, level: Level, column: str, since: int = 0, full: float = 1.0
    ) -> list[float]:
        """Per seed: cycles after `since` from which on a column stays at a value; infinite if it does not."""
        return [_recovery(run, column, since, full) for run in self.runs(form, level)]

    def means(self, form: str, level: Level, column: str, start: int, end: int) -> list[float]:
        """Per seed: the mean of a column from cycle `start` to before cycle `end`."""
        return [
            float(run[column][(run.cycle >= start) & (run.cycle < end)].mean())
            for run in self.runs(form, level)
        ]

    def ends(self, form: str, level: Level, column: str) -> list[float]:
        """Per seed: the last value of a column."""
        return [float(run[column].iloc[-1]) for run in self.runs(form, level)]

    def within(
        self, text: str, level: Level, column: str, most: int, *, since: int = 0, full: float = 1.0
    ) -> Claim:
        """A claim that the extended form recovers within `most` cycles, in every seed."""
        cycles = self.recoveries(EXTENDED, level, column, since, full)
        return within(f"{text}, extended, worst seed", cycles, most)

    def published(self, text: str, column: str, since: int = 0) -> Claim:
        """An observation: when the form as published recovers, by level."""
        cycles = {
            str(level): in_words(max(self.recoveries(PUBLISHED, level, column, since)))
            for level in self.levels
        }
        return observed(f"{text}, as published, worst seed", "not in the paper", cycles)

    def spam(self) -> Claim:
        """An observation: messages to peers that do not match, of which a sender knows better."""
        return observed(
            "messages per event to peers that do not match, mean over all cycles (0 by construction unless "
            "subscriptions change)", "Sub-2-Sub, Section 4.2: spam is out of the question",
            float(self.table.spam.mean()), paper=0,
        )  # fmt: skip


def _recovery(run: pd.DataFrame, column: str, since: int, full: float) -> float:
    cycles = run.cycle.to_numpy()
    every = int(cycles[1] - cycles[0]) if len(cycles) > 1 else 1
    wrong = (run[column].to_numpy() != full) & (cycles >= since)
    return last_cycle(cycles, wrong, since - every) + every - since


def follow(scenario: FaultScenario, quick: bool, seed: int, progress: Progress) -> Measured:
    """Run all forms of the overlay with every level of a fault."""
    size, built, seeds = (1_000, min(scenario.built, 25), 3) if quick else (10_000, scenario.built, 3)
    levels = scenario.quick_levels if quick else scenario.levels
    rows: list[tuple[object, ...]] = []
    steps = seeds * len(scenario.forms) * (built + len(levels) * scenario.after)
    counted = _counted(progress, steps)
    for s in range(seed, seed + seeds):
        for form, (overlay, dissemination) in scenario.forms.items():
            setting = Setting("power-law-3", size, size // 5, s)
            whole, events = start(setting, overlay, spare=round(scenario.spare * size))
            whole.controls = []
            for _ in range(built):
                whole.step()
                next(counted)
            for level in levels:
                faults = scenario.faults(level, size, s)
                followed = _followed(copy.deepcopy(whole), scenario, faults, events, dissemination, counted)
                rows += [(form, level, s, *values) for values in followed]
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    return Measured({TABLE: table}, f"{size:,} peers, {size // 5:,} events, {seeds} seeds")


def _counted(progress: Progress, steps: int) -> Iterator[None]:
    for done in range(1, steps + 1):
        progress(done, steps)
        yield


def _followed(
    simulation: Simulation[Overlay],
    scenario: FaultScenario,
    faults: Faults,
    events: Numbers,
    dissemination: DisseminationSettings,
    counted: Iterator[None],
) -> Iterator[tuple[object, ...]]:
    """What is observed of one overlay at one level, cycle by cycle."""
    built = simulation.cycle
    simulation.controls = [
        *((_later(schedule, built), control) for schedule, control in faults),
        (Schedule(start=built, every=scenario.every), RingCompleteness(events)),
        (Schedule(start=built, every=scenario.every), Delivery(events, dissemination)),
    ]
    simulation.tables = {}
    simulation.run(built + scenario.after, lambda _: next(counted))
    for rings, delivery in zip(simulation.tables["rings"], simulation.tables["delivery"], strict=True):
        yield (
            rings["cycle"] - built, rings["complete"], rings["links"], delivery["hit_ratio"],
            delivery["complete"], *(delivery[name] / delivery["events"] for name in ("spam", "failed")),
        )  # fmt: skip


def _later(schedule: Schedule, cycles: int) -> Schedule:
    until = None if schedule.until is None else schedule.until + cycles
    at = None if schedule.at is None else schedule.at + cycles
    return Schedule(schedule.start + cycles, until, schedule.every, at)


def _draw(scenario: FaultScenario, tables: Tables) -> Figures:
    """Complete rings and hit ratio over time, both forms."""
    seen = Seen(tables[TABLE])
    fig, axes = figure(2, 2, figsize=(9.6, 6.4), sharex=True, sharey=True)
    for row, (column, name) in enumerate((("rings", "complete rings"), ("hit_ratio", "hit ratio"))):
        for side, form in enumerate(FORMS):
            panel = axes[row, side]
            for number, level in enumerate(seen.levels):
                curves = 100 * pd.concat(seen.runs(form, level)).pivot(
                    index="cycle", columns="seed", values=column
                )
                line(panel, number, curves.index, curves.mean(axis=1), scenario.label(level), markevery=4)
                band(panel, number, curves.index, curves.min(axis=1), curves.max(axis=1))
            panel.set_title(f"{name}, {form}", fontsize=10)
            panel.set_ylim(-3, 103)
    for panel in axes[1]:
        panel.set_xlabel("cycles after the fault" if scenario.built else "cycle")
    for panel in axes[:, 0]:
        panel.set_ylabel("%")
    legend_above(fig, axes[0, 0], len(seen.levels))
    return {"": fig}


def register_scenario(
    scenario: FaultScenario,
    judge: Callable[[Seen], list[Claim]],
    draw: Callable[[FaultScenario, Tables], Figures] = _draw,
) -> None:
    """Register a fault as an experiment."""

    def judge_tables(tables: Tables) -> list[Claim]:
        return judge(Seen(tables[TABLE]))

    judge_tables.__module__ = judge.__module__
    register(
        scenario.id, scenario.title,
        measure=lambda quick, seed, progress: follow(scenario, quick, seed, progress),
        judge=judge_tables, draw=lambda tables: draw(scenario, tables),
    )  # fmt: skip
