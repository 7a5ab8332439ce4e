"""Base of the experiments on faults: an overlay is observed before, during and after a fault.

The experiment is the one of the same name that `sub2sub run` runs (3 attributes, power law), with its faults
and observers. There are two forms: as published, in which dead ring neighbours are never dropped and rings do
not heal; and extended, the default of this project, with ages, probes, hello, repeated requests and the
rendezvous (see `sub2sub.compiled.ring.probing`, `sub2sub.compiled.ring.layer`,
`sub2sub.compiled.cyclon.layer`, `sub2sub.compiled.cyclon.rendezvous`). The overlay is built once per form and
seed; each level of a fault happens to a copy of it. Rings of live peers and deliveries of test events are
observed first before the fault, and then after peers had their turns.

The paper does not mention faults: verdicts are about absolute bounds of ours, in the worst seed.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from sims.engine import Schedule
from sims.engine.control import Control
from sims.reproduce.claims import Claim, Claims, in_words, last_cycle, observed, within
from sims.reproduce.reproduction import Parts, Plan, grid
from sims.reproduce.sub2sub.setting import PAPER
from sims.runs.starting import start
from workloads.charts.chart import Chart, Label, Series, Sheet, curves

PUBLISHED, EXTENDED = "as published", "extended"
TABLE = "faults"
Level = float | str
Changes = Mapping[str, Any]
FORMS: Mapping[str, Changes] = {PUBLISHED: PAPER, EXTENDED: {}}
KINDS = ("rings", "delivery")


@dataclass(frozen=True)
class Scenario:
    """A fault that is followed; the experiment that has it goes by the same name.

    Attributes
    ----------
    judge : callable
        judge(seen): the claims.
    levels : mapping
        The strengths or kinds of the fault, with one curve each, and the settings that they change.
    quick : sequence of float or str
        The levels of the quick form.
    label : str or callable
        What a figure calls a level.
    forms : mapping
        Forms of the overlay and of dissemination, and the settings that they change.
    more : callable
        more(level, peers, seed): a control that acts in each cycle after the overlay is built, or None.
    charts : callable
        charts(seen): the figure; rings and hit ratio if not given.
    """

    judge: Callable[[Seen], Claims]
    levels: Mapping[Any, Changes]
    quick: Sequence[Level]
    label: Label = "{}"
    forms: Mapping[str, Changes] = field(default_factory=lambda: FORMS)
    more: Callable[[Any, int, int], Control[Any] | None] | None = None
    charts: Callable[[Seen], Sheet] | None = None

    def parts(self, id: str) -> Parts:
        """The reproduction that the scenario is: a unit has every level of one form and seed."""

        def plan(quick: bool, seed: int) -> Plan:
            size, seeds = (1_000, 3) if quick else (10_000, 3)
            levels = list(self.quick if quick else self.levels)
            fixed = {"module": self.judge.__module__, "id": id, "size": size, "levels": levels}
            settings = grid(seed=range(seed, seed + seeds), form=self.forms)
            return Plan(
                f"{size:,} peers, {size // 5:,} events, {seeds} seeds", follow, settings, fixed, TABLE
            )

        charts = self.charts or rings_and_hits
        return (
            plan,
            lambda tables: self.judge(Seen(tables[TABLE])),
            lambda tables: charts(Seen(tables[TABLE], self.label)),
        )


def follow(form: str, seed: int, module: str, id: str, size: int, levels: Sequence[Level]) -> pd.DataFrame:
    """Build the overlay, and run it on with every level of the fault: a row per observed cycle."""
    scenario: Scenario = importlib.import_module(module).SCENARIOS[id]
    own = {"population.size": size, "workload.events": size // 5, **scenario.forms[form]}
    experiment, whole = start(id, seed, Path("unused"), own)
    built = min(schedule.start if schedule.at is None else schedule.at for schedule, _ in whole.faults)
    whole.faults = []
    whole.observers = [
        (Schedule(start=built, every=schedule.every), observer)
        for schedule, observer in whole.observers
        if observer.name in KINDS
    ]
    whole.run(built)
    frames = []
    for level in levels:
        simulation = copy.deepcopy(whole)
        simulation.faults = start(id, seed, Path("unused"), own | dict(scenario.levels[level]))[1].faults
        if scenario.more and (control := scenario.more(level, size, seed)):
            simulation.add(control, start=built)
        simulation.run(experiment.cycles)
        rings, delivery = (pd.DataFrame(simulation.tables[name]).set_index("cycle") for name in KINDS)
        found = delivery[["hit_ratio", "complete"]].assign(
            level=level, rings=rings.complete, links=rings.links, spam=delivery.spam / delivery.events,
            failed=delivery.failed / delivery.events,
        )  # fmt: skip
        found.index -= built
        frames.append(found.reset_index())
    return pd.concat(frames, ignore_index=True)


def rings_and_hits(seen: Seen) -> Sheet:
    """Complete rings and hit ratio over time, both forms."""
    found = []
    for column, name in (("rings", "complete rings"), ("hit_ratio", "hit ratio")):
        for form in FORMS:
            series = seen.curves(form, column, times=100)
            title = f"{name}, {form}"
            found.append(Chart(title, "cycles after the fault", f"{name} (%)", series, bottom=-3, top=103))
    return Sheet(found, columns=2)


@dataclass(frozen=True)
class Seen:
    """The observations of a fault, and queries of them; and what a figure calls a level."""

    table: pd.DataFrame
    label: Label = "{}"

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

    def curves(self, form: str, column: str, times: float = 1.0) -> list[Series]:
        """A curve for each level: means of seeds, from the least to the greatest."""
        own = self.table[self.table.form == form]
        return curves(own, "cycle", column, "level", label=self.label, over="seeds", times=times)


def _recovery(run: pd.DataFrame, column: str, since: int, full: float) -> float:
    cycles = run.cycle.to_numpy()
    every = int(cycles[1] - cycles[0]) if len(cycles) > 1 else 1
    wrong = (run[column].to_numpy() != full) & (cycles >= since)
    return last_cycle(cycles, wrong, since - every) + every - since
