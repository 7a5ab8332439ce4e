"""Subscriptions of a run that are a user's own: rows of a table, or those that a function returns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sims.config.interests import Generated
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import closed, normalise, points
from workloads.arrays import Floats
from workloads.folder.stored import FOLLOW, Follow, Stored
from workloads.settings.plugins import plugin
from workloads.spec.spec import Attribute, Spec
from workloads.spec.table_files import open_stored
from workloads.spec.types import FLOAT, ValueType


class _TableSpec(Spec):
    """Draws events for rows that have none."""

    def __init__(self, stored: Stored, follow: Follow) -> None:
        first, last = stored.ends
        axes = zip(stored.types.items(), first.tolist(), last.tolist(), strict=True)
        super().__init__(stored.name, tuple(_axis(name, kind, low, high) for (name, kind), low, high in axes))
        object.__setattr__(self, "stored", stored)
        object.__setattr__(self, "follow", follow)

    def candidates(self, seed: int, start: int, stop: int) -> Floats:
        """The candidate events [start, stop)."""
        found: Floats = self.stored.candidates(stop, seed, self.follow)[start:]  # type: ignore[attr-defined]
        return found


def _axis(name: str, kind: ValueType, low: float, high: float) -> Attribute:
    if kind.ends is not None:
        return Attribute(name, type=kind.kind, values=kind.values)
    return Attribute(name, low=low, high=high if high > low else low + 1.0, type=kind.kind)


class Called(Generated):
    """Rows that the user's own function returns; they are used again from the first when they run out."""

    def __init__(self, source: str, settings: Mapping[str, Any], size: int, seed: int) -> None:
        found = plugin(source, "workload.source", trusted=True)(size, seed, **settings)
        if not isinstance(found, tuple) or len(found) not in (2, 3):
            raise InputError(f"workload.source: expected {source} to return (lows, highs[, events])")
        self.lows, self.highs = closed(*normalise(found[0], found[1]))
        self.usual_size, d = self.lows.shape
        types = {f"x{k}": FLOAT for k in range(d)}
        self.spec = _TableSpec(Stored(source, types, self.lows, self.highs, np.empty((0, d))), "uniform")
        self.events = points(found[2], d) if len(found) == 3 else None

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """The rows [start, stop), from the first on again where they end."""
        which = np.arange(start, stop) % self.usual_size
        return self.lows[which], self.highs[which]


class Rows(Generated):
    """The rows of a table, each for one subscriber; if fewer are needed, they are drawn at random.

    Newcomers get the rows that are left. No row is used twice.
    """

    def __init__(self, path: Path, size: int, seed: int, follow: str) -> None:
        stored = open_stored(path)
        order = stored.order(seed, size or len(stored))
        self.lows, self.highs = stored.lows[order], stored.highs[order]
        self.usual_size, self.name = len(stored), stored.name
        chosen = next((each for each in FOLLOW if each == follow), stored.own_follow)
        self.spec = _TableSpec(stored, chosen)
        self.events = stored.points if chosen == "table" else None
        self.ids = None if stored.ring_ids is None else stored.ring_ids[order[: size or None]]
        self.keys = None if stored.keys is None else [stored.keys[row] for row in order.tolist()]

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """The rows [start, stop) in their order; more than there are is refused."""
        if stop > self.usual_size:
            raise InputError(
                f"{self.name} has {self.usual_size} subscriptions, each used once: expected at most as many "
                f"subscribers, got {stop}"
            )
        return self.lows[start:stop], self.highs[start:stop]
