"""Working points: which setting of a system is shown, and from which rate of events on it costs less."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sims.compare.findings import break_even
from sims.compare.markdown import headline
from sims.compare.plan import Plan
from sims.compare.summary import working_point
from sims.compare.table import cells
from sims.compare.worlds import Fault, Rule
from sub2sub.errors import InputError
from tests.sims.compare.made_up import knobs, values


def test_the_working_point_is_the_cheapest_that_delivers_enough_else_the_best() -> None:
    rows = knobs("topics", "a", {"x": (0.5, 10), "y": (0.995, 40), "z": (1.0, 30), "w": (1.0, 90)})
    rows += knobs("topics", "b", {"x": (0.5, 10), "y": (0.9, 90), "z": (0.8, 20)})
    table = cells(pd.DataFrame(rows))
    a, b = working_point(table, "topics", "a"), working_point(table, "topics", "b")
    assert a is not None
    assert (a.knob, a.reached) == ("z", True)
    assert b is not None
    assert (b.knob, b.reached, b.why) == ("y", False, "0.900 at best")
    assert working_point(table, "topics", "nobody") is None


def test_a_knob_delivers_enough_if_the_lower_end_of_its_interval_does() -> None:
    rows = knobs("topics", "a", {"cheap": (0.995, 10), "dear": (0.999, 90)})
    for row in rows:  # on average enough, but not surely
        if row["metric"] == "choosing_hit_ratio" and row["knob"] == "cheap":
            row["value"] = 0.995 + 0.004 * (int(str(row["seed"])) - 1)
    point = working_point(cells(pd.DataFrame(rows)), "topics", "a")
    assert point is not None
    assert point.knob == "dear"


def test_the_working_point_is_not_chosen_by_the_events_that_costs_are_measured_with() -> None:
    rows = knobs("topics", "a", {"x": (1.0, 10), "y": (1.0, 20)})
    for row in rows:
        if row["metric"] == "hit_ratio" and row["knob"] == "x":
            row["value"] = 0.5
    point = working_point(cells(pd.DataFrame(rows)), "topics", "a")
    assert point is not None
    assert point.knob == "x"


def test_a_setting_that_only_some_seeds_have_tried_is_not_chosen() -> None:
    rows = knobs("topics", "a", {"x": (1.0, 10), "y": (1.0, 20)})
    rows = [row for row in rows if row["knob"] == "y" or row["seed"] > 0]
    point = working_point(cells(pd.DataFrame(rows)), "topics", "a")
    assert point is not None
    assert point.knob == "y"


def test_events_count_where_seeds_differ_no_more_than_they_do() -> None:
    """Two seeds of 500 events each: Student's factor over seeds would be 12.7."""
    rows = [row for row in knobs("topics", "a", {"x": (0.995, 10)}) if row["seed"] != 2]
    for seed in (0, 1):
        more = {"choosing_variance": 0.002, "choosing_events": 500.0}
        rows += [
            values(system="a", knob="x", loss=loss, crashed=crashed, metric=metric, seed=seed, value=v)
            for metric, v in more.items()
            for loss, crashed in ((0.05, 0.0), (0.0, 0.1))
        ]
    for row in rows:
        if row["metric"] == "choosing_hit_ratio":
            row["value"] = 0.995 + (0.001 if row["seed"] else -0.001)
    point = working_point(cells(pd.DataFrame(rows)), "topics", "a")
    assert point is not None
    assert point.low == pytest.approx(0.995 - 1.96 * np.sqrt(0.002 / 1000), abs=2e-4)
    assert point.reached
    for row in rows:
        if row["metric"] == "choosing_hit_ratio":
            row["value"] = 0.995 + (0.004 if row["seed"] else -0.004)
    point = working_point(cells(pd.DataFrame(rows)), "topics", "a")
    assert point is not None
    assert not point.reached  # overlays differ: there are no thousand independent events


