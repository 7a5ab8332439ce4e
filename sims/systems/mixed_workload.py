"""Topics, ranges, or both at once on the axis of the topics: workloads of the shared overlay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sims.systems.topic_workload import TopicSource, TopicWorkload
from sub2sub.compiled.common.randomness import draws
from sub2sub.errors import InputError, require
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("mixed workload")


@dataclass(frozen=True)
class MixedWorkload(TopicWorkload):
    """The topics, and the subscriptions to topics or to ranges.

    Attributes
    ----------
    ranges : float
        Share of the subscribers that want a range instead of a topic.
    width : float
        Of the widest such range, as a share of the root's; widths and places are uniform.
    """

    ranges: float = 0.0
    width: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, ranges=(0, 1), width=(0, 1))
        if self.ranges and self.table is not None:
            raise InputError("ranges: expected 0, because the table has all subscriptions")

    def source(self, seed: int, size: int = 0) -> TopicSource:
        """Topics as ranges, and ranges."""
        return super().source(seed, size) if self.table else MixedSource(self, seed)


class MixedSource(TopicSource):
    """Subscriptions to topics and to ranges; each row is a function of its number and the seed.

    Examples
    --------
    >>> low, high = MixedSource(MixedWorkload(ranges=1.0), seed=1).rows(0, 100)
    >>> bool((low <= high).all()), len(np.unique(low)) > 90
    (True, True)
    """

    def rows(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Closed ranges of the subscriptions [start, stop)."""
        lows, highs = super().rows(start, stop)
        workload = self.workload
        if not isinstance(workload, MixedWorkload) or not workload.ranges:
            return lows, highs
        key, numbers = cycle_key(self.seed, STREAM, 0), np.arange(start, stop)
        share, place, width = (draws(key, numbers, k) / 2.0**64 for k in range(3))
        span = float(self.ranges.bounds()[0, 1])
        size = np.floor(1 + width * workload.width * (span - 1))
        low = np.floor(place * (span - size))
        is_range = (share < workload.ranges)[:, None]
        lows = np.where(is_range, low[:, None], lows)
        return lows, np.where(is_range, (low + size - 1)[:, None], highs)
