from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierarchy.analysis import latency, memory, reliability, traffic, tuning
from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters
from sub2sub.errors import InputError

levels = st.integers(1, 10)
pits = st.floats(0.9, 1.0, exclude_min=True)
shares = st.floats(0.0, 0.999)


@given(levels, pits, shares)
def test_tuned_to_broadcast_the_reliability_is_the_same(x, pit, share) -> None:
    low, high = tuning.range_broadcast(x, pit)
    if low < high:
        c = low + share * (min(high, 20) - low)
        tuned = tuning.like_broadcast(c, x, pit, n=1000, n_t=100)
        assert reliability.camcast_as_printed(tuned.c, [pit] * x) == pytest.approx(reliability.broadcast(c))
        assert memory.camcast(100, tuned.c) + tuned.largest_z == pytest.approx(memory.broadcast(1000, c))


@given(levels, pits, shares)
def test_tuned_to_multicast_the_reliability_is_the_same(x, pit, share) -> None:
    low, high = tuning.range_multicast(pit)
    c = low + share * (min(high, 20) - low)
    tuned = tuning.like_multicast(c, x, pit, n_t=100)
    assert reliability.camcast_as_printed(tuned.c, [pit] * x) == pytest.approx(reliability.multicast(c, x))
    assert memory.camcast(100, tuned.c) + tuned.largest_z == pytest.approx(memory.multicast([100] * x, c))


@given(levels, pits, shares, st.integers(1, 100))
def test_tuned_to_hierarchical_broadcast_the_reliability_is_the_same(x, pit, share, groups) -> None:
    low, high = tuning.range_hierarchical(x, pit, groups)
    c = max(low, 0) + share * (min(high, 20) - max(low, 0))
    if not low <= c < high:
        return
    tuned = tuning.like_hierarchical(c, x, pit, groups)
    assert tuned.c >= -1e-9
    if tuned.c >= 0:
        assert reliability.camcast_as_printed(tuned.c, [pit] * x) == pytest.approx(
            reliability.hierarchical(groups, c, c)
        )
    assert memory.camcast(50, max(tuned.c, 0)) + tuned.largest_z == pytest.approx(
        memory.hierarchical(groups, 50, c, c)
    )


def test_with_one_topic_camcast_is_plain_gossip() -> None:
    assert traffic.camcast([500], 5, 0.1, 0.3, 3) == traffic.broadcast(500, 5)
    assert reliability.camcast(5, []) == reliability.broadcast(5)
    assert memory.camcast(500, 5) == memory.broadcast(500, 5)


def test_latencies_are_ordered() -> None:
    sizes = [1000, 100, 10]
    assert latency.best(sizes) < latency.average(sizes) < latency.worst(sizes)


def test_the_simulated_messages_and_reliability_are_those_of_the_formulas() -> None:
    """One community of 1000, no loss: the asymptotic formulas are close already."""
    group = Communities.chain(1000)
    settings = TopicSettings(c=2.0)
    static, params = StaticTables(group, settings), parameters(group.sizes, settings)
    spreads = [disseminate(static.draw(1, run), params, 0, seed=1, event=run) for run in range(400)]
    targets = int(params.fanout[0])
    c = targets - log(1000)
    everybody = np.mean([s.delivered[0] == 1000 for s in spreads])
    assert everybody == pytest.approx(reliability.gossip(c), abs=0.06)  # two standard errors are 0.05
    assert np.mean([s.sent[0] for s in spreads]) == pytest.approx(1000 * targets, rel=0.01)
    assert targets <= log(1000) + 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: traffic.within(0, 5), "n: expected a number of processes not below 1, got 0"),
        (lambda: traffic.within(float("nan"), 5), "n: expected a number of processes"),
        (lambda: traffic.upward(10, 2.0, 0.5, 3), "p_sel: expected a probability, got 2.0"),
        (
            lambda: traffic.camcast([10, 10], [5], 0.1, 0.1, 3),
            "c: expected one value or one for each of the 2",
        ),
        (lambda: traffic.within(10, -3), r"ln n \+ c: expected a number not below 0"),
        (lambda: traffic.camcast([9, 9], [5, 1e999], 0.1, 0.1, 3), r"c\[1\]: expected a finite number"),
        (lambda: latency.rounds(2), "n: expected more than e"),
        (lambda: latency.best([]), "sizes: expected at least one community"),
        (lambda: reliability.gossip(float("inf")), "c: expected a finite number"),
        (lambda: tuning.like_broadcast(-1, 3, 0.99, 1000, 100), "c: expected a number from 0 to below"),
        (lambda: tuning.like_broadcast(9, 3, 0.99, 1000, 100), "which CAMCAST can match, got 9"),
        (lambda: tuning.range_multicast(0.0), "pit: expected a probability above 0, got 0.0"),
    ],
)
def test_parameters_outside_the_domain_are_refused(call, message) -> None:
    with pytest.raises(InputError, match=message):
        call()
