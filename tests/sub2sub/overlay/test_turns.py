"""Exchanges in waves have the same result as one after the other, with any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sub2sub import Overlay, Population
from sub2sub.compiled.common import turns
from sub2sub.compiled.common.threads import share_out, threads, use_threads
from sub2sub.compiled.common.turns import NOBODY, exchange_in_waves, waves


@st.composite
def choices(draw: st.DrawFn) -> NDArray[np.int32]:
    """Partners of up to thirty peers; many choose the same few."""
    n = draw(st.integers(2, 30))
    popular = draw(st.integers(1, n))
    partner = st.one_of(st.just(NOBODY), st.integers(0, popular - 1))
    chosen = draw(st.lists(partner, min_size=n, max_size=n))
    return np.array([NOBODY if j == i else j for i, j in enumerate(chosen)], np.int32)


@given(choices(), st.integers(1, 6))
def test_no_two_exchanges_of_a_wave_share_a_peer_and_those_that_do_keep_their_order(
    partner: NDArray[np.int32], most: int
) -> None:
    order, bounds = waves(partner, most)
    assert sorted(order.tolist()) == [i for i, j in enumerate(partner) if j != NOBODY]
    wave_of = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
    place = {int(i): k for k, i in enumerate(order)}
    for i, k in place.items():
        for other, later in place.items():
            shared = {i, int(partner[i])} & {other, int(partner[other])}
            if i < other and shared:
                assert k < later
                assert (
                    wave_of[k] < wave_of[later] or wave_of[k] == most - 1
                )  # the last holds leftovers, in order


@pytest.fixture(params=[1, 2, 3])
def several(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    before = threads()
    use_threads(request.param)
    monkeypatch.setattr(turns, "FEW", 0)
    monkeypatch.setattr(turns, "WORTH", 16.0)
    yield request.param
    use_threads(before)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_sums_along_exchanges_are_those_of_one_after_the_other(several: int, data: st.DataObject) -> None:
    partner = data.draw(choices())
    expected, found = np.arange(partner.size), np.arange(partner.size)

    def add(values: NDArray[np.int64], i: int) -> None:
        values[i], values[partner[i]] = 3 * values[i] + values[partner[i]], values[i] - 5 * values[partner[i]]

    def work(thread: int, peers: NDArray[np.int32]) -> int:
        assert 0 <= thread < several
        for i in peers[:2]:  # stops after two, as if for lack of space
            add(found, int(i))
        return min(peers.size, 2)

    for i in np.flatnonzero(partner >= 0):
        add(expected, int(i))
    exchange_in_waves(partner, work, lambda: None)
    assert found.tolist() == expected.tolist()


def history_of_an_overlay() -> dict[str, list[int]]:
    """Sums of all views through joins, a crash, loss and changes."""
    rng = np.random.default_rng(1)
    lows = rng.random((1500, 2)) * 0.8
    people = Population.of(lows, lows + rng.random((1500, 2)) * 0.2, spare=100, seed=3)
    overlay = Overlay(people, seed=3)
    overlay.bootstrap()
    seen: dict[str, list[int]] = {}
    for cycle in range(1, 15):
        if cycle == 6:
            overlay.network.alive[::7] = 0
        overlay.network.loss = 0.1 if cycle > 8 else 0.0
        costs = overlay.step(cycle)
        for layer in overlay.layers:
            seen.setdefault(layer.name, []).extend(int(value) for value in costs[layer.name].values())
            if layer.name in ("cyclon", "vicinity", "ring"):
                holders, peers, stamps = layer.links()
                words = (holders * 1_000_003 + peers * 1009 + stamps).astype(np.uint64)
                seen[layer.name].append(int((words * words).sum()))
    return seen


def test_an_overlay_does_not_depend_on_the_number_of_threads(several: int) -> None:
    found = history_of_an_overlay()
    use_threads(1)
    assert found == history_of_an_overlay()


def test_a_task_that_fails_is_reported(several: int) -> None:
    def work(thread: int, first: int, last: int) -> int:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        share_out(work, [(0, 10)], least=1)


def test_work_that_is_shared_out_again_is_done_by_the_thread_that_has_it(several: int) -> None:
    done: list[tuple[int, int, int]] = []

    def inner(thread: int, first: int, last: int) -> int:
        done.append((thread, first, last))
        return last

    def outer(thread: int, first: int, last: int) -> int:
        share_out(inner, [(first, last)], least=1)
        return last

    share_out(outer, [(0, 40)], least=1)
    assert {thread for thread, _, _ in done} == {0}
    assert sorted(k for _, first, last in done for k in range(first, last)) == list(range(40))


def test_a_number_of_threads_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="threads: expected 1 or more, got 0"):
        use_threads(0)
