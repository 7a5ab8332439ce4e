"""One unit of work: one system in one world with one seed, built once and put through all cells.

1. Build: all peers start at once, and the overlay is stepped for `CYCLES` cycles without faults. Probes,
   events that are not among those of the cells, are published every other cycle. The overlay has *converged*
   when the mean of `WINDOW` hit ratios of probes is first within `TOLERANCE` of the final value. Upkeep is
   the cost of the last `SETTLED` cycles.
2. Choose: under the fault for which working points are chosen, other events are published. Only their hit
   ratio is kept (`choosing_hit_ratio`, `sims.compare.search`), so no cost is measured with the events by
   which a setting was chosen. More expensive settings than two that deliver are left out; settings that do
   not deliver are only in the cells of `FRONTIER`.
3. Cells: the faults begin, the events are published, and nothing is repaired.
4. Heal: a share of `HEAL_CRASHED` crashes, and upkeep continues. The overlay has *healed* when the hit ratio
   of probes is within `TOLERANCE` of the value before the crash. The measure is the same for all systems and
   does not use their links.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.compare.metrics import hit_ratio, hits, of_cell, per_peer
from sims.compare.search import Tried, search
from sims.compare.worlds import FAULTS, FRONTIER, HEAL_CRASHED, WORKING, Fault, World, build_world
from sims.rivals.base.catalogue import entrant
from sims.rivals.base.entrants import Compared, Entrant, Knob, Unable
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import seeded
from sub2sub.compiled.timing.settings import Timing

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
    """The limit of a unit's processor time."""

    def __init__(self, seconds: float) -> None:
        self.limit, self.ends = seconds, time.process_time() + seconds

    def check(self) -> None:
        if time.process_time() > self.ends:
            raise Unable(f"not run: over the limit of {self.limit:g} s")


def measure(
    world: str,
    system: str,
    seed: int,
    n: int,
    events: int,
    probes: int,
    seconds: float = 600.0,
    choosing: int = 0,
    timing: Timing | None = None,
) -> tuple[str, list[Row]]:
    """All cells of one system; the fingerprint of the world it saw, and the values.

    Examples
    --------
    >>> digest, rows = measure("topics", "broadcast", seed=1, n=200, events=5, probes=5)
    >>> {row.metric: round(row.value, 3) for row in rows if row.metric == "upkeep_messages.mean"}
    {'upkeep_messages.mean': 2.0}
    """
    there = build_world(world, n, events, probes, seed, choosing)
    clock = _Clock(seconds)
    rows: list[Row] = []
    try:
        chosen = entrant(system)
        made = chosen.make(there.wanted, seed)
        made.network.timing = seeded(timing, seed)
        made.overlay.bootstrap()
        measured = Measured(there, made, chosen)
        rows += _build(measured, clock)
        rows += _cells(measured, clock)
        rows += _heal(measured, clock)
    except Unable as reason:
        rows.append(Row("", 0.0, 0.0, "unable", np.nan, str(reason)))
    return there.digest(), rows


class Measured:
    """A system in a world, put under its faults."""

    def __init__(self, world: World, system: Compared, entrant: Entrant) -> None:
        self.world, self.system, self.entrant, self.peer = world, system, entrant, system.peer_of

    def publish(self, events: NDArray[np.int64], fault: Fault, knob: Knob, salt: int) -> Outcome:
        """Publish those of the events that have a publisher under this fault."""
        publishers = self.world.publishers(fault)
        published = events[publishers[events] >= 0]
        settings = self.entrant.at(knob)
        outcome = self.system.publish(published, self.peer[publishers[published]], settings, salt)
        if outcome.unbalanced():
            raise AssertionError(f"{self.entrant.name}: {outcome.unbalanced()} messages unaccounted for")
        return outcome

    def probe(self, fault: Fault, salt: int) -> float:
        """Hit ratio of the probes."""
        network = self.system.network
        timing, network.timing = network.timing, None  # latencies do not change which peers are reached
        try:
            return hit_ratio(self.publish(self.world.probe_events, fault, self.entrant.probe, salt))
        finally:
            network.timing = timing


