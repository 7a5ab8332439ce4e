"""Churn: joins, leaves and changed subscriptions, by cycle.

Each subscriber alternates between being up and being down, for lengths drawn independently. So its trace is a
pure function of (seed, subscriber), like its subscription. Lengths are exponential (memoryless, with a
constant rate of leaves) or Pareto (many short sessions and few very long ones, as measured in file sharing).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from sub2sub.compiled.common.randomness import mix
from sub2sub.errors import InputError
from workloads.arrays import Floats, Integers, Mask
from workloads.generate.rows import uniforms
from workloads.spec.quantiles import interpolate, tabulate

if TYPE_CHECKING:
    from workloads.spec.spec import Spec

JOIN, LEAVE, CHANGE = 0, 1, 2
Moves = list[tuple[Floats, Integers, Integers]]  # cycles, subscribers, kinds


class Trace(NamedTuple):
    """Joins, leaves and changes, sorted by cycle and then by subscriber.

    Attributes
    ----------
    up : (n,) bool
        Which subscribers are up before the first cycle.
    cycle, subscriber, kind : int64
        One row per JOIN, LEAVE or CHANGE.
    """

    up: Mask
    cycle: Integers
    subscriber: Integers
    kind: Integers


@dataclass(frozen=True)
class Churn:
    """Lengths of sessions and absences, in cycles, and the rate of changed subscriptions.

    Attributes
    ----------
    session, absence : float
        Mean length of being up, and of being down; at steady state session / (session + absence) are up.
    lengths : {"exponential", "pareto"}
        Distribution of these lengths: memoryless, or many short and few very long ones.
    alpha : float
        Tail of the Pareto lengths, above 1; smaller is heavier.
    change : float
        Probability per cycle that a subscriber that is up changes its subscription.
    start : float, optional
        Share of the subscribers that are up before the first cycle; that of the steady state if not given.
        With 0 all of them join later, in about `absence` cycles.

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
        """The trace of the subscribers [start, start + n) in the cycles [0, cycles)."""
        if n < 0 or cycles < 0 or not 0 <= seed < 2**64:
            raise InputError(
                f"n = {n}, cycles = {cycles}, seed = {seed}: expected none below 0, seed below 2^64"
            )
        draw = partial(uniforms, seed, start=start, stop=start + n)
        share = self.session / (self.session + self.absence) if self.start is None else self.start
        first = draw("churn/up") < share
        # The trace begins at a random moment of the first session or absence: only the rest of it is left.
        at = np.floor(self._scaled(draw("churn/0"), first, _unit_rests(self.lengths, self.alpha)))
        up, number = first.copy(), 0
        rows: Moves = []
        while (live := np.flatnonzero(at < cycles)).size:
            kinds = np.where(up[live], LEAVE, JOIN)
            rows.append((at[live], live + start, kinds))
            up[live] = ~up[live]
            number += 1
            lengths = self._scaled(draw(f"churn/{number}"), up, _unit_lengths(self.lengths, self.alpha))
            at[live] += np.ceil(lengths[live])
        if self.change:
            rows += self._changes(cycles, draw, start, first, rows)
        if not rows:
            nothing = np.zeros(0, np.int64)
            return Trace(first, nothing, nothing, nothing)
        cycle, subscriber, kind = (
            np.concatenate(column).astype(np.int64) for column in zip(*rows, strict=True)
        )
        order = np.lexsort((kind, subscriber, cycle))
        return Trace(first, cycle[order], subscriber[order], kind[order])

    def _scaled(self, drawn: Floats, up: Mask, table: Floats) -> Floats:
        # Rounding up to whole cycles adds about half a cycle to a length: subtract it from the mean.
        return np.maximum(np.where(up, self.session, self.absence) - 0.5, 0.5) * interpolate(table, drawn)

    def _changes(
        self, cycles: int, draw: Callable[[str], Floats], start: int, first: Mask, moves: Moves
    ) -> Moves:
        """Changes of subscriptions by subscribers that are up and do not join or leave in the same cycle."""
        up = first.copy()
        at = np.concatenate([np.zeros(0), *(cycles for cycles, _, _ in moves)])
        subscribers = np.concatenate([np.zeros(0, np.int64), *(moved for _, moved, _ in moves)])
        changes = []
        for cycle in range(cycles):
            moved = subscribers[at == cycle] - start
            up[moved] = ~up[moved]
            changing = draw(f"churn/change/{cycle}") < self.change
            changing[moved] = False  # at most one event per cycle
            found = np.flatnonzero(changing & up)
            changes.append((np.full(len(found), float(cycle)), found + start, np.full(len(found), CHANGE)))
        return changes


@cache
def _unit_lengths(kind: str, alpha: float) -> Floats:
    """Quantiles of lengths with mean 1, without the last 2^-34 of the tail."""
    if kind == "exponential":
        return tabulate(lambda u: -math.log(max(1.0 - u, 2.0**-34)))
    shortest = (alpha - 1.0) / alpha
    return tabulate(lambda u: shortest * max(1.0 - u, 2.0**-34) ** (-1.0 / alpha))


@cache
def _unit_rests(kind: str, alpha: float) -> Floats:
    """Quantiles of the residual life of such lengths at a random moment (renewal theory).

    The density at x is the share of lengths above x.
    """
    if kind == "exponential":
        return _unit_lengths(kind, alpha)
    shortest = (alpha - 1.0) / alpha

    def quantile(u: float) -> float:
        if u <= shortest:
            return u
        return float((shortest**alpha / ((alpha - 1.0) * max(1.0 - u, 2.0**-34))) ** (1.0 / (alpha - 1.0)))

    # A heavy tail may exceed what a table can hold; no trace is as long as 2^20 mean lengths.
    return tabulate(lambda u: min(quantile(u), 2.0**20))


def changed(spec: Spec, seed: int, subscribers: Integers | int, version: int) -> tuple[Floats, Floats]:
    """Closed ranges (lows, highs) of subscribers after their `version`-th change; 0 for the first ranges.

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
