"""Times of deliveries, in milliseconds since the event entered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Times:
    """Milliseconds to each delivery of m events.

    Attributes
    ----------
    offsets : (m + 1,) int64
        Deliveries of event e are ``ms[offsets[e] : offsets[e + 1]]``.
    ms : float32

    Examples
    --------
    >>> times = Times(np.array([0, 3, 3, 4]), np.array([20, 60, 40, 30], np.float32))
    >>> times.last
    array([60., nan, 30.], dtype=float32)
    >>> times.summary()["ms_median"], times.summary()["last_ms_max"]
    (35.0, 60.0)
    """

    offsets: NDArray[np.int64]
    ms: NDArray[np.float32]

    @classmethod
    def among(cls, offsets: NDArray[np.int64], ms: NDArray[np.float32]) -> Times:
        """From one value for each possible delivery, NaN where there was none."""
        there = ~np.isnan(ms)
        return cls(np.append(0, np.cumsum(there))[offsets], ms[there])

    @property
    def last(self) -> NDArray[np.float32]:
        """The time of the last delivery of each event; NaN where there is none."""
        found = np.full(self.offsets.size - 1, np.nan, np.float32)
        some = self.offsets[:-1] < self.offsets[1:]
        if some.any():
            found[some] = np.maximum.reduceat(self.ms, self.offsets[:-1][some])
        return found

    def summary(self) -> dict[str, float]:
        """Median, 99th percentile and maximum: of all deliveries, and of the last delivery of each event."""
        last = self.last
        return {**spread("ms", self.ms), **spread("last_ms", last[~np.isnan(last)])}


def spread(name: str, values: NDArray[Any]) -> dict[str, float]:
    """Median, 99th percentile and maximum of values; NaN if there are none."""
    if not values.size:
        return dict.fromkeys((f"{name}_median", f"{name}_p99", f"{name}_max"), float("nan"))
    median, p99, most = np.percentile(values, (50, 99, 100))
    return {f"{name}_median": float(median), f"{name}_p99": float(p99), f"{name}_max": float(most)}
