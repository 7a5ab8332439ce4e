"""Churn: joins, leaves and changed subscriptions, by cycle.

Each subscriber alternates between being up and being down for lengths drawn independently, so its trace is
a pure function of (seed, subscriber), like its subscription. Lengths are exponential (memoryless: a constant
rate of departures) or Pareto (many short visits, few very long ones, as measured in file-sharing systems).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.kernels.randomness import mix
from workloads.generate.rows import uniforms
from workloads.spec.quantiles import interpolate, tabulate

if TYPE_CHECKING:
    from workloads.spec.spec import Spec

JOIN, LEAVE, CHANGE = 0, 1, 2

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Trace(NamedTuple):
    """What happens to subscribers, by cycle and then by subscriber.

    Attributes
    ----------
    up : (n,) bool
        Whether each is there before the first cycle.
    cycle, subscriber, kind : int64
        One row per JOIN, LEAVE or CHANGE.
    """

    up: NDArray[np.bool_]
    cycle: Integers
    subscriber: Integers
    kind: Integers


@dataclass(frozen=True)
class Churn:
    """How long subscribers stay and stay away, in cycles, and how often they change their subscription.

    Attributes
    ----------
    session, absence : float
        Mean length of being up, and of being down; at steady state session / (session + absence) are up.
    lengths : {"exponential", "pareto"}
        How lengths are distributed: memoryless, or many short and few very long ones.
    alpha : float
        Tail of the Pareto lengths, above 1; smaller is heavier.
    change : float
        Probability that a subscriber that is up changes its subscription, per cycle.
    start : float, optional
        Share of the subscribers that are up before the first cycle; that of the steady state if not given.
        0 lets all of them arrive, within `absence` cycles or so.

    Examples
    --------
    >>> trace = Churn(session=50, absence=10).trace(1000, cycles=100, seed=1)
    >>> bool(0.75 < trace.up.mean() < 0.9), bool((np.diff(trace.cycle) >= 0).all())
    (True, True)
    """

    session: float
    absence: float
    lengths: Literal["exponential", "pareto"] = "exponential"
    alpha: float = 2.0
    change: float = 0.0
    start: float | None = None

    def __post_init__(self) -> None:
        for name in ("session", "absence"):
            if not 1 <= getattr(self, name) < np.inf:
                raise InputError(f"{name} = {getattr(self, name)!r}: expected a mean of at least 1 cycle")
        if self.lengths not in ("exponential", "pareto"):
            raise InputError(f"lengths = {self.lengths!r}: expected exponential or pareto")
        if not self.alpha > 1:
            raise InputError(f"alpha = {self.alpha!r}: expected a number above 1")
        if not 0 <= self.change <= 1:
            raise InputError(f"change = {self.change!r}: expected a probability in [0, 1]")
        if self.start is not None and not 0 <= self.start <= 1:
            raise InputError(f"start = {self.start!r}: expected a share in [0, 1]")

    def trace(self, n: int, cycles: int, seed: int, start: int = 0) -> Trace:
        """What happens to the subscribers [start, start + n) in the cycles [0, cycles)."""
        if n < 0 or cycles < 0 or not 0 <= seed < 2**64:
            raise InputError(
                f"n = {n}, cycles = {cycles}, seed = {seed}: expected none below 0, seed below 2^64"
            )
        stop = start + n
        share = self.session / (self.session + self.absence) if self.start is None else self.start
        first = uniforms(seed, "churn/up", start, stop) < share
        # Nobody has just arrived when the trace begins: of the first length, only the rest is ahead.
        at = np.floor(self._scaled(seed, 0, start, stop, first, _unit_rests(self.lengths, self.alpha)))
        up, number = first.copy(), 0
        rows: list[tuple[Floats, Integers, Integers]] = []
        while (live := np.flatnonzero(at < cycles)).size:
            kinds = np.where(up[live], LEAVE, JOIN)
            rows.append((at[live], live + start, kinds))
            up[live] = ~up[live]
            number += 1
            at[live] += np.ceil(self._length(seed, number, start, stop, up)[live])
        rows += self._changes(cycles, seed, start, stop, first, rows)
        if not rows:
            nothing = np.zeros(0, np.int64)
            return Trace(first, nothing, nothing, nothing)
        cycle, who, kind = (np.concatenate(column).astype(np.int64) for column in zip(*rows, strict=True))
        order = np.lexsort((kind, who, cycle))
        return Trace(first, cycle[order], who[order], kind[order])

    def _length(self, seed: int, number: int, start: int, stop: int, up: NDArray[np.bool_]) -> Floats:
        return self._scaled(seed, number, start, stop, up, _unit_lengths(self.lengths, self.alpha))

    def _scaled(
        self, seed: int, number: int, start: int, stop: int, up: NDArray[np.bool_], table: Floats
    ) -> Floats:
        unit = interpolate(table, uniforms(seed, f"churn/{number}", start, stop))
        # Rounded up to whole cycles, a length grows by about half a cycle: take that off its mean.
        return np.maximum(np.where(up, self.session, self.absence) - 0.5, 0.5) * unit

    def _changes(
        self,
        cycles: int,
        seed: int,
        start: int,
        stop: int,
        first: NDArray[np.bool_],
        moves: list[tuple[Floats, Integers, Integers]],
    ) -> list[tuple[Floats, Integers, Integers]]:
        if not self.change:
            return []
        up = first.copy()
        flips: list[list[Integers]] = [[] for _ in range(cycles)]
        for at, who, _ in moves:
            for cycle in np.unique(at).astype(np.int64).tolist():
                flips[cycle].append(who[at == cycle] - start)
        changes = []
        for cycle in range(cycles):
            moved = np.concatenate(flips[cycle]) if flips[cycle] else np.zeros(0, np.int64)
            up[moved] = ~up[moved]
            wanting = uniforms(seed, f"churn/change/{cycle}", start, stop) < self.change
            wanting[moved] = False  # one thing a cycle
            who = np.flatnonzero(wanting & up)
            changes.append((np.full(len(who), float(cycle)), who + start, np.full(len(who), CHANGE)))
        return changes


@cache
def _unit_lengths(kind: str, alpha: float) -> Floats:
    """Quantiles of lengths with mean 1; the last 2^-34 of the tail is cut off."""
    if kind == "exponential":
        return tabulate(lambda u: -math.log(max(1.0 - u, 2.0**-34)))
    shortest = (alpha - 1.0) / alpha
    return tabulate(lambda u: shortest * max(1.0 - u, 2.0**-34) ** (-1.0 / alpha))


@cache
def _unit_rests(kind: str, alpha: float) -> Floats:
    """Quantiles of what is left of such lengths at a moment that has nothing to do with them.

    Its density is the share of lengths above it, so long ones are met more often (renewal theory).
    """
    if kind == "exponential":
        return _unit_lengths(kind, alpha)
    shortest = (alpha - 1.0) / alpha

    def quantile(u: float) -> float:
        if u <= shortest:
            return u
        return float((shortest**alpha / ((alpha - 1.0) * max(1.0 - u, 2.0**-34))) ** (1.0 / (alpha - 1.0)))

    # A heavy tail may leave the numbers that can be tabulated; nobody waits for 2^20 mean lengths.
    return tabulate(lambda u: min(quantile(u), 2.0**20))


def changed(spec: Spec, seed: int, subscribers: Integers | int, version: int) -> tuple[Floats, Floats]:
    """Closed ranges (lows, highs) of subscribers after their `version`-th change; version 0 is the first one.

    Examples
    --------
    >>> from workloads.spec.catalogue import named
    >>> before, after = (changed(named("uniform-1"), 1, 5, version)[0] for version in (0, 1))
    >>> before.shape, bool(before != after)
    ((1, 1), True)
    """
    which = np.atleast_1d(subscribers)
    if not len(which):
        return spec.rows(seed, 0, 0)
    own = seed if version == 0 else int(mix(np.uint64(seed) ^ mix(np.uint64(version))))
    first = int(which.min())
    lows, highs = spec.rows(own, first, int(which.max()) + 1)
    return lows[which - first], highs[which - first]
