"""Every system in milliseconds: equal latencies are hops, and the counts balance in any network."""

from __future__ import annotations

import numpy as np
import pytest

from sims.compare.unit import Measured
from sims.compare.worlds import Fault
from sims.rivals.base.catalogue import entrant, entrants_of
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.settings import Timing
from tests.sims.compare.worlds import small

CASES = [
    *(("topics", name) for name in entrants_of("topics")),
    *(("ranges power-law-2", name) for name in ("enclosing topic", "exact cover", "meghdoot", "gossipsub")),
]
# Gossip in rounds and heartbeats goes by timers, which fire all at once only where hops are counted; members
# of one host, as those of a cover are, hand events to one another in no time.
APART = ("rfpbcast", "pmcast", "hpmcast", "gossipsub", "exact cover")
EQUAL = Timing(latency="constant", ms=10.0, jitter=0.0, bandwidth=0, tick=10.0)
CYCLES = 12

_built: dict[tuple[str, str], Measured] = {}


def published(world: str, name: str, timing: Timing | None, fault: Fault = Fault(), knob: int = 1) -> Outcome:  # noqa: B008
    """What becomes of the events, on an overlay that was stepped for some cycles."""
    if (world, name) not in _built:
        system = entrant(name).make(small(world).wanted, 1)
        system.overlay.bootstrap()
        for cycle in range(1, CYCLES + 1):
            system.step(cycle)
        _built[world, name] = Measured(small(world), system, entrant(name))
    measured = _built[world, name]
    measured.system.fail(measured.world.alive(fault), fault.loss)
    measured.system.network.timing = timing
    return measured.publish(measured.world.events, fault, measured.entrant.knobs[1:][: knob + 1][-1], salt=1)


@pytest.mark.parametrize(("world", "name"), [case for case in CASES if not case[1].startswith(APART)])
def test_with_equal_latencies_milliseconds_are_hops(world: str, name: str) -> None:
    hops, timed = (published(world, name, timing, knob=0) for timing in (None, EQUAL))
    for what in ("reached", "delivered", "messages", "duplicates", "spam", "failed", "billed"):
        assert np.array_equal(getattr(hops, what), getattr(timed, what)), what
    if not name.startswith("plumtree"):  # one that asks counts pushes in milliseconds, and else the wait too
        assert np.array_equal(hops.hops, timed.hops)
    assert hops.times is None
    assert timed.times is not None
    there = timed.deliveries > 0
    assert np.array_equal(timed.times.last[there], 10.0 * hops.hops[there])


@pytest.mark.parametrize(("world", "name"), CASES)
def test_every_delivery_has_its_time(world: str, name: str) -> None:
    timing = Timing(latency="constant", ms=10.0, bandwidth=1.0)
    found = published(world, name, timing, Fault(loss=0.05, crashed=0.1))
    assert found.unbalanced() == 0
    assert found.times is not None
    assert np.array_equal(np.diff(found.times.offsets), found.deliveries)
    if found.times.ms.size:
        assert found.times.ms.min() >= 10.0 + timing.occupied - 1e-3
    assert (
        found.times.last[found.deliveries > 0] >= 10.0 * np.minimum(found.hops, 1)[found.deliveries > 0]
    ).all()


def test_a_narrow_uplink_slows_a_broker_as_many_times_as_it_has_clients() -> None:
    wide, narrow = (
        published("topics", "broker", Timing(latency="constant", ms=10.0, jitter=0.0, bandwidth=b), knob=0)
        for b in (0.0, 0.08)
    )
    assert wide.times is not None
    assert narrow.times is not None
    # A thousand bytes take 100 ms: one message to the broker, then one after the other.
    expected = 20.0 + 100.0 + 100.0 * narrow.owed
    assert narrow.times.last == pytest.approx(expected)
    assert wide.times.last == pytest.approx(20.0)
