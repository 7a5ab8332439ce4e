"""Base of the experiments on faults: an overlay is observed before, during and after a fault.

3 attributes, power law. There are two forms: as published, in which dead ring neighbours are never dropped
and rings do not heal; and extended, the default of this project, with ages, probes, hello, repeated requests
and the rendezvous (see `sub2sub.compiled.ring.probing`, `sub2sub.compiled.ring.layer`,
`sub2sub.compiled.cyclon.layer`, `sub2sub.compiled.cyclon.rendezvous`). The overlay is built once per form and
seed; each level of a fault happens to a copy of it. Rings of live peers and deliveries of test events are
observed every other cycle, first before the fault and then after peers had their turns.

The paper does not mention faults: verdicts are about absolute bounds of ours, in the worst seed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from sims.engine import Schedule, Simulation
from sims.engine.control import Control
from sims.figures.style import figure, legend_above, seed_line
from sims.observers import Delivery, RingCompleteness
from sims.reproduce.claims import Claim, Claims, in_words, last_cycle, observed, within
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings

PUBLISHED, EXTENDED = "as published", "extended"
TABLE = "faults"
Faults = list[tuple[Schedule, Control[Overlay]]]
Level = float | str
Forms = Mapping[str, tuple[OverlaySettings, DisseminationSettings]]

FORMS: Forms = {
    PUBLISHED: (OverlaySettings.paper(), DisseminationSettings.paper()),
    EXTENDED: (OverlaySettings(), DisseminationSettings()),
}
COLUMNS = ["form", "level", "seed", "cycle", "rings", "links", "hit_ratio", "complete", "spam", "failed"]


@dataclass(frozen=True)
class FaultScenario:
    """A fault, and how long it is followed.

    Attributes
    ----------
    id, title : str
        Of the experiment.
    judge : callable
        judge(seen): the claims.
    levels, quick_levels : sequence of float or str
        The strengths or kinds of the fault, with one curve each.
    faults : callable
        faults(level, peers, seed): controls; their cycles count from when the overlay is built.
    label : callable
        What a figure calls a level.
    after : int
        Cycles to follow it for.
    built : int
        Cycles given to build the rings before.
    spare : float
        Places for newcomers, per peer.
    every : int
        Cycles between two observations.
    forms : mapping
        Settings of the overlay and of dissemination, by name.
    draw : callable
        draw(scenario, tables): the figure; rings and hit ratio if not given.
    """

    id: str
    title: str
    judge: Callable[[Seen], Claims]
    levels: Sequence[Level]
    quick_levels: Sequence[Level]
    faults: Callable[[Any, int, int], Faults]
    label: Callable[[Any], str]
    after: int
    built: int = 40
    spare: float = 0.0
    every: int = 2
    forms: Forms = field(default_factory=lambda: FORMS)
    draw: Callable[[FaultScenario, Tables], Figures] | None = None

    def register(self) -> None:
        """Register the fault as an experiment."""

        def judge(tables: Tables) -> Claims:
            return self.judge(Seen(tables[TABLE]))

        judge.__module__ = self.judge.__module__
        register(self.id, self.title, partial(follow, self), judge, partial(self.draw or _draw, self))


@dataclass(frozen=True)
class Seen:
    """The observations of a fault, and queries of them."""

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

    def within(self, text: str, level: Level, column: str, most: int, *, since: int = 0) -> Claim:
        """A claim that the extended form recovers within `most` cycles, in every seed."""
        return within(f"{text}, extended, worst seed", self.recoveries(EXTENDED, level, column, since), most)

    def published(self, text: str, column: str, since: int = 0) -> Claim:
        """An observation: when the form as published recovers, by level."""
        cycles = {level: max(self.recoveries(PUBLISHED, level, column, since)) for level in self.levels}
        words = {str(level): in_words(most) for level, most in cycles.items()}
        return observed(f"{text}, as published, worst seed", words)

    def spam(self) -> Claim:
        """An observation: messages to peers that do not match."""
        return observed(
            "messages per event to peers that do not match, mean over all cycles (0 by construction unless "
            "subscriptions change)", float(self.table.spam.mean()), paper=0,
            source="Sub-2-Sub, Section 4.2: spam is out of the question",
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
            whole.observers.clear()
            for _ in range(built):
                whole.step()
                next(counted)
            for level in levels:
                faults = scenario.faults(level, size, s)
                followed = _followed(copy.deepcopy(whole), scenario, faults, events, dissemination, counted)
                rows += [(form, level, s, *values) for values in followed]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return measurement(f"{size:,} peers, {size // 5:,} events, {seeds} seeds", faults=table)


def _counted(progress: Progress, steps: int) -> Iterator[None]:
    for done in range(1, steps + 1):
        progress(done, steps)
        yield


def _followed(
    simulation: Simulation[Overlay], scenario: FaultScenario, faults: Faults, events: np.ndarray,
    dissemination: DisseminationSettings, counted: Iterator[None],
) -> Iterator[tuple[object, ...]]:  # fmt: skip
    """What is observed of one overlay at one level, cycle by cycle."""
    built = simulation.cycle
    simulation.faults = [(_later(schedule, built), control) for schedule, control in faults]
    simulation.observers = [
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
                own = pd.concat(seen.runs(form, level))
                curves = 100 * own.pivot(index="cycle", columns="seed", values=column)
                seed_line(panel, number, curves, scenario.label(level), markevery=4)
            panel.set_title(f"{name}, {form}", fontsize=10)
            panel.set_ylim(-3, 103)
    for panel in axes[1]:
        panel.set_xlabel("cycles after the fault" if scenario.built else "cycle")
    for panel in axes[:, 0]:
        panel.set_ylabel("%")
    return {"": legend_above(fig, axes[0, 0], len(seen.levels))}
