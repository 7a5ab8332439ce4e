"""One unit of work: one system in one world with one seed, built once and put through all cells.

1. Build: all peers start at once, and the overlay is stepped without faults, for `LEAST` cycles and on while
   the share of probes that reach everybody still rises. Probes, events that are not among those of the cells,
   are published every other cycle. The overlay has *converged* when the mean of `WINDOW` hit ratios of probes
   is first within `TOLERANCE` of the final value. Upkeep is the cost of the last `SETTLED` cycles.
2. Choose: under the faults of the rule, other events are published. Only their hit ratio is kept
   (`choosing_hit_ratio`, `sims.compare.search`), so no cost is measured with the events by which a setting
   was chosen. More expensive settings than two that deliver are left out; settings that do not deliver are
   only in the cells of `FRONTIER`. The system as it is by default is always among the settings shown.
3. Cells: the faults begin, the events are published, and nothing is repaired.
4. Stream, where a rate of events is given: events at random times share the uplinks of all hosts.
5. Heal: a share of `HEAL_CRASHED` crashes, and upkeep continues. The overlay has *healed* when the hit ratio
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
from sims.compare.search import Trial, Tried, search
from sims.compare.worlds import FAULTS, FRONTIER, HEAL_CRASHED, Fault, Rule, World, build_world
from sims.rivals.base.catalogue import entrant
from sims.rivals.base.entrants import Compared, Entrant, Knob, Unable
from sims.rivals.base.system import Publication
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import seeded
from sub2sub.compiled.timing.settings import Timing
from sub2sub.peers.descriptors import event_bytes

LEAST, MOST, SETTLED, HEALING = 30, 120, 10, 24  # cycles
TOLERANCE, EVERY, WINDOW = 0.01, 2, 3
USUAL = Rule()
STARTING = 0.2  # share of a unit's time that its start may take
RISING = 0.05  # share of the probes that reach everybody, over `SETTLED` cycles


STREAM = 200  # events of a stream: those of the cells again and again


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
        self.limit, self.began = seconds, time.process_time()

    def check(self, done: float = 1.0) -> None:
        """Give up over the limit, or if a share that is done shows that the rest will take longer."""
        if time.process_time() - self.began > self.limit * min(done, 1.0):
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
    rule: Rule = USUAL,
    brief: bool = False,
    rate: float = 0.0,
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
        if there.others and not made.open_to_others:
            raise Unable("not run: its publishers match their events")
        made.network.timing = seeded(timing, seed)
        made.overlay.bootstrap()
        measured = Measured(there, made, chosen, rule)
        rows += _build(measured, clock)
        rows += _cells(
            measured, clock, rule.faults if brief else tuple(dict.fromkeys((*FAULTS, *rule.faults)))
        )
        rows += _streams(measured, clock, rate) if rate else []
        rows += [] if brief else _heal(measured, clock)
    except Unable as reason:
        rows.append(Row("", 0.0, 0.0, "unable", np.nan, str(reason)))
    return there.digest(), rows


class Measured:
    """A system in a world, put under its faults."""

    def __init__(self, world: World, system: Compared, entrant: Entrant, rule: Rule = USUAL) -> None:
        self.world, self.system, self.entrant, self.peer = world, system, entrant, system.peer_of
        self.rule, self.cycles = rule, 0

    @property
    def event_size(self) -> int:
        """Bytes of a message with an event: the same for bytes and for milliseconds."""
        timing = self.system.network.timing
        return event_bytes(self.world.d) if timing is None else timing.event_bytes

    def publish(self, events: NDArray[np.int64], fault: Fault, knob: Knob, salt: int) -> Outcome:
        """Publish those of the events that have a publisher under this fault."""
        publishers = self.world.publishers(fault)
        published = events[publishers[events] >= 0]
        settings = self.entrant.at(knob)
        outcome = self.system.publish(published, self.peer[publishers[published]], settings, salt)
        if outcome.unbalanced():
            raise AssertionError(f"{self.entrant.name}: {outcome.unbalanced()} messages unaccounted for")
        return outcome

    def probe(self, fault: Fault, salt: int) -> tuple[float, float]:
        """Hit ratio of the probes, and the share that reaches everybody."""
        network = self.system.network
        timing, network.timing = network.timing, None  # latencies do not change which peers are reached
        try:
            found = self.publish(self.world.probe_events, fault, self.entrant.probe, salt)
        finally:
            network.timing = timing
        return hit_ratio(found), float((found.deliveries >= found.owed).mean()) if found.owed.size else 1.0


def _build(measured: Measured, clock: _Clock) -> Iterator[Row]:
    """Links, upkeep, cycles to converge."""
    world, system = measured.world, measured.system
    if not system.static:
        reached: list[float] = []
        complete: list[float] = []
        messages, sizes, own = [], [], []
        while measured.cycles < LEAST or (measured.cycles < MOST and _rising(complete)):
            measured.cycles += 1
            cost = system.step(measured.cycles)
            messages.append(cost.messages)
            sizes.append(cost.bytes)
            own.append(system.spent())
            if measured.cycles % EVERY == 0:
                hits, whole = measured.probe(Fault(), measured.cycles)
                reached.append(hits)
                complete.append(whole)
            clock.check(STARTING + measured.cycles / LEAST)
        last = float(np.mean(reached[-SETTLED // EVERY :]))
        converged = EVERY * _first_cycle_at(np.array(reached), last)
        yield _row("cycles", measured.cycles, "still rising" if _rising(complete) else "")
        yield _row("converge_cycles", converged)
        yield _row("probe_hit_ratio", last)
        yield _row("probe_complete", float(np.mean(complete[-SETTLED // EVERY :])))
        if not np.isnan(converged):
            yield _row("build_messages.mean", sum(messages[: int(converged)]) / world.n)
        for name, spent in (("upkeep_messages", messages), ("upkeep_bytes", sizes)):
            mean = float(np.mean(spent[-SETTLED:]))
            yield _row(f"{name}.mean", mean / world.n)
            yield _row(f"{name}.total", mean)
        if (timing := system.network.timing) is not None:
            bits = 8 * float(np.mean(sizes[-SETTLED:])) / world.n
            yield _row("upkeep_bits_per_second", bits / timing.cycle)
            yield _row("upkeep_seconds", timing.cycle)
        yield from _upkeep_of_peers([counts for counts in own[-SETTLED:] if counts is not None])
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


def _rising(complete: list[float]) -> bool:
    """Whether more events reach everybody than some time ago."""
    span = SETTLED // EVERY
    before, now = complete[-2 * span : -span], complete[-span:]
    return bool(before) and bool(np.mean(now) - np.mean(before) > RISING)


def _cells(measured: Measured, clock: _Clock, faults: tuple[Fault, ...]) -> Iterator[Row]:
    """Every knob that may be chosen, under every fault; the others under those they were tried with."""
    world, system, knobs, rule = measured.world, measured.system, measured.entrant.knobs, measured.rule
    choices = _choices(measured, clock, salt=5000) if world.choosing else []
    tried = {one.place: one for one in choices}
    for place, one in tried.items():
        found = zip(rule.faults, one.means, one.events, one.variances, strict=True)
        for fault, *values in found:
            for name, value in zip(("hit_ratio", "events", "variance"), values, strict=True):
                yield Row(str(knobs[place]), *fault, f"choosing_{name}", float(value), "")
    for number, fault in enumerate(faults):
        system.fail(world.alive(fault), fault.loss)
        for place, knob in enumerate(knobs):
            # A hopeless knob is measured only for the figure of all knobs; the defaults always are.
            is_hopeless = place in tried and tried[place].hopeless and fault not in (*FRONTIER, *rule.faults)
            if world.choosing and knob and (place not in tried or is_hopeless):
                continue
            outcome = measured.publish(world.events, fault, knob, salt=1000 + 100 * number + place)
            for metric, value in of_cell(outcome, measured.event_size).items():
                yield Row(str(knob), *fault, metric, value, "")
            clock.check()
    system.fail(world.alive(Fault()), 0.0)


def _streams(measured: Measured, clock: _Clock, rate: float) -> Iterator[Row]:
    """What becomes of each knob when events are published at Poisson times, so many a second.

    The busiest uplink is full at the rate at which its copies of the events of a second take a second.
    """
    world, system, fault = measured.world, measured.system, measured.rule.faults[0]
    if not system.streams or system.network.timing is None:
        yield _row("full_rate", np.nan, "its events do not share uplinks")
        return
    events, busy = np.resize(world.events, STREAM), system.network.timing.occupied
    publishers = measured.peer[world.publishers(fault)[events]]
    at = np.cumsum(np.random.default_rng(world.seed).exponential(1000.0 / rate, STREAM))
    system.fail(world.alive(fault), fault.loss)
    for place, knob in enumerate(measured.entrant.knobs):
        asked = Publication(events, publishers, 9000 + place, record=False, at=at)
        try:
            found = system.spread(asked, measured.entrant.at(knob))
        except Unable as reason:
            yield _row("full_rate", np.nan, str(reason))
            break
        assert found.times is not None
        took, until = found.times.summary(), (at + np.nan_to_num(found.times.last)).max()
        cell = {
            "stream_ms_median": took["ms_median"],
            "stream_ms_p99": took["ms_p99"],
            "stream_hit_ratio": hit_ratio(found),
            "goodput": found.deliveries.sum() * measured.event_size / (until - at[0]),
            "full_rate": 1000.0 * STREAM / max(busy * found.forwarded.max(), 1e-9),
        }
        for metric, value in cell.items():
            yield Row(str(knob), *fault, metric, float(value), "")
        clock.check()
    system.fail(world.alive(Fault()), 0.0)


def _choices(measured: Measured, clock: _Clock, salt: int) -> list[Tried]:
    """Find out which knobs may be chosen."""
    knobs, system, rule = measured.entrant.knobs, measured.system, measured.rule

    def publish(place: int, events: NDArray[np.int64]) -> Trial:
        reached, costs, late = [], [], [0.0]
        for fault in rule.faults:
            clock.check()
            system.fail(measured.world.alive(fault), fault.loss)
            outcome = measured.publish(events, fault, knobs[place], salt + place)
            cell = of_cell(outcome, measured.event_size)
            reached.append(hits(outcome))
            costs.append(cell.get(rule.cost, 0.0))
            late.append(cell.get("last_ms_median", 0.0))
        return Trial(reached, float(np.mean(costs)), max(late))

    return search(publish, len(knobs), measured.world.choosing_events, rule)


def _heal(measured: Measured, clock: _Clock) -> Iterator[Row]:
    """Cycles until events get through again."""
    system = measured.system
    if system.static:
        yield _row("heal_cycles", np.nan, system.static)
        return
    fault = Fault(crashed=HEAL_CRASHED)
    before = float(np.mean([measured.probe(Fault(), 2000 + k)[0] for k in range(SETTLED // EVERY)]))
    system.fail(measured.world.alive(fault), 0.0)
    reached, crashed_at = [measured.probe(fault, measured.cycles)[0]], measured.cycles
    for cycle in range(crashed_at + 1, crashed_at + HEALING + 1):
        system.step(cycle)
        if cycle % EVERY == 0:
            reached.append(measured.probe(fault, cycle)[0])
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
