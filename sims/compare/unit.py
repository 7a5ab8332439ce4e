"""One unit of work: one system in one world with one seed, built once and put through all cells.

Built: everybody starts at once and the overlay is stepped for `CYCLES` cycles without faults; probes, events
that are not among those of the cells, are published every other cycle. It has *converged* when their hit
ratio, as a mean of `WINDOW` times, is for the first time within `TOLERANCE` of what it is in the end. Upkeep
is what the last `SETTLED` cycles cost. Cells: faults begin, the events are published, nothing is repaired.
*Healed*: a share of `HEAL_CRASHED` crashes, upkeep goes on, and after so many cycles the probes' hit ratio is
back within `TOLERANCE` of what it was before. The same measure for all: nobody's links are looked into.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sims.compare.metrics import of_cell, per_peer
from sims.compare.systems.catalogue import system_named
from sims.compare.systems.system import System, Unable
from sims.compare.tally import DELIVERED, MATCHES
from sims.compare.worlds import FAULTS, HEAL_CRASHED, Fault, World, build_world

__all__ = ["CYCLES", "Row", "measure"]

CYCLES, SETTLED, HEALING = 30, 10, 24
TOLERANCE, EVERY, WINDOW = 0.01, 2, 3


class Row(NamedTuple):
    """One value, or why there is none."""

    knob: str
    loss: float
    crashed: float
    metric: str
    value: float
    note: str


class _Clock:
    """Says when a unit has taken longer than it may."""

    def __init__(self, seconds: float) -> None:
        self.limit, self.ends = seconds, time.monotonic() + seconds

    def check(self) -> None:
        """Stop here if the time is over."""
        if time.monotonic() > self.ends:
            raise Unable(f"not run: over the limit of {self.limit:g} s")


def measure(
    world: str, system: str, seed: int, n: int, events: int, probes: int, seconds: float = 600.0
) -> tuple[str, list[Row]]:
    """All cells of one system; the fingerprint of the world it saw, and the values.

    Examples
    --------
    >>> digest, rows = measure("topics", "broadcast", seed=1, n=200, events=5, probes=5)
    >>> {row.metric: round(row.value, 3) for row in rows if row.metric == "upkeep_messages.mean"}
    {'upkeep_messages.mean': 2.0}
    """
    there = build_world(world, n, events, probes, seed)
    clock = _Clock(seconds)
    rows: list[Row] = []
    try:
        made = system_named(system)(there, seed)
        rows += _build(made, clock)
        rows += _cells(made, clock)
        rows += _heal(made, clock)
    except Unable as reason:
        rows.append(Row("", 0.0, 0.0, "unable", np.nan, str(reason)))
    return there.digest(), rows


def _build(system: System, clock: _Clock) -> Iterator[Row]:
    """Links, upkeep, cycles to converge."""
    world = system.world
    if not system.static:
        hits, messages, sizes = [], [], []
        for cycle in range(1, CYCLES + 1):
            cost = system.step(cycle)
            messages.append(cost.messages)
            sizes.append(cost.bytes)
            if cycle % EVERY == 0:
                hits.append(_probe(system, Fault(), cycle))
            clock.check()
        last = float(np.mean(hits[-SETTLED // EVERY :]))
        converged = EVERY * _settled(np.array(hits), last)
        yield _row("converge_cycles", converged)
        yield _row("probe_hit_ratio", last)
        if not np.isnan(converged):
            yield _row("build_messages.mean", sum(messages[: int(converged)]) / world.n)
        for name, spent in (("upkeep_messages", messages), ("upkeep_bytes", sizes)):
            mean = float(np.mean(spent[-SETTLED:]))
            yield _row(f"{name}.mean", mean / world.n)
            yield _row(f"{name}.total", mean)
    else:
        for metric in ("converge_cycles", "build_messages.mean", "upkeep_messages.mean", "upkeep_bytes.mean"):
            yield _row(metric, np.nan, system.static)
    kinds = system.links()
    for kind, count in kinds.items():
        yield from (_row(*item) for item in per_peer(f"links {kind}", count.astype(float)).items())
    total = np.sum(list(kinds.values()), axis=0).astype(float)
    yield from (_row(*item) for item in per_peer("links", total).items())


def _cells(system: System, clock: _Clock) -> Iterator[Row]:
    """Every knob under every fault."""
    world = system.world
    for number, fault in enumerate(FAULTS):
        publishers = world.publishers(fault)
        published = world.events[publishers[world.events] >= 0]
        system.fail(world.alive(fault), fault.loss)
        for place, knob in enumerate(system.knobs):
            tally = system.publish(published, publishers[published], knob, salt=1000 + 100 * number + place)
            if tally.unbalanced():
                raise AssertionError(f"{system.name}: {tally.unbalanced()} messages unaccounted for")
            for metric, value in of_cell(tally, world.d).items():
                yield Row(str(knob), fault.loss, fault.crashed, metric, value, "")
            clock.check()
    system.fail(world.alive(Fault()), 0.0)


def _heal(system: System, clock: _Clock) -> Iterator[Row]:
    """Cycles until events get through again."""
    if system.static:
        yield _row("heal_cycles", np.nan, system.static)
        return
    fault = Fault(crashed=HEAL_CRASHED)
    before = float(np.mean([_probe(system, Fault(), 2000 + k) for k in range(SETTLED // EVERY)]))
    system.fail(system.world.alive(fault), 0.0)
    hits = [_probe(system, fault, CYCLES)]
    for cycle in range(CYCLES + 1, CYCLES + HEALING + 1):
        system.step(cycle)
        if cycle % EVERY == 0:
            hits.append(_probe(system, fault, cycle))
        clock.check()
    healed = EVERY * (_settled(np.array(hits), before) - 1)  # the first value is that right after the crash
    note = f"not within {HEALING} cycles" if np.isnan(healed) else ""
    yield _row("heal_cycles", healed, note)
    yield _row("healed_hit_ratio", float(np.mean(hits[-SETTLED // EVERY :])))


def _probe(system: System, fault: Fault, salt: int) -> float:
    """Hit ratio of the probes."""
    world: World = system.world
    publishers = world.publishers(fault)
    published = world.probe_events[publishers[world.probe_events] >= 0]
    events = system.publish(published, publishers[published], system.usual, salt).events
    return float((events[:, DELIVERED] / events[:, MATCHES]).mean()) if len(events) else 1.0


def _settled(hits: np.ndarray, level: float) -> float:
    """The first value, counted from 1, from which on a mean is near the level or above; NaN for none."""
    means = np.convolve(hits, np.full(WINDOW, 1 / WINDOW), mode="valid")
    enough = np.flatnonzero(means >= level - TOLERANCE)
    return float(enough[0] + 1) if enough.size else float("nan")


def _row(metric: str, value: float, note: str = "") -> Row:
    return Row("", 0.0, 0.0, metric, value, note)
