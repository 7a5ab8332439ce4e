"""Churn by sessions: every subscriber comes and goes by itself, for lengths of a law or of a file.

PolderCast and others are judged on traces of real systems, where most visits are short and a few very long.
Here lengths of visits follow a law (`workloads.generate.churn`: exponential or Pareto), or a table:

- with a column `session`, and perhaps one `absence`: measured lengths in cycles. Each visit, and each
  absence, has one of them, drawn at random; without a column `absence` these follow the law;
- with columns `cycle`, `subscriber` and `kind` (start, join, leave): a trace of churn, as `sub2sub
  workload generate` writes it for a workload with churn. Subscribers are numbered from 0.

When the control is first due, everybody is there (or those that `start`), each somewhere within a visit. A
subscriber that is away has left: it comes back as a newcomer with another sequence ID and no links. Which
subscribers are present in a cycle is a pure function of the seed, so a resumed run continues as if
uninterrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sims.engine.control import Row
from sims.engine.faults import depart, enter
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError
from workloads.files.checked import read_parquet
from workloads.folder.churn_table import KINDS
from workloads.generate.churn import Churn
from workloads.generate.rows import uniforms

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Subscribers(Protocol):
    """Whose sessions these are."""

    @property
    def lows(self) -> Floats:
        """Lower ends of their closed ranges, (n, d)."""

    @property
    def highs(self) -> Floats:
        """Upper ends."""


@dataclass(frozen=True)
class SessionSettings:
    """How long subscribers stay, and stay away.

    Attributes
    ----------
    session, absence : float
        Mean lengths in cycles, of at least 1.
    lengths : {"exponential", "pareto"}
        How they are distributed.
    alpha : float
        Tail of Pareto lengths, above 1; smaller is heavier.
    file : Path, optional
        A CSV or Parquet file of lengths, or a trace of churn, in place of the law.

    Examples
    --------
    >>> settings = SessionSettings(session=20, absence=5)
    >>> away = [int((~settings.there(1000, cycle, seed=1)).sum()) for cycle in (0, 20, 40)]
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
        self._law()
        if self.file is not None:
            _read(self.file)

    def there(self, n: int, cycle: int, seed: int) -> NDArray[np.bool_]:
        """Which of n subscribers are there, so many cycles after the control was first due."""
        start, when, who = self._moves(n, cycle + 1, seed)
        moved: NDArray[np.bool_] = np.bincount(who[when <= cycle], minlength=n)[:n] % 2 == 1
        return np.logical_xor(start, moved)

    def joins(self, n: int, cycles: int, seed: int, window: int) -> int:
        """Newcomers in any `window` cycles, at most: what there has to be room for."""
        start, when, who = self._moves(n, cycles, seed)
        order = np.lexsort((when, who))
        when, who = when[order], who[order]
        number = np.arange(who.size) - np.searchsorted(who, who)  # of a subscriber's moves
        coming = (number % 2 == 1) == start[who] if who.size else np.zeros(0, bool)
        by_cycle = np.bincount(when[coming], minlength=cycles + 1)
        total = np.cumsum(np.append(0, by_cycle))
        return int((total[min(window, cycles) :] - total[: total.size - min(window, cycles)]).max(initial=0))

    def _law(self) -> Churn:
        try:
            return Churn(self.session, self.absence, self.lengths, self.alpha, start=1.0)
        except InputError as error:
            raise InputError(f"sessions.{error}") from None

    def _moves(self, n: int, cycles: int, seed: int) -> tuple[NDArray[np.bool_], Integers, Integers]:
        """Who is there at the start; then cycle and subscriber of each arrival and departure."""
        columns = _read(self.file) if self.file is not None else {}
        if "cycle" in columns:
            return _listed(columns, n, cycles)
        if columns:
            return _measured(columns, self._law(), n, cycles, seed)
        trace = self._law().trace(n, cycles, seed)
        return trace.up, trace.cycle, trace.subscriber


