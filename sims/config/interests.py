"""Who wants what in a run, and which test events come: generated from a spec, or read from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import closed, normalise, points
from workloads.folder.foreign import read_events, read_subscriptions
from workloads.folder.layout import open_workload
from workloads.generate.rows import uniforms
from workloads.settings.models import FileOrName, read, table
from workloads.settings.plugins import maker, plugin
from workloads.spec.files import resolve
from workloads.spec.spec import Attribute, Spec

__all__ = ["Interests", "PopulationSettings", "WorkloadSettings"]

Floats = NDArray[np.float64]
USUAL_SIZE = 10_000  # of the paper's population


@dataclass(frozen=True)
class PopulationSettings:
    """How many take part.

    Attributes
    ----------
    size : int
        Subscribers at the start, of a table as many rows drawn by the seed; 0 for all rows of a table, or
        10,000 of a generated workload.
    spare : int
        Places for those who join later; 0 for as many as the faults of the run need. A place is free again
        when nobody remembers who had it.
    """

    size: int = 0
    spare: int = 0

    def __post_init__(self) -> None:
        """Refuse negative numbers."""
        for name in ("size", "spare"):
            if getattr(self, name) < 0:
                raise InputError(f"population.{name}: expected 0 or more, got {getattr(self, name)}")


@dataclass(frozen=True)
class WorkloadSettings:
    """Where subscriptions and test events come from.

    Attributes
    ----------
    spec : str
        A named workload (`sub2sub workload list`) or a .toml file that describes one.
    table : path
        Instead of a spec: a workload folder, or a table of subscriptions (.parquet, .csv, .arrow) with the
        columns X_low and X_high for each attribute X.
    event_table : path
        A table of test events with a column X for each attribute X; drawn at random if not given.
    events : int
        Test events; 0 for all of a table.
    at_least : int
        Subscribers each event drawn at random matches at the start.
    seed : int
        Of subscriptions and events; that of the run if not given.
    source : str
        Instead of a spec: `module:function`, from (size, seed) and `settings` to the arrays (lows, highs), or
        (lows, highs, events). A size of 0 leaves it to the function.
    settings : table
        What else that function takes.
    """

    spec: FileOrName = "power-law-3"
    table: Path | None = None
    event_table: Path | None = None
    events: int = 1_000
    at_least: int = 2
    seed: int | None = None
    source: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what can be refused without looking at files."""
        if self.events < 0:
            raise InputError(f"workload.events: expected 0 or more, got {self.events}")
        try:
            spec = resolve(self.spec)
        except InputError as error:
            raise InputError("\n".join(f"spec: {line}" for line in str(error).splitlines())) from None
        if spec.churn is not None:
            raise InputError(
                f"spec: {self.spec} has a table churn, which a run does not follow: expected faults"
            )
        if self.source:
            read(table(maker(plugin(self.source, "source"), 2, dict)), self.settings)
        elif self.settings:
            raise InputError("settings: expected none without a source")
        for path in (self.table, self.event_table):
            if path is not None and not path.exists():
                raise InputError(f"{'table' if path is self.table else 'event_table'}: {path} does not exist")

    def load(self, size: int, seed: int) -> Interests:
        """Subscriptions of that many subscribers (0: the usual number), and the test events."""
        seed = seed if self.seed is None else self.seed
        source: Source
        if self.source:
            source = _Called(self.source, self.settings, size, seed)
        elif self.table is not None:
            source = _Table(self.table, size, seed)
        else:
            source = _Generated(resolve(self.spec), seed)
        lows, highs = source.rows(0, size or source.usual_size)
        if self.event_table is not None:
            events, _ = read_events(self.event_table, source.spec.names)
        elif source.events is not None:
            events = source.events
        else:
            events = source.spec.events(self.events, seed, lows, highs, self.at_least)
        return Interests(source, lows, highs, events[: self.events or None])


class Source(Protocol):
    """Any number of subscriptions, and what else is known of them."""

    spec: Spec
    usual_size: int
    events: Floats | None

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Closed ranges (lows, highs) of the subscriptions [start, stop)."""
        ...


class _Generated:
    usual_size = USUAL_SIZE
    events: Floats | None = None

    def __init__(self, spec: Spec, seed: int) -> None:
        self.spec, self.seed = spec, seed

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        return self.spec.rows(self.seed, start, stop)


class _Rows:
    """Rows that are there, again and again."""

    spec: Spec
    usual_size: int
    events: Floats | None = None

    def __init__(self, name: str, names: Sequence[str], lows: Floats, highs: Floats) -> None:
        self.lows, self.highs, self.usual_size = lows, highs, len(lows)
        if self.usual_size < 2:
            raise InputError(f"{name}: expected at least 2 subscriptions, got {self.usual_size}")
        ends = np.where(np.isfinite([lows, highs]), [lows, highs], np.nan)
        first, last = np.nanmin(ends, axis=(0, 1)), np.nanmax(ends, axis=(0, 1))
        self.spec = Spec(
            Path(name).stem,
            tuple(
                Attribute(each, low=low, high=high if high > low else low + 1.0)
                for each, low, high in zip(names, first.tolist(), last.tolist(), strict=True)
            ),
        )

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        which = np.arange(start, stop) % self.usual_size
        return self.lows[which], self.highs[which]


class _Called(_Rows):
    """What somebody's function returns."""

    def __init__(self, source: str, settings: Mapping[str, Any], size: int, seed: int) -> None:
        found = plugin(source, "workload.source", trusted=True)(size, seed, **settings)
        if not isinstance(found, tuple) or len(found) not in (2, 3):
            raise InputError(f"workload.source: expected {source} to return (lows, highs[, events])")
        lows, highs = closed(*normalise(found[0], found[1]))
        super().__init__(source, [f"x{k}" for k in range(lows.shape[1])], lows, highs)
        self.events = points(found[2], lows.shape[1]) if len(found) == 3 else None


class _Table(_Rows):
    """The rows of a table, again and again; where fewer are wanted, in an order drawn by the seed.

    Tables come sorted more often than not, and the first rows of such a one are no sample of it.
    """

    def __init__(self, path: Path, size: int, seed: int) -> None:
        events = None
        if (path / "manifest.json").exists():
            workload = open_workload(path)
            names = workload.names
            files = list(workload.subscriptions())
            lows, highs = (np.concatenate([file[side] for file in files]) for side in (2, 3))
            events = workload.event_range(0, workload.events) if workload.events else None
        else:
            names, lows, highs, _ = read_subscriptions(path)
        super().__init__(str(path), names, lows, highs)
        self.events = events
        if 0 < size < self.usual_size:
            drawn = np.argsort(uniforms(seed, "population/sample", 0, self.usual_size), kind="stable")
            self.lows, self.highs = self.lows[drawn], self.highs[drawn]


@dataclass(frozen=True)
class Interests:
    """Subscriptions (closed ranges) and test events of a run."""

    source: Source
    lows: Floats
    highs: Floats
    events: Floats

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Further subscriptions."""
        return self.source.rows(start, stop)
