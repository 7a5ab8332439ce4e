"""One population, its events and its faults, as data that every system receives.

A subscriber is a number from 0 to n - 1 and one box, closed on both ends. An event is a point. Its publisher
is a live subscriber that matches it, so no system has to search for one, unless others publish. If interests
are topics, the publisher subscribes to the event's own topic, because a process that publishes on a topic
belongs to its community (CAMCAST, Section 2.1).

`matches` is the truth with which deliveries are compared; no system may use it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sims.compare.worlds.conditions import FAULTS, HEAL_CRASHED, Fault
from sims.config.interests import Ranges, Subscriptions, Topics
from sims.rivals.base.entrants import Holdings
from sub2sub.compiled.common.randomness import draws
from sub2sub.geometry.matching import Members, match
from sub2sub.peers.draws import cycle_key, stream_number

CRASHES, PUBLISHERS = stream_number("compare/crashes"), stream_number("compare/publishers")

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class World(Ranges):
    """Interests, events and faults.

    Attributes
    ----------
    name : str
    seed : int
    lows, highs : (n, d) float64
        Closed ranges of whole numbers.
    points : (m, d) float64
        Events: first those that costs are measured with, then `probes` that measure how far an overlay has
        come, last `choosing` ones by which each system's working point is chosen.
    probes : int
    bits : int
        Attributes have values from 0 to 2^bits - 1 where interests are ranges, so that dyadic topics can be
        exact; 0 where they are topics.
    topics : Topics, optional
    choosing : int
    others : bool
        Whether events are published by subscribers that do not match them.
    parts : lows, highs, host; optional
        The ranges of hosts that have several each; `lows` and `highs` are the boxes around them.

    Examples
    --------
    >>> world = World("example", 1, np.array([[0.0], [2.0], [3.0]]), np.array([[4.0], [9.0], [9.0]]),
    ...               np.array([[3.0], [8.0]]), probes=0, bits=4)
    >>> world.matches.of(0), world.alive(Fault(crashed=0.4)).sum()
    (array([0, 1, 2]), np.uint64(2))
    """

    name: str
    seed: int
    lows: Floats
    highs: Floats
    points: Floats
    probes: int
    bits: int
    topics: Topics | None = None
    choosing: int = 0
    others: bool = False
    parts: tuple[Floats, Floats, Integers] | None = None

    @property
    def events(self) -> Integers:
        """Numbers of the events of the cells."""
        return np.arange(len(self.points) - self.probes - self.choosing)

    @property
    def probe_events(self) -> Integers:
        """Numbers of the probes."""
        return len(self.events) + np.arange(self.probes)

    @property
    def choosing_events(self) -> Integers:
        """Numbers of the events by which working points are chosen."""
        return len(self.events) + self.probes + np.arange(self.choosing)

    @cached_property
    def wanted(self) -> Subscriptions:
        """What every system is given."""
        if self.parts is not None:
            return Holdings(self.lows, self.highs, self.points, self.bits, parts=self.parts)
        return Subscriptions(self.lows, self.highs, self.points, self.bits, self.topics)

    @cached_property
    def matches(self) -> Members:
        """The subscribers that match each event, crashed ones included."""
        if isinstance(self.wanted, Holdings):
            return self.wanted.matched
        return match(self.lows, self.highs, self.points)

    @cached_property
    def _publishers(self) -> dict[float, Integers]:
        return {}

    @cached_property
    def _crash_order(self) -> Integers:
        marks = draws(cycle_key(self.seed, CRASHES, 0), np.arange(self.n))
        return np.argsort(marks, kind="stable")

    def alive(self, fault: Fault) -> NDArray[np.uint8]:
        """Which subscribers are up."""
        up = np.ones(self.n, np.uint8)
        up[self._crash_order[: round(fault.crashed * self.n)]] = 0
        return up

    def publishers(self, fault: Fault) -> Integers:
        """The publisher of each event: the first live candidate in a random order, -1 if there is none.

        An event that matches only its publisher is not published either.
        """
        if fault.crashed not in self._publishers:
            self._publishers[fault.crashed] = self._draw_publishers(self.alive(fault))
        return self._publishers[fault.crashed]

    def _draw_publishers(self, alive: NDArray[np.uint8]) -> Integers:
        found = np.full(len(self.points), -1, np.int64)
        for e in range(len(self.points)):
            wanting = self.matches.of(e)
            up = wanting[alive[wanting] == 1]
            may = up if self.topics is None else up[self.topics.of[up] == self.topics.of_event[e]]
            if self.others:
                may = np.setdiff1d(np.flatnonzero(alive), up)
            if up.size > 1 and may.size:
                marks = draws(cycle_key(self.seed, PUBLISHERS, e), may)
                found[e] = may[np.argmin(marks)]
        return found

    def digest(self) -> str:
        """Digest of everything a system receives: interests, events, publishers and crashes."""
        text = hashlib.sha256()
        for array in (self.lows, self.highs, self.points, *(self.parts or ())):
            text.update(np.ascontiguousarray(array).tobytes())
        if self.topics is not None:
            text.update(self.topics.ranges.bounds().tobytes())
            text.update(self.topics.of.tobytes())
            text.update(self.topics.of_event.tobytes())
        for fault in (*FAULTS, Fault(crashed=HEAL_CRASHED)):
            text.update(repr(tuple(fault)).encode())
            text.update(self.alive(fault).tobytes())
            text.update(self.publishers(fault).tobytes())
        return text.hexdigest()[:16]