def _build(measured: Measured, clock: _Clock) -> Iterator[Row]:
    """Links, upkeep, cycles to converge."""
    world, system = measured.world, measured.system
    if not system.static:
        reached, messages, sizes, own = [], [], [], []
        for cycle in range(1, CYCLES + 1):
            cost = system.step(cycle)
            messages.append(cost.messages)
            sizes.append(cost.bytes)
            own.append(system.spent() if cycle > CYCLES - SETTLED else None)
            if cycle % EVERY == 0:
                reached.append(measured.probe(Fault(), cycle))
            clock.check()
        last = float(np.mean(reached[-SETTLED // EVERY :]))
        converged = EVERY * _first_cycle_at(np.array(reached), last)
        yield _row("converge_cycles", converged)
        yield _row("probe_hit_ratio", last)
        if not np.isnan(converged):
            yield _row("build_messages.mean", sum(messages[: int(converged)]) / world.n)
        for name, spent in (("upkeep_messages", messages), ("upkeep_bytes", sizes)):
            mean = float(np.mean(spent[-SETTLED:]))
            yield _row(f"{name}.mean", mean / world.n)
            yield _row(f"{name}.total", mean)
        if (timing := system.network.timing) is not None:
            bits = 8 * float(np.mean(sizes[-SETTLED:])) / world.n
            yield _row("upkeep_bits_per_second", bits / timing.cycle)
        yield from _upkeep_of_peers([counts for counts in own if counts is not None])
    else:
        for metric in ("converge_cycles", "build_messages.mean", "upkeep_messages.mean", "upkeep_bytes.mean"):
            yield _row(metric, np.nan, system.static)
    kinds = {f"links {kind}": count for kind, count in system.links().items()}
    counted = {**kinds, "links": np.sum(list(kinds.values()), axis=0), "memory_bytes": system.memory()}
    for name, count in counted.items():
        yield from (_row(*item) for item in per_peer(name, count.astype(float)).items())


def _upkeep_of_peers(counted: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Iterator[Row]:
    """How upkeep is spread over the subscribers, where layers count it; the mean is that of all messages."""
    if not counted:
        return
    for k, name in enumerate(("upkeep_messages", "upkeep_bytes")):
        mean = np.mean([each[k] for each in counted], axis=0)
        for metric, value in per_peer(name, mean).items():
            if not metric.endswith((".mean", ".total")):
                yield _row(metric, value)


def _cells(measured: Measured, clock: _Clock) -> Iterator[Row]:
    """Every knob that may be chosen, under every fault; the others under those they were tried with."""
    world, system = measured.world, measured.system
    choices = _choices(measured, clock, salt=5000) if world.choosing else []
    tried = {one.place: one for one in choices}
    for place, one in tried.items():
        chosen = {"hit_ratio": one.mean, "events": float(one.hits.size), "variance": one.variance}
        for name, value in chosen.items():
            yield Row(str(measured.entrant.knobs[place]), *WORKING, f"choosing_{name}", value, "")
    for number, fault in enumerate(FAULTS):
        system.fail(world.alive(fault), fault.loss)
        for place, knob in enumerate(measured.entrant.knobs):
            # A hopeless knob is measured only for the figure of all knobs.
            is_hopeless = place in tried and tried[place].hopeless and fault not in FRONTIER
            if world.choosing and (place not in tried or is_hopeless):
                continue
            outcome = measured.publish(world.events, fault, knob, salt=1000 + 100 * number + place)
            for metric, value in of_cell(outcome, measured.peer, world.d).items():
                yield Row(str(knob), fault.loss, fault.crashed, metric, value, "")
            clock.check()
    system.fail(world.alive(Fault()), 0.0)


def _choices(measured: Measured, clock: _Clock, salt: int) -> list[Tried]:
    """Find out which knobs may be chosen."""
    knobs = measured.entrant.knobs
    measured.system.fail(measured.world.alive(WORKING), WORKING.loss)

    def publish(place: int, events: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
        clock.check()
        found = measured.publish(events, WORKING, knobs[place], salt + place)
        return hits(found), float(found.billed.mean()) if found.billed.size else 0.0

    return search(publish, len(knobs), measured.world.choosing_events)


def _heal(measured: Measured, clock: _Clock) -> Iterator[Row]:
    """Cycles until events get through again."""
    system = measured.system
    if system.static:
        yield _row("heal_cycles", np.nan, system.static)
        return
    fault = Fault(crashed=HEAL_CRASHED)
    before = float(np.mean([measured.probe(Fault(), 2000 + k) for k in range(SETTLED // EVERY)]))
    system.fail(measured.world.alive(fault), 0.0)
    reached = [measured.probe(fault, CYCLES)]
    for cycle in range(CYCLES + 1, CYCLES + HEALING + 1):
        system.step(cycle)
        if cycle % EVERY == 0:
            reached.append(measured.probe(fault, cycle))
        clock.check()
        if not np.isnan(_first_cycle_at(np.array(reached[: -SETTLED // EVERY]), before)):
            break  # it had healed a while ago, and was followed since
    # The first value is that right after the crash.
    healed = EVERY * (_first_cycle_at(np.array(reached), before) - 1)
    note = f"not within {HEALING} cycles" if np.isnan(healed) else ""
    yield _row("heal_cycles", healed, note)
    if system.network.timing is not None:
        yield _row("heal_seconds", healed * system.network.timing.cycle)
    yield _row("healed_hit_ratio", float(np.mean(reached[-SETTLED // EVERY :])))


def _first_cycle_at(reached: np.ndarray, level: float) -> float:
    """The first value, counted from 1, from which on a mean is near the level or above; NaN for none."""
    if reached.size < WINDOW:
        return float("nan")
    means = np.convolve(reached, np.full(WINDOW, 1 / WINDOW), mode="valid")
    enough = np.flatnonzero(means >= level - TOLERANCE)
    return float(enough[0] + 1) if enough.size else float("nan")


def _row(metric: str, value: float, note: str = "") -> Row:
    return Row("", 0.0, 0.0, metric, value, note)
