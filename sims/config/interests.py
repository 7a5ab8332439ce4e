"""Subscriptions and test events of a run: generated from a spec, or read from tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.arrays import Floats, Integers
from workloads.spec.types import ValueType

if TYPE_CHECKING:
    from hierarchy.topics import NestedRanges


from pathlib import Path
from typing import Any

from sub2sub.errors import require
from workloads.settings.models import table
from workloads.settings.plugins import maker, plugin
from workloads.settings.reading import read
from workloads.settings.values import FileOrName
from workloads.spec.catalogue import resolve
from workloads.spec.spec import Spec


class Source(Protocol):
    """Any number of subscriptions."""

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Closed ranges (lows, highs) of the subscriptions [start, stop)."""


@dataclass(frozen=True)
class Topics:
    """The topics of subscribers and events, if interests are topics.

    Attributes
    ----------
    ranges : NestedRanges
        The tree, and the range of each topic.
    of : (n,) int64
        The topic of each subscriber.
    of_event : (m,) int64
        The topic of each event.
    """

    ranges: NestedRanges
    of: Integers
    of_event: Integers


class Ranges:
    """Closed ranges, a row for each subscriber."""

    lows: Floats

    @property
    def n(self) -> int:
        """Subscribers."""
        return len(self.lows)

    @property
    def d(self) -> int:
        """Attributes."""
        return int(self.lows.shape[1])


