"""How long messages take: each model follows its settings, and latencies depend on pairs of hosts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sub2sub.compiled.timing.latency import Clock, latency, next_beat, seeded, travel
from sub2sub.compiled.timing.settings import Timing
from sub2sub.errors import InputError

HALF = np.uint64(1 << 63)  # the bits of one half


def sample(timing: Timing, n: int = 120) -> np.ndarray:
    """Latencies of all pairs, without jitter."""
    clock = Clock.of(timing, np.arange(n))
    return np.array([[latency(clock, a, b, np.uint64(0)) for b in range(n)] for a in range(n)])


@pytest.mark.parametrize(
    "timing",
    [Timing(latency="uniform"), Timing(), Timing(latency="sphere"), Timing(latency="constant")],
    ids=lambda timing: timing.latency,
)
def test_a_pair_takes_the_same_both_ways_and_a_host_nothing(timing: Timing) -> None:
    found = sample(timing, 20)
    assert np.array_equal(found, found.T)
    assert not found.diagonal().any()
    assert (found[~np.eye(20, dtype=bool)] > 0).all()


def test_latencies_are_distributed_as_the_settings_say() -> None:
    apart = ~np.eye(120, dtype=bool)
    uniform = sample(Timing(latency="uniform", ms=40.0, spread=0.5))[apart]
    assert 20.0 <= uniform.min() < 21.0 < 59.0 < uniform.max() <= 60.0
    assert uniform.mean() == pytest.approx(40.0, rel=0.02)
    logs = np.log(sample(Timing(ms=40.0, spread=0.5))[apart])
    assert np.exp(np.median(logs)) == pytest.approx(40.0, rel=0.05)
    assert logs.std() == pytest.approx(0.5, rel=0.05)
    # Two random places on a sphere are a quarter of its girth apart, in the mean.
    sphere = sample(Timing(latency="sphere", ms=5.0, speed=100.0))[apart]
    assert sphere.mean() == pytest.approx(5.0 + 6371.0 * np.pi / 2 / 100.0, rel=0.05)
    assert sphere.max() < 5.0 + 6371.0 * np.pi / 100.0


def test_jitter_adds_its_share_at_most() -> None:
    clock = Clock.of(Timing(latency="constant", ms=40.0, jitter=0.5), np.arange(2))
    assert latency(clock, 0, 1, np.uint64(0)) == 40.0
    assert latency(clock, 0, 1, HALF) == 50.0
    assert latency(clock, 0, 1, np.uint64(2**64 - 1)) == pytest.approx(60.0)


def test_a_place_is_the_hosts_whoever_runs_there() -> None:
    """Members at the same two hosts are as far apart in a system with two members a host as in any other."""
    one, two = Clock.of(Timing(), np.arange(4)), Clock.of(Timing(), np.array([3, 2, 2, 0, -1, 1, -1]))
    zero = np.uint64(0)
    assert latency(one, 3, 2, zero) == latency(two, 0, 1, zero) == latency(two, 2, 0, zero)
    assert latency(two, 1, 2, zero) == 0.0
    assert latency(two, 4, 6, zero) > 0.0  # those without a host are alone
    other = Clock.of(seeded(Timing(), 1), np.arange(4))
    assert latency(other, 3, 2, zero) != latency(one, 3, 2, zero)


def test_regions_are_read_from_a_file_and_dealt_by_their_shares(tmp_path: Path) -> None:
    file = tmp_path / "regions.csv"
    file.write_text("region,share,east,west\neast,3,1,40\nwest,1,50,2\n")
    clock = Clock.of(Timing(latency="regions", regions=file, jitter=0.0), np.arange(4000))
    west = np.flatnonzero(clock.region)
    assert len(west) == pytest.approx(1000, abs=120)
    east = np.flatnonzero(clock.region == 0)
    found = [
        latency(clock, *pair, HALF) for pair in ((east[0], west[0]), (west[0], east[0]), (west[0], west[1]))
    ]
    assert found == [40.0, 50.0, 2.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("region,a,b\na,1,2\n", "expected rows a, b in this order"),
        ("region,a,b\na,1,2\nb,1\n", "row b: expected 2 numbers of at least 0"),
        ("region,a,b\na,1,2\nb,1,-3\n", "row b: expected 2 numbers of at least 0"),
        ("region,a,a\na,1,2\na,1,2\n", "all different"),
        ("region,share,a\na,0,1\n", "share above 0"),
    ],
)
def test_a_wrong_file_of_regions_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "regions.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        Clock.of(Timing(latency="regions", regions=file), np.arange(3))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"latency": "quick"}, {"ms": -1.0}, {"jitter": float("inf")}, {"tick": 0.0}, {"speed": 0.0},
        {"latency": "uniform", "spread": 1.5}, {"latency": "regions"}, {"regions": Path("a.csv")},
        {"cycle": float("nan")},
    ],
)  # fmt: skip
def test_settings_outside_their_domain_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match=r"^network\."):
        Timing(**wrong)


def test_a_copy_that_is_sent_again_waits_three_ticks_each_time() -> None:
    clock = Clock.of(Timing(latency="constant", ms=40.0, jitter=0.0, tick=10.0), np.arange(2))
    assert [travel(clock, 0, 1, waited, np.uint64(5)) for waited in range(3)] == [40.0, 70.0, 100.0]


def test_timers_fire_every_period_and_not_all_at_once() -> None:
    clock = Clock.of(Timing(tick=100.0), np.arange(50))
    first = [next_beat(clock, member, 1000.0, 2) for member in range(50)]
    assert all(1000.0 < beat <= 1200.0 for beat in first)
    assert len(set(first)) == 50
    later = [next_beat(clock, member, first[member] + 0.001, 2) for member in range(50)]
    assert later == pytest.approx([beat + 200.0 for beat in first])
    assert next_beat(Clock.of(None, np.arange(1)), 0, 5.0, 4) == 8.0  # hops
