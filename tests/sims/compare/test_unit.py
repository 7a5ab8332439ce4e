"""What a comparison measures while it builds and heals a system, by a system with a script."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sims.compare import unit
from sims.compare.worlds import Fault
from sims.rivals.base.entrants import Traffic

PEERS = 10


class Scripted:
    """Sends 100 + c messages and 10 c bytes in cycle c; what it delivers is a function of cycle and crash."""

    static = ""

    def __init__(self, delivers: Callable[[int, int | None], float]) -> None:
        self.delivers, self.cycle, self.crashed_at = delivers, 0, None
        self.network, self.peer_of = SimpleNamespace(timing=None), np.arange(PEERS)

    def step(self, cycle: int) -> Traffic:
        assert cycle == self.cycle + 1
        self.cycle = cycle
        return Traffic(100 + cycle, 10 * cycle)

    def spent(self) -> tuple[np.ndarray, np.ndarray]:
        return np.full(PEERS, self.cycle), np.full(PEERS, 2 * self.cycle)

    def fail(self, alive: np.ndarray, loss: float) -> None:
        self.crashed_at = self.cycle if alive.sum() < PEERS else None

    def publish(self, *_: Any) -> SimpleNamespace:
        taken = np.array([round(1000 * self.delivers(self.cycle, self.crashed_at))])
        return SimpleNamespace(deliveries=taken, owed=np.array([1000]), unbalanced=lambda: 0)

    def links(self) -> dict[str, np.ndarray]:
        return {"ring": np.full(PEERS, 3), "random": np.arange(PEERS)}

    def memory(self) -> np.ndarray:
        return np.full(PEERS, 64)


NOTHING = SimpleNamespace(probe=None, knobs=(), name="scripted", at=lambda knob: None)


class SmallWorld:
    n, probe_events = PEERS, np.arange(1)

    def publishers(self, fault: Fault) -> np.ndarray:
        return np.zeros(1, np.int64)

    def alive(self, fault: Fault) -> np.ndarray:
        return np.arange(PEERS) >= round(PEERS * fault.crashed)


def rows(phase: Callable[..., Any], delivers: Callable[[int, int | None], float]) -> dict[str, Any]:
    """The rows of a phase, after the phases before it."""
    measured = unit.Measured(SmallWorld(), Scripted(delivers), NOTHING)  # type: ignore[arg-type]
    clock = unit._Clock(600)
    built = list(unit._build(measured, clock))
    chosen = built if phase is unit._build else list(phase(measured, clock))
    return {row.metric: (row.value, row.note) if row.note else row.value for row in chosen}


def test_a_system_has_converged_at_the_first_cycle_from_which_on_it_delivers_as_in_the_end() -> None:
    built = rows(unit._build, lambda cycle, crash: min(1.0, cycle / 20))
    assert (built["converge_cycles"], built["probe_hit_ratio"]) == (20, 1.0)
    assert built["build_messages.mean"] == sum(range(101, 121)) / PEERS


def test_upkeep_is_that_of_the_last_ten_cycles() -> None:
    built = rows(unit._build, lambda cycle, crash: 1.0)
    mean = np.mean(range(21, 31))
    assert built["upkeep_messages.total"] == 100 + mean
    assert built["upkeep_messages.mean"] == (100 + mean) / PEERS
    assert (built["upkeep_bytes.total"], built["upkeep_bytes.mean"]) == (10 * mean, mean)
    assert (built["upkeep_messages.median"], built["upkeep_bytes.p99"]) == (mean, 2 * mean)


def test_an_overlay_is_stepped_on_while_more_events_reach_everybody() -> None:
    """After 30 cycles a rising share is no state to measure; without an end there is one."""
    late = rows(unit._build, lambda cycle, crash: 1.0 if cycle > 36 else 0.99)
    assert late["cycles"] == 30.0  # nothing rises yet
    rising = rows(unit._build, lambda cycle, crash: 1.0 if cycle > 24 else 0.99)
    assert rising["cycles"] == 44.0
    assert rising["upkeep_messages.total"] == 100 + np.mean(range(35, 45))
    assert rising["probe_complete"] == 1.0


def test_links_are_those_of_all_kinds_together() -> None:
    built = rows(unit._build, lambda cycle, crash: 1.0)
    assert (built["links ring.mean"], built["links random.max"], built["links.max"]) == (3.0, 9.0, 12.0)
    assert built["memory_bytes.total"] == 64.0 * PEERS


def test_one_good_probe_among_bad_ones_is_no_convergence() -> None:
    built = rows(unit._build, lambda cycle, crash: 1.0 if cycle == 4 or cycle > 10 else 0.2)
    assert built["converge_cycles"] == 12


@pytest.mark.parametrize("repaired", [0, 2, 6, 14])
def test_a_system_has_healed_so_many_cycles_after_the_crash_as_it_needs(repaired: int) -> None:
    def delivers(cycle: int, crash: int | None) -> float:
        return 1.0 if crash is None or cycle >= crash + repaired else 0.5

    healed = rows(unit._heal, delivers)
    assert (healed["heal_cycles"], healed["healed_hit_ratio"]) == (repaired, 1.0)


def test_a_system_that_does_not_heal_has_no_cycles_but_a_note() -> None:
    healed = rows(unit._heal, lambda cycle, crash: 1.0 if crash is None else 0.9)
    value, note = healed["heal_cycles"]
    assert np.isnan(value)
    assert note == "not within 24 cycles"
    assert healed["healed_hit_ratio"] == pytest.approx(0.9)


def test_healed_means_as_before_the_crash_and_not_delivering_all() -> None:
    healed = rows(unit._heal, lambda cycle, crash: 0.8 if crash is None or cycle >= crash + 4 else 0.1)
    assert healed["heal_cycles"] == 4


def test_a_unit_whose_first_cycles_take_too_long_is_given_up_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the processor's time is a second later: 30 cycles would take more than 20 of them."""
    seconds = iter(range(1000))
    monkeypatch.setattr(unit.time, "process_time", lambda: float(next(seconds)))
    _, rows = unit.measure("topics", "broadcast", seed=1, n=30, events=2, probes=1, seconds=20.0)
    assert [(row.metric, row.note) for row in rows] == [("unable", "not run: over the limit of 20 s")]
    left = next(seconds)
    assert 10 < left < 20
    _, rows = unit.measure("topics", "broadcast", seed=1, n=30, events=2, probes=1, seconds=1000.0)
    assert "unable" not in {row.metric for row in rows}
