"""Subscriptions and events of a workload folder or of foreign tables, in memory.

Used by runs and comparisons: boxes, typed attributes, sequence IDs, keys, and the tree if interests are
topics. Each row is used once. Fewer subscribers are a random sample, because tables are often sorted.
Events are those of the table, or random points in the boxes of random subscriptions, or random points
anywhere on the axes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.arrays import Floats, Integers
from workloads.files.checked import read_parquet
from workloads.generate.rows import uniforms
from workloads.spec.types import ValueType, types_from

Follow = Literal["table", "interest", "uniform"]
FOLLOW: tuple[Follow, ...] = get_args(Follow)


@dataclass(frozen=True)
class Stored:
    """Subscriptions and events.

    Attributes
    ----------
    name : str
    types : dict
        The type of each attribute, in the order of the axes.
    lows, highs : (n, d) float64
        Closed ranges; an open end is infinite.
    points : (m, d) float64
        Events; may be empty.
    ring_ids : (n,) int64, optional
        Sequence IDs.
    keys : list of str, optional
        Names of the subscribers.
    topics : tuple of str, optional
        Paths in depth-first order, if the only attribute is the number of a topic.

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
        """The smallest and the largest finite coordinate of each attribute in subscriptions and events."""
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
        """Source of events by default: the events of the table, if there are any."""
        return "table" if len(self.points) else "interest"

    def order(self, seed: int, n: int) -> Integers:
        """Rows of n subscribers: all of them in their order, or a random sample; no row is used twice."""
        if n > len(self):
            raise InputError(
                f"{self.name} has {len(self)} subscriptions: expected at most so many subscribers, got {n}"
            )
        drawn = np.argsort(uniforms(seed, "population/sample", 0, len(self)), kind="stable")
        # Subscribers that join later get the other rows of the sample's permutation.
        return np.arange(len(self)) if n == len(self) else drawn

    def candidates(self, count: int, seed: int, follow: Follow) -> Floats:
        """Candidate events: those of the table in order, then random repetitions; or random points."""
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
    # Named strings have odd coordinates.
    low = low + (low % 2 == 0) if step == 2.0 else low
    places = np.floor(share * ((high - low) // step + 1))
    found: Floats = np.minimum(low + step * places, np.maximum(low, high))
    return found


def open_folder(path: Path) -> Stored:
    """The subscriptions and events of a workload folder that Spark wrote."""
    rows = _part(path, "subscriptions", "subscriber")
    if rows is None:
        raise InputError(f"{path}: expected a complete workload, with subscriptions/_SUCCESS")
    kept = json.loads(rows.schema.metadata[b"org.apache.spark.sql.parquet.row.metadata"])
    types = {
        field["name"].removesuffix("_low"): field["metadata"]
        for field in kept["fields"]
        if field["name"].endswith("_low")
    }
    lows, highs = (
        np.stack([rows[f"{name}_{end}"].to_numpy() for name in types], axis=1) for end in ("low", "high")
    )
    events, topics = _part(path, "events", "event"), _part(path, "topics", "topic")
    points = np.empty((0, len(types)))
    if events is not None:
        points = np.stack([events[name].to_numpy() for name in types], axis=1)
    return Stored(
        path.name, types_from(list(types), types), lows, highs, points,
        ring_ids=rows["ring_id"].to_numpy().copy(),
        keys=rows["key"].to_pylist() if "key" in rows.column_names else None,
        topics=tuple(topics["path"].to_pylist()) if topics is not None and topics.num_rows else None,
    )  # fmt: skip


def _part(path: Path, name: str, number: str) -> pa.Table | None:
    """A part of a workload folder in the order of its numbers; None if it is not complete."""
    if not (path / name / "_SUCCESS").exists():
        return None
    tables = [read_parquet(file) for file in sorted((path / name).glob("*.parquet"))]
    return pa.concat_tables(tables).sort_by(number)
