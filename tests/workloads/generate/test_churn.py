"""Churn traces alternate, have the stated means, and do not depend on which other subscribers are drawn."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from sub2sub.errors import InputError
from workloads.generate.churn import CHANGE, JOIN, LEAVE, Churn, Trace, changed
from workloads.generate.churn_table import churn_table


def states(trace: Trace, n: int, cycles: int) -> np.ndarray:
    """Who is up after each cycle, (cycles, n), replayed move by move; refuses impossible moves."""
    up, out = trace.up.copy(), []
    for cycle in range(cycles):
        rows = trace.cycle == cycle
        who = trace.subscriber[rows]
        assert len(np.unique(who)) == len(who), "one thing a cycle"
        for subscriber, kind in zip(who.tolist(), trace.kind[rows].tolist(), strict=True):
            assert up[subscriber] == (kind != JOIN)
            if kind != CHANGE:
                up[subscriber] = kind == JOIN
        out.append(up.copy())
    return np.array(out)


@settings(max_examples=20, deadline=None)
@given(
    session=st.floats(1, 30),
    absence=st.floats(1, 30),
    lengths=st.sampled_from(["exponential", "pareto"]),
    change=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 2**32),
)
def test_traces_can_be_replayed_and_end_in_time(
    session: float, absence: float, lengths: str, change: float, seed: int
) -> None:
    trace = Churn(session, absence, lengths, change=change).trace(40, cycles=30, seed=seed)  # type: ignore[arg-type]
    states(trace, 40, 30)
    assert trace.cycle.size == 0 or trace.cycle.max() < 30


@pytest.mark.parametrize("lengths", ["exponential", "pareto"])
def test_the_stated_share_is_up_and_sessions_have_the_stated_mean(lengths: str) -> None:
    n, cycles = 4000, 300
    churn = Churn(session=20, absence=10, lengths=lengths, alpha=3.0)  # type: ignore[arg-type]
    trace = churn.trace(n, cycles, seed=1)
    share = states(trace, n, cycles)[cycles // 2 :].mean()
    assert abs(share - 20 / 30) < 0.02
    # In the steady state a subscriber leaves once per session and absence.
    leaves = np.count_nonzero((trace.kind == LEAVE) & (trace.cycle >= cycles // 2))
    assert abs(leaves / (n * cycles / 2) * 30 - 1) < 0.05


@pytest.mark.parametrize("lengths", ["exponential", "pareto"])
def test_as_many_leave_in_the_first_cycles_as_later(lengths: Literal["exponential", "pareto"]) -> None:
    trace = Churn(session=30, absence=15, lengths=lengths, alpha=3.0).trace(20_000, cycles=120, seed=8)
    leaves = np.bincount(trace.cycle[trace.kind == LEAVE], minlength=120)
    early, late = leaves[:10].sum(), leaves[60:120].sum() / 6
    assert abs(early - late) < 5 * np.sqrt(late)  # a share of 2/3 leaves once in 30 cycles: some 4,400


def test_changes_come_at_the_stated_rate() -> None:
    trace = Churn(session=1000, absence=1, change=0.05).trace(2000, cycles=50, seed=2)
    rate = np.count_nonzero(trace.kind == CHANGE) / (2000 * 50)
    assert abs(rate - 0.05) < 0.003


def test_a_subscriber_has_the_same_trace_whoever_else_is_asked_for() -> None:
    churn = Churn(session=10, absence=5, change=0.02)
    whole = churn.trace(200, cycles=60, seed=3)
    part = churn.trace(50, cycles=60, seed=3, start=100)
    rows = (whole.subscriber >= 100) & (whole.subscriber < 150)
    assert np.array_equal(part.up, whole.up[100:150])
    for ours, theirs in zip(part[1:], whole[1:], strict=True):
        assert np.array_equal(ours, theirs[rows])


def test_a_changed_subscription_is_a_new_draw_and_the_first_is_the_row() -> None:
    spec = workloads.named("uniform-2")
    lows, highs = changed(spec, 5, np.array([80, 77]), version=0)
    assert np.array_equal(lows, spec.rows(5, 77, 81)[0][[3, 0]])
    assert np.array_equal(highs, spec.rows(5, 77, 81)[1][[3, 0]])
    assert len({changed(spec, 5, 77, version)[0][0, 0] for version in range(10)}) == 10


def test_everybody_arrives_where_nobody_is_there_at_the_start() -> None:
    trace = Churn(session=1e6, absence=10, start=0.0).trace(3000, cycles=200, seed=4)
    assert not trace.up.any()
    assert len(np.unique(trace.subscriber[trace.kind == JOIN])) == 3000
    assert Churn(session=5, absence=5, start=1.0).trace(100, cycles=1, seed=4).up.all()


def test_the_table_has_the_subscription_that_holds_from_each_row_on() -> None:
    spec = workloads.named("uniform-2")
    churn = Churn(session=8, absence=4, change=0.2)
    table = churn_table(churn, 40, 60, seed=9, start=30, spec=spec).to_pandas()
    assert (np.diff(table["cycle"]) >= 0).all()
    for subscriber, rows in table.groupby("subscriber"):
        assert rows["version"].tolist() == rows["kind"].eq("change").cumsum().tolist()
        for row in rows.itertuples():
            low, high = changed(spec, 9, subscriber, row.version)
            assert (row.a1_low, row.a2_low) == tuple(low[0])
            assert (row.a1_high, row.a2_high) == tuple(high[0])


@pytest.mark.parametrize(
    "setting", [{"session": 0.5}, {"alpha": 1.0}, {"change": 2.0}, {"lengths": "weibull"}, {"start": -1.0}]
)
def test_impossible_churn_is_refused(setting: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(setting))):
        Churn(**({"session": 5.0, "absence": 5.0} | setting))  # type: ignore[arg-type]
