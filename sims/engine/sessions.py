"""Churn by sessions: every subscriber joins and leaves independently of the others.

PolderCast and others are evaluated on traces of real systems, in which most sessions are short and a few very
long. Here the lengths of sessions and absences follow a distribution (`workloads.generate.churn`: exponential
or Pareto), or come from a table:

- with a column `session` and, optionally, a column `absence`: measured lengths in cycles. Each session and
  each absence has one of them, drawn at random; without the column `absence`, absences follow the
  distribution;
- with columns `cycle`, `subscriber` and `kind` (start, join, leave): a trace of churn, as `sub2sub
  workload generate` writes it for a workload with churn. Subscribers are numbered from 0.

When the control is first due, all subscribers are present (or those that `start`), at a random point of a
session. An absent subscriber has left: it returns as a newcomer with another sequence ID and no links. Which
subscribers are present in a cycle is a pure function of the seed, so a resumed run continues as if
uninterrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from sims.engine.control import Row
from sims.engine.faults import depart, enter
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError
from workloads.arrays import Floats, Integers, Mask
from workloads.files.checked import read_parquet
from workloads.generate.churn import Churn
from workloads.generate.churn_table import KINDS
from workloads.generate.rows import uniforms


class Subscribers(Protocol):
    """The subscribers that come and go."""

    @property
    def lows(self) -> Floats:
        """Lower ends of their closed ranges, (n, d)."""

    @property
    def highs(self) -> Floats:
        """Upper ends."""


@dataclass(frozen=True)
class SessionSettings:
    """Lengths of sessions and absences.

    Attributes
    ----------
    session, absence : float
        Mean lengths in cycles, of at least 1.
    lengths : {"exponential", "pareto"}
        How they are distributed.
    alpha : float
        Tail of Pareto lengths, above 1; smaller is heavier.
    file : Path, optional
        A CSV or Parquet file of lengths, or a trace of churn, instead of the distribution.

    Examples
    --------
    >>> settings = SessionSettings(session=20, absence=5)
    >>> away = [int((~settings.present(1000, cycle, seed=1)).sum()) for cycle in (0, 20, 40)]
    >>> away[0] < 60 < away[1], 100 < away[2] < 300
    (True, True)
    """

    session: float = 50.0
    absence: float = 10.0
    lengths: Literal["exponential", "pareto"] = "pareto"
    alpha: float = 1.5
    file: Path | None = None

    def __post_init__(self) -> None:
        """Refuse invalid lengths, and files that cannot be read."""
        self._distribution()
        if self.file is not None:
            _read(self.file)

    def present(self, n: int, cycle: int, seed: int) -> Mask:
        """Which of n subscribers are present, `cycle` cycles after the control was first due."""
        start, when, subscriber = self._moves(n, cycle + 1, seed)
        moved: Mask = np.bincount(subscriber[when <= cycle], minlength=n)[:n] % 2 == 1
        return np.logical_xor(start, moved)

    def joins(self, n: int, cycles: int, seed: int, window: int) -> int:
        """The greatest number of joins in any `window` cycles, for which there must be room."""
        start, when, subscriber = self._moves(n, cycles, seed)
        order = np.lexsort((when, subscriber))
        when, subscriber = when[order], subscriber[order]
        number = np.arange(subscriber.size) - np.searchsorted(subscriber, subscriber)  # of its moves
        coming = (number % 2 == 1) == start[subscriber]
        by_cycle = np.bincount(when[coming], minlength=cycles + 1)
        total = np.cumsum(np.append(0, by_cycle))
        return int((total[min(window, cycles) :] - total[: total.size - min(window, cycles)]).max(initial=0))

    def _distribution(self) -> Churn:
        try:
            return Churn(self.session, self.absence, self.lengths, self.alpha, start=1.0)
        except InputError as error:
            raise InputError(f"sessions.{error}") from None

    def _moves(self, n: int, cycles: int, seed: int) -> tuple[Mask, Integers, Integers]:
        """The subscribers present at the start; then cycle and subscriber of each join and leave."""
        columns = _read(self.file) if self.file is not None else {}
        if "cycle" in columns:
            return _listed(columns, n, cycles)
        if columns:
            return _measured(columns, self._distribution(), n, cycles, seed)
        trace = self._distribution().trace(n, cycles, seed)
        return trace.up, trace.cycle, trace.subscriber


@dataclass(frozen=True, kw_only=True)
class Sessions(SessionSettings):
    """Subscribers leave and come back by their sessions.

    Attributes
    ----------
    interests : Subscribers
        The subscribers that come and go.
    first : int
        The first cycle in which it is due.
    name : str
        Name of the control: names its table and selects its random numbers.
    """

    interests: Subscribers
    first: int = 0
    name: str = "sessions"

    def execute(self, simulation: Simulation) -> Row:
        """Let peers leave at the end of a session, and return at the end of an absence."""
        population, alive = simulation.overlay.population, simulation.overlay.network.alive
        seed = simulation.overlay.seed
        wanted = self.present(len(self.interests.lows), simulation.cycle - self.first, seed)
        mine = np.flatnonzero((alive == 1) & (population.host >= 0) & (population.host < wanted.size))
        is_present = np.zeros(wanted.size, bool)
        is_present[population.host[mine]] = True
        leaving = mine[~wanted[population.host[mine]]]
        coming = np.flatnonzero(wanted & ~is_present)
        depart(simulation, leaving)
        if coming.size:
            lows, highs = self.interests.lows[coming], self.interests.highs[coming]
            enter(simulation, self.name, lows, highs, coming)
        there = int(simulation.overlay.network.alive.sum())
        return {"left": int(leaving.size), "joined": int(coming.size), "there": there}


@cache
def _read(file: Path) -> dict[str, NDArray[Any]]:
    """The columns of a table of sessions, checked."""
    if not Path(file).is_file():
        raise InputError(f"sessions.file: {file} does not exist")
    try:
        table = read_parquet(file) if Path(file).suffix == ".parquet" else csv.read_csv(file)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"sessions.file: {file}: expected a CSV or Parquet file, {error}") from None
    columns = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    needed = ("session",) if "session" in columns else ("cycle", "subscriber", "kind")
    lacking = [name for name in needed if name not in columns]
    if lacking or not table.num_rows:
        raise InputError(
            f"sessions.file: {file}: expected rows with a column session, or with cycle, subscriber and kind"
        )
    for name in ("session", "absence") if "session" in columns else ("cycle", "subscriber"):
        values, least = columns.get(name, np.ones(1)), 0 if name in ("cycle", "subscriber") else 1
        bad = np.flatnonzero([not (isinstance(v, int | float | np.number) and v >= least) for v in values])
        if bad.size:
            raise InputError(
                f"sessions.file: {file} row {bad[0]}: {name}: expected a number from {least} on, got "
                f"{values[bad[0]]}"
            )
    if "kind" in needed:
        unknown = np.flatnonzero(~np.isin(columns["kind"].astype(str), KINDS))
        if unknown.size:
            raise InputError(
                f"sessions.file: {file} row {unknown[0]}: kind: expected one of {', '.join(KINDS)}, got "
                f"{columns['kind'][unknown[0]]!r}"
            )
    return columns


def _listed(columns: dict[str, NDArray[Any]], n: int, cycles: int) -> tuple[Mask, Integers, Integers]:
    """Arrivals and departures, as listed."""
    kind = columns["kind"].astype(str)
    when, subscriber = (columns[name].astype(np.int64) for name in ("cycle", "subscriber"))
    known = (subscriber < n) & (when < cycles)
    start = np.full(n, not (kind == "start").any())
    start[subscriber[known & (kind == "start")]] = True
    moves = known & np.isin(kind, ["join", "leave"])
    order = np.lexsort((when[moves], subscriber[moves]))
    return start, when[moves][order], subscriber[moves][order]


def _measured(
    columns: dict[str, NDArray[Any]], distribution: Churn, n: int, cycles: int, seed: int
) -> tuple[Mask, Integers, Integers]:
    """Sessions and absences of measured lengths, each drawn at random."""
    visits = columns["session"].astype(float)
    exponential = -distribution.absence * np.log1p(-(np.arange(1000) + 0.5) / 1000)
    away = columns["absence"].astype(float) if "absence" in columns else np.maximum(exponential, 1.0)
    # At a random moment a subscriber is more likely to be in a long session than in a short one.
    met = np.searchsorted(np.cumsum(visits) / visits.sum(), uniforms(seed, "sessions/met", 0, n))
    at = np.floor(visits[np.minimum(met, visits.size - 1)] * uniforms(seed, "sessions/rest", 0, n))
    none = np.zeros(0, np.int64)
    rows, number = [(none, none)], 0
    while (live := np.flatnonzero(at < cycles)).size:
        rows.append((at[live].astype(np.int64), live))
        number += 1
        lengths = away if number % 2 else visits
        drawn = (uniforms(seed, f"sessions/{number}", 0, n) * lengths.size).astype(np.int64)
        at[live] += np.maximum(np.ceil(lengths[drawn][live]), 1.0)
    when, subscriber = (np.concatenate(column) for column in zip(*rows, strict=True))
    return np.ones(n, bool), when, subscriber