class Sessions:
    """Subscribers leave and come back by their sessions.

    Parameters
    ----------
    interests : Subscribers
    session, absence, lengths, alpha, file
        As of `SessionSettings`.
    first : int
        The first cycle in which it is due.
    name : str
        Name of the control: names its table and selects its random numbers.
    """

    def __init__(
        self,
        interests: Subscribers,
        session: float = SessionSettings.session,
        absence: float = SessionSettings.absence,
        lengths: Literal["exponential", "pareto"] = SessionSettings.lengths,
        alpha: float = SessionSettings.alpha,
        file: Path | None = None,
        first: int = 0,
        name: str = "sessions",
    ) -> None:
        self.interests, self.first, self.name = interests, first, name
        self.settings = SessionSettings(session, absence, lengths, alpha, file)

    def execute(self, simulation: Simulation) -> Row:
        """Let peers leave at the end of a session, and return at the end of an absence."""
        population, alive = simulation.overlay.population, simulation.overlay.network.alive
        seed = simulation.overlay.seed
        wanted = self.settings.there(len(self.interests.lows), simulation.cycle - self.first, seed)
        mine = np.flatnonzero((alive == 1) & (population.host >= 0) & (population.host < wanted.size))
        is_there = np.zeros(wanted.size, bool)
        is_there[population.host[mine]] = True
        leaving = mine[~wanted[population.host[mine]]]
        coming = np.flatnonzero(wanted & ~is_there)
        depart(simulation, leaving)
        if coming.size:
            lows, highs = self.interests.lows[coming], self.interests.highs[coming]
            enter(simulation, self.name, lows, highs, coming)
        there = int(simulation.overlay.network.alive.sum())
        return {"left": int(leaving.size), "joined": int(coming.size), "there": there}


@cache
def _read(file: Path) -> dict[str, NDArray[Any]]:
    """The columns of a table of sessions, checked."""
    import pyarrow as pa
    from pyarrow import csv

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


def _listed(
    columns: dict[str, NDArray[Any]], n: int, cycles: int
) -> tuple[NDArray[np.bool_], Integers, Integers]:
    """Arrivals and departures, as listed."""
    kind, who = columns["kind"].astype(str), columns["subscriber"].astype(np.int64)
    when = columns["cycle"].astype(np.int64)
    known = (who < n) & (when < cycles)
    start = np.zeros(n, bool) if (kind == "start").any() else np.ones(n, bool)
    start[who[known & (kind == "start")]] = True
    moves = known & np.isin(kind, ["join", "leave"])
    order = np.lexsort((when[moves], who[moves]))
    return start, when[moves][order], who[moves][order]


def _measured(
    columns: dict[str, NDArray[Any]], law: Churn, n: int, cycles: int, seed: int
) -> tuple[NDArray[np.bool_], Integers, Integers]:
    """Visits and absences of measured lengths: each time a random one."""
    visits = columns["session"].astype(float)
    exponential = -law.absence * np.log1p(-(np.arange(1000) + 0.5) / 1000)
    away = columns["absence"].astype(float) if "absence" in columns else np.maximum(exponential, 1.0)
    # At a moment that has nothing to do with them long visits are met more often, anywhere within them.
    met = np.searchsorted(np.cumsum(visits) / visits.sum(), uniforms(seed, "sessions/met", 0, n))
    at = np.floor(visits[np.minimum(met, visits.size - 1)] * uniforms(seed, "sessions/rest", 0, n))
    rows: list[tuple[Integers, Integers]] = []
    number = 0
    while (live := np.flatnonzero(at < cycles)).size:
        rows.append((at[live].astype(np.int64), live))
        number += 1
        lengths = away if number % 2 else visits
        drawn = (uniforms(seed, f"sessions/{number}", 0, n) * lengths.size).astype(np.int64)
        at[live] += np.maximum(np.ceil(lengths[drawn][live]), 1.0)
    nobody = np.zeros(0, np.int64)
    when, who = (np.concatenate(column) for column in zip(*rows, strict=True)) if rows else (nobody, nobody)
    return np.ones(n, bool), when, who