@dataclass(frozen=True)
class Subscriptions(Ranges):
    """Interests and events.

    Attributes
    ----------
    lows, highs : (n, d) float64
        Closed ranges.
    points : (m, d) float64
        Events.
    bits : int
        Attributes have whole values from 0 to 2^bits - 1 if dyadic topics have to be exact; otherwise 0.
    topics : Topics, optional
        If interests are topics.
    source : object with `rows`, optional
        The subscriptions of newcomers.
    types : mapping, optional
        Attribute to its type, in the order of the axes.
    ring_ids : (n,) int64, optional
        Sequence IDs of 63 bits, of workloads that have them; drawn by the seed otherwise.
    keys : list of str, optional
        Names of the subscribers.
    hosts : (n,) int64, optional
        Who each row belongs to, where rows are memberships, which keep their numbers.

    Examples
    --------
    >>> wanted = Subscriptions(np.array([[0.0], [2.0]]), np.array([[4.0], [9.0]]), np.array([[3.0]]))
    >>> wanted.n, wanted.d
    (2, 1)
    """

    lows: Floats
    highs: Floats
    points: Floats
    bits: int = 0
    topics: Topics | None = None
    source: Source | None = None
    types: Mapping[str, ValueType] = field(default_factory=dict)
    ring_ids: Integers | None = None
    keys: list[str] | None = None
    hosts: Integers | None = None

    @property
    def ids(self) -> NDArray[np.uint64] | None:
        """Sequence IDs on the whole ring of 64 bits, in the workload's order."""
        return None if self.ring_ids is None else self.ring_ids.astype(np.uint64) << np.uint64(1)

    @property
    def tree(self) -> Topics:
        """The topics; refused if interests are ranges."""
        if self.topics is None:
            raise InputError("workload: expected topics, got ranges")
        return self.topics

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Further subscriptions."""
        if self.source is None:
            raise InputError("workload: expected subscriptions for newcomers, it has none")
        return self.source.rows(start, stop)


USUAL_SIZE = 10_000  # size of the paper's population
FOLLOW = ("table", "interest", "uniform")


@dataclass(frozen=True)
class PopulationSettings:
    """Size of the population.

    Attributes
    ----------
    size : int
        Number of subscribers at the start; with a table, of rows that are drawn at random. 0 stands for all
        rows of a table, or for 10,000 subscribers of a generated workload.
    spare : int
        Number of places for peers that join later; 0 for as many as the faults of the run need. The place of
        a peer that left is used again when no links to that peer are left.
    """

    size: int = 0
    spare: int = 0

    def __post_init__(self) -> None:
        require(self, "population", size=0, spare=0)


@dataclass(frozen=True)
class WorkloadSettings:
    """Source of the subscriptions and test events.

    Attributes
    ----------
    spec : str
        A named workload (uniform-D or power-law-D) or a .toml file that describes one.
    table : path
        Instead of a spec: a workload folder, a table of subscriptions (.parquet, .csv, .arrow) with the
        columns X_low and X_high for each attribute X, or a .toml file that describes the columns of tables
        (docs/workloads.md).
    event_table : path
        A table of test events with a column X for each attribute X. By default events are drawn at random.
    events_follow : str
        With a table: "table" for the events in it, "interest" for points drawn from the subscriptions,
        "uniform" for points drawn anywhere. By default the events in the table, or "interest" if it has none.
    events : int
        Number of test events; 0 for all of a table.
    at_least : int
        Least number of subscribers that an event drawn at random matches at the start.
    seed : int
        Random seed of subscriptions and events; that of the run if not given.
    source : str
        Instead of a spec: `module:function`. It is called with (size, seed) and the `settings`, and returns
        the arrays (lows, highs) or (lows, highs, events). With size 0 it chooses the number itself.
    settings : table
        Further arguments of that function.
    """

    spec: FileOrName = "power-law-3"
    table: Path | None = None
    event_table: Path | None = None
    events_follow: str = ""
    events: int = 1_000
    at_least: int = 2
    seed: int | None = None
    source: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse settings that are invalid whatever the files contain."""
        if self.events < 0:
            raise InputError(f"workload.events: expected 0 or more, got {self.events}")
        if self.spec.endswith(".toml"):
            from workloads.spec.table_files import is_stored

            if is_stored(Path(self.spec)):
                object.__setattr__(self, "table", Path(self.spec))
                object.__setattr__(self, "spec", WorkloadSettings.spec)
        if self.events_follow and (self.events_follow not in FOLLOW or self.table is None):
            raise InputError(f"events_follow: expected one of {', '.join(FOLLOW)}, with a table")
        try:
            spec = resolve(self.spec)
        except InputError as error:
            raise InputError("\n".join(f"spec: {line}" for line in str(error).splitlines())) from None
        if spec.churn is not None:
            raise InputError(
                f"spec: {self.spec} has a table churn, which runs ignore: expected a fault sessions instead"
            )
        if self.source:
            read(table(maker(plugin(self.source, "source"), 2, dict)), self.settings)
        elif self.settings:
            raise InputError("settings: expected none without a source")
        for path in (self.table, self.event_table):
            if path is not None and not path.exists():
                raise InputError(f"{'table' if path is self.table else 'event_table'}: {path} does not exist")

    def load(self, size: int, seed: int) -> Subscriptions:
        """Return subscriptions of `size` subscribers (0: the usual number), and the test events."""
        seed = seed if self.seed is None else self.seed
        source = Generated(resolve(self.spec), seed)
        if self.source:
            from sims.config.own_rows import Called

            source = Called(self.source, self.settings, size, seed)
        elif self.table is not None:
            from sims.config.own_rows import Rows

            source = Rows(self.table, size, seed, self.events_follow)
        lows, highs = source.rows(0, size or source.usual_size)
        if self.event_table is not None:
            from workloads.folder.foreign import read_events

            events = read_events(self.event_table, source.spec.names, types=source.spec.types)
        elif source.events is not None:
            events = source.events
        else:
            events = source.spec.events(self.events, seed, lows, highs, self.at_least)
        return Subscriptions(
            lows, highs, events[: self.events or None], source=source, types=source.spec.types,
            ring_ids=source.ids, keys=source.keys,
        )  # fmt: skip


class Generated:
    """Any number of subscriptions of a spec; events, sequence IDs and names of subscribers if it has them."""

    usual_size: int = USUAL_SIZE
    events: Floats | None = None
    ids: Integers | None = None
    keys: list[str] | None = None

    def __init__(self, spec: Spec, seed: int) -> None:
        self.spec, self.seed = spec, seed

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Closed ranges (lows, highs) of the subscriptions [start, stop)."""
        return self.spec.rows(self.seed, start, stop)
