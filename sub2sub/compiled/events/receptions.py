"""Receptions: which peer received which event, and when; and the milliseconds to each delivery."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Receptions:
    """The peers that received each event, and when; publishers are included, whether they match or not.

    Attributes
    ----------
    offsets : (m + 1,) int64
        The receptions of event e are ``[offsets[e] : offsets[e + 1]]`` of the other arrays.
    peer, hop : (r,) int32
        In the order in which the peers received it.
    ms : (r,) float32, or empty
        The time of each, if the network has latencies.

    Examples
    --------
    >>> found = Receptions(np.array([0, 2, 3]), np.array([4, 7, 1], np.int32), np.array([0, 1, 0], np.int32))
    >>> found.of(0)
    (array([4, 7], dtype=int32), array([0, 1], dtype=int32))
    """

    offsets: NDArray[np.int64]
    peer: NDArray[np.int32]
    hop: NDArray[np.int32]
    ms: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))

    @classmethod
    def of_members(
        cls, first: NDArray[np.int32], host: NDArray[np.int64], when: NDArray[np.float64] | None = None
    ) -> Receptions:
        """From the round of the first reception per (event, member), -1 for none, and the times, if any.

        `host` is the peer of each member; a peer has the earliest reception of its members.

        Examples
        --------
        >>> Receptions.of_members(np.array([[1, -1, 0, 2]], np.int32), np.array([0, 1, 2, 0])).of(0)
        (array([2, 0], dtype=int32), array([0, 1], dtype=int32))
        """
        at = when if when is not None and len(when) else first
        peers, members_of = [], []
        for row, own in zip(first, at, strict=True):
            members = np.flatnonzero(row >= 0)
            members = members[np.argsort(own[members], kind="stable")]
            _, place = np.unique(host[members], return_index=True)
            members_of.append(members[np.sort(place)])
            peers.append(host[members_of[-1]].astype(np.int32))
        hops = [row[members] for row, members in zip(first, members_of, strict=True)]
        times = [own[members] for own, members in zip(at, members_of, strict=True)] if at is when else []
        return cls(
            np.append(0, np.cumsum([len(found) for found in peers])).astype(np.int64),
            np.concatenate([np.empty(0, np.int32), *peers]),
            np.concatenate([np.empty(0, np.int32), *hops]),
            np.concatenate([np.empty(0, np.float32), *times]).astype(np.float32),
        )

    def of(self, event: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The peers that received one event, and the hop of each."""
        which = slice(self.offsets[event], self.offsets[event + 1])
        return self.peer[which], self.hop[which]

    def table(self) -> dict[str, NDArray[Any]]:
        """One row per event and peer."""
        event = np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))
        times = {"ms": self.ms} if self.ms.size else {}
        return {"event": event, "peer": self.peer, "hop": self.hop, **times}


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
        return {**quantiles("ms", self.ms), **quantiles("last_ms", last[~np.isnan(last)])}


def quantiles(name: str, values: NDArray[Any]) -> dict[str, float]:
    """Median, 99th percentile and maximum of values; NaN if there are none."""
    if not values.size:
        return dict.fromkeys((f"{name}_median", f"{name}_p99", f"{name}_max"), float("nan"))
    median, p99, most = np.percentile(values, (50, 99, 100))
    return {f"{name}_median": float(median), f"{name}_p99": float(p99), f"{name}_max": float(most)}