def test_the_headline_has_a_line_for_each_system_the_cheapest_first_and_its_default_below_it() -> None:
    rows = knobs("topics", "dear", {"k": (1.0, 90)})
    rows += knobs("topics", "cheap", {"k": (1.0, 20), "default": (0.98, 40)})
    rows += knobs("topics", "bad", {"k": (0.9, 5)})
    rows += [values(system="cheap", metric="links.mean", seed=seed, value=7.0) for seed in (0, 1)]
    lines = headline(cells(pd.DataFrame(rows)), Plan(("topics",), seeds=3)).splitlines()
    assert lines[4] == "| system | setting | % 5 % loss | % 10 % crashed | bytes | links |"
    assert lines[6:10] == [
        "| cheap | k | 100 | 100 | 2 | 7 |", "| cheap | default | 98 | 98 | 4 | 7 |",
        "| dear | k | 100 | 100 | 9 | — |", "| (bad) | k | 90 | 90 | 1 | — |",
    ]  # fmt: skip
    assert lines[-1] == "In brackets, not shown to deliver that: bad (0.900 at best)."


def test_a_ring_that_no_crash_survives_is_no_working_point_however_cheap() -> None:
    rows = knobs("topics", "a", {"bare ring": (1.0, 10), "shortcuts": (1.0, 30)})
    for row in rows:
        if row["knob"] == "bare ring" and row["crashed"] and row["metric"] == "choosing_hit_ratio":
            row["value"] = 0.13
    table = cells(pd.DataFrame(rows))
    point = working_point(table, "topics", "a")
    assert point is not None
    assert point.knob == "shortcuts"
    table.attrs["rule"] = Rule((Fault(loss=0.05),))  # the rule is data
    point = working_point(table, "topics", "a")
    assert point is not None
    assert point.knob == "bare ring"


def test_a_setting_that_is_too_late_is_no_working_point() -> None:
    rows = knobs("topics", "a", {"slow": (1.0, 10), "fast": (1.0, 30)})
    rows += [
        values(system="a", knob=knob, loss=0.05, metric="last_ms_median", seed=seed, value=ms)
        for knob, ms in (("slow", 47_000.0), ("fast", 650.0))
        for seed in range(3)
    ]
    rows += [{**row, "loss": 0.0, "crashed": 0.1} for row in rows if row["metric"] == "last_ms_median"]
    table = cells(pd.DataFrame(rows))
    point = working_point(table, "topics", "a")
    assert point is not None
    assert (point.knob, point.reached) == ("fast", True)
    table.attrs["rule"] = Rule(budget=100.0)
    point = working_point(table, "topics", "a")
    assert point is not None
    assert not point.reached


@pytest.mark.parametrize(
    ("upkeep", "event", "expected"),
    [
        ((1000.0, 400.0), (50.0, 90.0), (1.5, True)),  # (1000 - 400) / (90 - 50) events per cycle of 10 s
        ((400.0, 1000.0), (90.0, 50.0), (1.5, False)),
        ((400.0, 1000.0), (50.0, 90.0), (np.inf, False)),  # less in both: at every rate
        ((1000.0, 400.0), (90.0, 50.0), (np.inf, True)),
    ],
)
def test_the_rate_of_events_at_which_costs_are_equal(
    upkeep: tuple[float, float], event: tuple[float, float], expected: tuple[float, bool]
) -> None:
    rows = []
    for system, kept, sent in zip("ab", upkeep, event, strict=True):
        rows += knobs("topics", system, {"k": (1.0, sent)})
        rows += [
            values(system=system, metric=metric, seed=seed, value=v)
            for metric, v in (("upkeep_bytes.total", kept), ("upkeep_seconds", 10.0))
            for seed in range(3)
        ]
    found = break_even(cells(pd.DataFrame(rows)), "topics", "a", "b")
    assert found is not None
    assert found[0] == pytest.approx(expected[0], rel=1e-4)
    assert bool(found[1]) is expected[1]


def test_no_interval_is_narrower_than_that_over_the_events() -> None:
    """All seeds of one's own tables publish the same events: without this it would be ± 0."""
    rows = [values(metric="bytes_per_delivery", seed=seed, value=2.0) for seed in (1, 2, 3)]
    rows += [values(metric="bytes_per_delivery.error", seed=seed, value=0.1) for seed in (1, 2, 3)]
    (cell,) = cells(pd.DataFrame(rows)).query("metric == 'bytes_per_delivery'").itertuples()
    assert cell.high - cell.mean == pytest.approx(0.196)


def test_a_cost_that_nobody_measures_is_refused() -> None:
    with pytest.raises(InputError, match="cost: expected one of bytes_per_delivery"):
        Rule(cost="nothing")
