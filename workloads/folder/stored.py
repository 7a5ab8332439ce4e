"""Subscriptions and events of a workload folder or of foreign tables, in memory.

Runs and comparisons use them: boxes, typed attributes, sequence IDs, keys, and the tree if interests are
topics. Each row is used once. If fewer are wanted, a random sample is drawn, because tables are often sorted.
Events are the table's own, or drawn from its interests (a point within the box of a subscription drawn at
random), or from anywhere on its axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.checked import read_parquet
from workloads.files.places import contents
from workloads.folder.layout import open_workload, parts
from workloads.generate.rows import uniforms
from workloads.spec.types import ValueType

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Follow = Literal["table", "interest", "uniform"]
FOLLOW: tuple[Follow, ...] = get_args(Follow)


@dataclass(frozen=True)
class Stored:
    """Subscriptions and events.

    Attributes
    ----------
    name : str
    types : dict
        Attribute to its type, in the order of the axes.
    lows, highs : (n, d) float64
        Closed ranges, infinite where they are open.
    points : (m, d) float64
        Events; none, where there are none.
    ring_ids : (n,) int64, optional
        Sequence IDs.
    keys : list of str, optional
        Names of the subscribers.
    topics : tuple of str, optional
        Paths in depth-first order, where the one attribute is the number of a topic.

    Examples
    --------
    >>> one = Stored("w", {"x": ValueType("int")}, np.array([[1.0], [5.0]]), np.array([[3.0], [np.inf]]),
    ...              np.empty((0, 1)))
    >>> [end.tolist() for end in one.ends], one.candidates(4, 1, "interest").min() >= 1
    ([[1.0], [5.0]], np.True_)
    """

    name: str
    types: dict[str, ValueType]
    lows: Floats
    highs: Floats
    points: Floats
    ring_ids: Integers | None = None
    keys: list[str] | None = None
    topics: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.lows) < 2:
            raise InputError(f"{self.name}: expected at least 2 subscriptions, got {len(self.lows)}")

    def __len__(self) -> int:
        return len(self.lows)

    @property
    def names(self) -> list[str]:
        """Names of the attributes."""
        return list(self.types)

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """The first and the last value of each attribute that a subscription or an event has.

        Raises
        ------
        InputError
            Where an attribute has none.
        """
        first, last = np.empty(len(self.types)), np.empty(len(self.types))
        for axis, (name, kind) in enumerate(self.types.items()):
            seen = np.concatenate([self.lows[:, axis], self.highs[:, axis], self.points[:, axis]])
            seen = seen[np.isfinite(seen)]
            if not len(seen) and kind.ends is None:
                raise InputError(f"{self.name}: expected some range of {name} to have an end")
            first[axis], last[axis] = (seen.min(), seen.max()) if len(seen) else kind.ends or (0.0, 1.0)
        return first, last

    @property
    def own_follow(self) -> Follow:
        """What events follow by default: the table's own events, if it has any."""
        return "table" if len(self.points) else "interest"

    def order(self, seed: int, n: int) -> Integers:
        """Rows of n subscribers: all, in their order, or so many drawn by the seed.

        Raises
        ------
        InputError
            Where there are fewer: none is used twice.
        """
        if n > len(self):
            raise InputError(
                f"{self.name} has {len(self)} subscriptions: expected at most so many subscribers, got {n}"
            )
        drawn = np.argsort(uniforms(seed, "population/sample", 0, len(self)), kind="stable")
        # Subscribers that join later get the other rows, in the order drawn.
        return np.arange(len(self)) if n == len(self) else drawn

    def candidates(self, count: int, seed: int, follow: Follow) -> Floats:
        """So many candidate events: the table's in their order, then drawn again, or drawn from elsewhere."""
        if follow == "table":
            if not len(self.points):
                raise InputError(f"{self.name}: expected events, there are none to follow")
            again = uniforms(seed, "event/table", 0, max(0, count - len(self.points)))
            return np.concatenate(
                [self.points[:count], self.points[(again * len(self.points)).astype(np.int64)]]
            )
        first, last = self.ends
        lows = np.broadcast_to(first, (count, len(first)))
        highs = np.broadcast_to(last, (count, len(first)))
        if follow == "interest":
            row = (uniforms(seed, "event/row", 0, count) * len(self)).astype(np.int64)
            lows, highs = np.maximum(self.lows[row], first), np.minimum(self.highs[row], last)
        found = np.empty((count, len(first)))
        for axis, kind in enumerate(self.types.values()):
            share = uniforms(seed, f"event/{axis}", 0, count)
            found[:, axis] = _between(kind, lows[:, axis], highs[:, axis], share)
        return found


def _between(kind: ValueType, low: Floats, high: Floats, share: Floats) -> Floats:
    """Values of a type between two ends."""
    if not kind.is_whole:
        return low + (high - low) * share
    step = 2.0 if kind.kind == "string" and kind.values else 1.0
    # Strings that can be named have odd places.
    low = low + (low % 2 == 0) if step == 2.0 else low
    places = np.floor(share * ((high - low) // step + 1))
    found: Floats = np.minimum(low + step * places, np.maximum(low, high))
    return found


def open_folder(path: Path) -> Stored:
    """What a workload folder holds."""
    from pyarrow import parquet

    workload = open_workload(path)
    columns = [list(column) for column in zip(*workload.subscriptions(), strict=True)]
    if not columns:
        raise InputError(f"{path}: expected at least 2 subscriptions, got 0")
    _, ring_ids, lows, highs = (np.concatenate(column) for column in columns)
    keys: list[str] | None = None
    files = parts(path / "subscriptions", workload.subscribers)
    if "key" in parquet.read_schema(contents(files[0])).names:
        tables = [read_parquet(file, columns=["key"]) for file in files]
        keys = [key for table in tables for key in table["key"].to_pylist()]
    topics = None
    if (path / "topics.parquet").exists():
        topics = tuple(read_parquet(path / "topics.parquet")["path"].to_pylist())
    points = workload.event_range(0, workload.events)
    return Stored(path.name, workload.types, lows, highs, points, ring_ids, keys, topics)
