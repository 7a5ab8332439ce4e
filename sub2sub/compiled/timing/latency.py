"""How long a message takes, for kernels.

All models of `sub2sub.compiled.timing.settings` have the same structure, `Clock`, so that kernels are
compiled once. The clock of a network without latencies counts hops: every message takes one.

A place is the number of a host. The random latency of a pair of places is a function of both and of the
clock's key, so it is the same in every system that runs on the same subscribers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.randomness import draw, draws, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel, rule
from sub2sub.compiled.timing.settings import AGAIN, Timing
from sub2sub.peers.draws import cycle_key, stream_number

HOPS, CONSTANT, UNIFORM, LOG_NORMAL, REGIONS, SPHERE = range(6)
KINDS = {
    "constant": CONSTANT,
    "uniform": UNIFORM,
    "log-normal": LOG_NORMAL,
    "regions": REGIONS,
    "sphere": SPHERE,
}
STREAM = stream_number("timing")
JITTER, PHASE = 1 << 48, 1 << 49  # the first draws for these purposes
EARTH = 6371.0  # kilometres


class Clock(NamedTuple):
    """A model of time for kernels."""

    kind: int  # the model
    place: NDArray[np.int64]  # (n,) the host of each member
    region: NDArray[np.int32]  # (places,)
    spot: NDArray[np.float64]  # (places, 3) the position of a host on the unit sphere
    matrix: NDArray[np.float64]  # (regions, regions) milliseconds between regions
    key: np.uint64  # of the draws of pairs of places
    ms: float  # this and the following as in `Timing`
    spread: float
    jitter: float
    speed: float
    occupied: float
    tick: float

    @classmethod
    def of(cls, timing: Timing | None, places: NDArray[np.int64]) -> Clock:
        """The clock of members at these places; with `timing` None it counts hops.

        Members without a host (places below 0) get a place each.

        Examples
        --------
        >>> clock = Clock.of(Timing(latency="constant", ms=25.0, jitter=0.0), np.array([0, 1, 1]))
        >>> latency(clock, 0, 1, 0), latency(clock, 1, 2, 0)
        (25.0, 0.0)
        """
        none = np.empty(0, np.int32), np.empty((0, 3)), np.empty((0, 0))
        if timing is None:
            return cls(HOPS, np.empty(0, np.int64), *none, np.uint64(0), 1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
        place = np.array(places, np.int64)
        alone = np.flatnonzero(place < 0)
        place[alone] = int(place.max(initial=-1)) + 1 + np.arange(alone.size)
        key = cycle_key(timing.seed, STREAM, 0)
        region, spot, matrix = none
        hosts = np.arange(int(place.max(initial=-1)) + 1)
        if timing.regions is not None:
            from sub2sub.compiled.timing.region_files import read_regions

            found = read_regions(timing.regions)
            matrix = found.ms
            region = np.searchsorted(np.cumsum(found.share)[:-1], _units(key, hosts, 0), side="right").astype(
                np.int32
            )
        elif timing.latency == "sphere":
            height, turn = 2.0 * _units(key, hosts, 0) - 1.0, 2.0 * np.pi * _units(key, hosts, 1)
            width = np.sqrt(1.0 - height**2)
            spot = np.stack([width * np.cos(turn), width * np.sin(turn), height], axis=1)
        # Plain floats: for integers the kernels would be compiled again.
        numbers = (timing.ms, timing.spread, timing.jitter, timing.speed, timing.occupied, timing.tick)
        return cls(KINDS[timing.latency], place, region, spot, matrix, key, *(float(x) for x in numbers))

    @property
    def timed(self) -> bool:
        """Whether it counts milliseconds, not hops."""
        return self.kind != HOPS

    @property
    def places(self) -> int:
        """The number of places."""
        return int(self.place.max(initial=-1)) + 1


def _units(key: np.uint64, hosts: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    return (draws(key, hosts, k) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def seeded(timing: Timing | None, seed: int) -> Timing | None:
    """The same settings, with the seed of a run added to theirs."""
    return None if timing is None else replace(timing, seed=(timing.seed + seed) % 2**63)


@rule
def _normal(key, k):
    """A draw from the normal distribution (Box, Muller: Annals of Mathematical Statistics, 1958)."""
    size = math.sqrt(-2.0 * math.log(1.0 - unit(draw(key, k))))
    return size * math.cos(2.0 * math.pi * unit(draw(key, k + JITTER)))


@rule
def _arc(spot, p, q):
    """Kilometres between two places on the earth, computed from the chord."""
    x, y, z = spot[p, 0] - spot[q, 0], spot[p, 1] - spot[q, 1], spot[p, 2] - spot[q, 2]
    return 2.0 * EARTH * math.asin(min(1.0, math.sqrt(x * x + y * y + z * z) / 2.0))


@rule
def latency(clock, sender, target, bits):
    """Milliseconds that a message travels; `bits` are random bits for its jitter."""
    if clock.kind == HOPS:
        return 1.0
    p, q = clock.place[sender], clock.place[target]
    if p == q:
        return 0.0
    ms = clock.ms
    if clock.kind == UNIFORM:
        ms *= 1.0 + clock.spread * (2.0 * unit(draw(peer_key(clock.key, min(p, q)), max(p, q))) - 1.0)
    elif clock.kind == LOG_NORMAL:
        ms *= math.exp(clock.spread * _normal(peer_key(clock.key, min(p, q)), max(p, q)))
    elif clock.kind == REGIONS:
        ms = clock.matrix[clock.region[p], clock.region[q]]
    elif clock.kind == SPHERE:
        ms += _arc(clock.spot, p, q) / clock.speed
    return ms * (1.0 + clock.jitter * unit(bits))


@rule
def travel(clock, sender, target, waited, key):
    """Milliseconds from the first message to the arrival of the one after `waited` without an answer.

    `key` is the key of the sender's draws for the event.
    """
    if clock.kind == HOPS:
        return 1.0
    bits = draw(key, JITTER + (np.int64(waited) << 32) + target)
    return waited * AGAIN * clock.tick + latency(clock, sender, target, bits)


@kernel
def next_beat(clock, member, now, period):
    """The first time after `now` at which a member's timer of `period` ticks fires.

    With latencies each member's timer has a random phase.
    """
    length = period * clock.tick
    phase = 0.0 if clock.kind == HOPS else length * unit(draw(peer_key(clock.key, member), PHASE))
    return (math.floor((now - phase) / length) + 1.0) * length + phase
