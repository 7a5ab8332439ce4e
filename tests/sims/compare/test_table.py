"""The table, its working points, and the sentences computed from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sims.compare import run
from sims.compare.findings import findings, rings_cost_less
from sims.compare.markdown import headline
from sims.compare.plan import Plan, Unit
from sims.compare.run import run_units
from sims.compare.summary import facts
from sims.compare.table import cells, gather
from sims.compare.unit import Row, _first_cycle_at
from sims.compare.worlds import Rule
from tests.sims.compare.made_up import knobs, values


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    dice = np.random.default_rng(1)
    rows = [
        values(metric=f"m{k}", seed=s, value=float(dice.normal(3.0, 2.0)))
        for k in range(400)
        for s in range(10)
    ]
    table = cells(pd.DataFrame(rows))
    held = ((table.low <= 3.0) & (table.high >= 3.0)).mean()
    assert 0.92 < held < 0.98


def test_a_cell_without_a_value_says_why_and_one_with_some_says_how_many() -> None:
    rows = [
        values(metric="none", seed=1, value=np.nan, note="too large"),
        values(metric="none", seed=2, value=np.nan, note="too large"),
        values(metric="some", seed=1, value=4.0),
        values(metric="some", seed=2, value=np.nan, note="never"),
    ]
    table = cells(pd.DataFrame(rows)).set_index("metric")
    assert np.isnan(table.loc["none", "mean"])
    assert table.loc["none", "note"] == "too large"
    assert table.loc["some", "mean"] == 4.0
    assert table.loc["some", "seeds"] == 1
    assert table.loc["some", "note"] == "1 of 2 seeds: never"


def test_a_system_that_does_not_deliver_enough_is_named_and_compared_with_nobody() -> None:
    rows = knobs("topics", "sub2sub", {"k": (1.0, 20)}) + knobs("topics", "camcast", {"c": (0.97, 5)})
    table = cells(pd.DataFrame(rows))
    (sentence,) = findings(table)
    assert "; 1 of 2 systems deliver 99 %" in sentence
    assert sentence.endswith(", not camcast.")
    assert "as many" not in sentence
    found = {row["system"]: row for row in facts(table)}
    assert (found["camcast"]["reached"], found["sub2sub"]["reached"]) == (False, True)
    assert found["sub2sub"]["bytes_per_event"]["mean"] == pytest.approx(20, abs=1e-3)


def unable(world: str, system: str) -> list[dict[str, object]]:
    return [
        values(world=world, system=system, metric="unable", seed=s, value=np.nan, note="not run: no room")
        for s in range(3)
    ]


NOBODY, FEW = {"k": (0.9, 20)}, {"k": (1.0, 20)}
LOST, LEAST = str(Rule()), "sub2sub takes the fewest bytes per delivery (2 ± 2.5e-06)"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            knobs("topics", "sub2sub", FEW) + knobs("topics", "camcast", {"c": (1.0, 60)}),
            f"Topics: {LEAST}, camcast 3 times as many; 2 of 2 systems deliver {LOST}.",
        ),
        (
            knobs("topics", "sub2sub", FEW) + knobs("topics", "camcast", {"c": (1.0, 20)}),
            f"Topics: {LEAST}, camcast as many; 2 of 2 systems deliver {LOST}.",
        ),
        (
            knobs("topics", "sub2sub", FEW)
            + knobs("topics", "plumtree", {"c": (1.0, 20)})
            + knobs("topics", "broker", {"c": (1.0, 60)}),
            f"Topics: {LEAST}, 1 more as many, within the intervals; 3 of 3 systems deliver {LOST}.",
        ),
        (
            knobs("topics", "sub2sub", NOBODY) + unable("topics", "camcast"),
            f"Topics: no system is shown to deliver {LOST}.",
        ),
        (
            knobs("topics", "matching tree", FEW) + knobs("topics", "broker", {"b": (1.0, 30)}),
            "Topics: broker takes the fewest bytes per delivery (3 ± 2.5e-06); 1 of 1 systems deliver "
            f"{LOST}.",
        ),
        (
            knobs("ranges x", "sub2sub", FEW)
            + knobs("ranges x", "enclosing topic", {"c": (1.0, 300)})
            + unable("ranges x", "exact cover"),
            f"Ranges (x): {LEAST}, enclosing topic 15 times as many; 2 of 3 systems deliver {LOST}, not "
            "exact cover.",
        ),
        (
            knobs("ranges x", "sub2sub", FEW) + knobs("ranges x", "enclosing topic", {"c": (0.985, 300)}),
            f"Ranges (x): {LEAST}; 1 of 2 systems deliver {LOST}, not enclosing topic.",
        ),
        (
            knobs("ranges folder/x.toml bits=12", "sub2sub", NOBODY),
            f"Ranges (x, 2^12 values): no system is shown to deliver {LOST}.",
        ),
    ],
)
def test_the_sentence_on_a_world_follows_the_numbers(rows: list[dict[str, object]], sentence: str) -> None:
    assert findings(cells(pd.DataFrame(rows))) == [sentence]
    assert len(sentence.split()) <= 45


def test_a_wide_interval_makes_no_system_one_of_the_cheapest() -> None:
    rows = knobs("topics", "sub2sub", FEW) + knobs("topics", "camcast", {"c": (1.0, 900)})
    for row in rows:
        if row["system"] == "camcast" and row["metric"] == "bytes_per_delivery":
            row["value"] = (5.0, 90.0, 175.0)[int(str(row["seed"]))]
    (sentence,) = findings(cells(pd.DataFrame(rows)))
    assert f"{LEAST}, camcast 45 times as many, within the intervals;" in sentence


def test_each_world_has_a_sentence() -> None:
    rows = knobs("ranges x", "sub2sub", FEW) + unable("ranges y", "sub2sub")
    assert [sentence[:12] for sentence in findings(cells(pd.DataFrame(rows)))] == [
        "Ranges (x): ",
        "Ranges (y): ",
    ]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ((5, 60, 90), "t = 0.5 and 1"),
        ((5, 20, 90), "t = 1"),
        ((40, 60, 90), "every t"),
        ((5, None, 90), "t = 1 (at t = 0.5 one of them does not deliver)"),
        ((None, None, None), "no t (at every t one of them does not deliver)"),
    ],
)
def test_the_crossing_is_where_the_numbers_cross(costs: tuple[float | None, ...], words: str) -> None:
    rows = []
    for t, cost in zip(("0", "0.5", "1"), costs, strict=True):
        rows += knobs(f"between {t}", "sub2sub", FEW)
        rows += knobs(f"between {t}", "exact cover", {"c": (0.9, 5) if cost is None else (1.0, cost)})
        rows += knobs(f"between {t}", "enclosing topic", {"c": (1.0, 5)})
    assert findings(cells(pd.DataFrame(rows))) == [
        "From topics (t = 0) to ranges (t = 1), sub2sub takes fewer bytes per delivery than enclosing topic "
        f"at no t and than exact cover at {words}."
    ]


@pytest.mark.parametrize(
    ("upkeep", "event", "words"),
    [
        ((1000.0, 400.0), (50.0, 90.0), ">\u00a01.5/s"),
        ((400.0, 1000.0), (90.0, 50.0), "<\u00a01.5/s"),
        ((400.0, 1000.0), (50.0, 90.0), "always"),
        ((1000.0, 400.0), (90.0, 50.0), "never"),
    ],
)
def test_the_rates_at_which_rings_cost_less(
    upkeep: tuple[float, float], event: tuple[float, float], words: str
) -> None:
    rows = []
    for system, kept, sent in zip(("sub2sub", "broker"), upkeep, event, strict=True):
        rows += knobs("topics", system, {"k": (1.0, sent)})
        rows += [
            values(system=system, metric=metric, seed=seed, value=v)
            for metric, v in (("upkeep_bytes.total", kept), ("upkeep_seconds", 10.0))
            for seed in range(3)
        ]
    table = cells(pd.DataFrame(rows + knobs("topics", "poor", {"k": (0.5, 1)})))
    assert rings_cost_less(table, "topics", "broker") == words
    assert rings_cost_less(table, "topics", "poor") == rings_cost_less(table, "topics", "sub2sub") == ""


def test_the_headline_names_a_system_that_could_not_run_with_its_reason() -> None:
    rows = knobs("topics", "a", {"x": (1.0, 10)}) + unable("topics", "b")
    text = headline(cells(pd.DataFrame(rows)), Plan(("topics",)))
    assert "Without numbers: b (not run: no room)." in text
    assert "| a | x |" in text


@pytest.mark.parametrize(
    ("hits", "level", "cycle"),
    [
        ([0.0, 0.5, 1, 1, 1, 1, 1, 1], 1.0, 3.0),
        ([1.0] * 8, 1.0, 1.0),
        ([0.5] * 8, 1.0, float("nan")),
        ([0.2, 0.98, 1, 1, 0.97, 1, 1], 1.0, 2.0),
    ],
)
def test_an_overlay_has_settled_when_a_mean_of_three_is_near_the_level(
    hits: list[float], level: float, cycle: float
) -> None:
    assert _first_cycle_at(np.array(hits), level) == pytest.approx(cycle, nan_ok=True)


UNITS = Plan(("topics",), subscribers=60, events=4, probes=2, seeds=2, choosing=5).units()[::9]


def quiet(done: int, total: int) -> None:
    pass


def test_a_comparison_taken_up_again_gives_the_same_table(tmp_path: Path) -> None:
    run_units(UNITS, tmp_path / "whole", 1, None, quiet)
    run_units(UNITS[:1], tmp_path / "parts", 1, None, quiet)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()}
    run_units(UNITS, tmp_path / "parts", 1, None, quiet)
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()}
    assert before.items() <= after.items()
    assert len(after) == len(UNITS)
    whole, parts = (cells(gather(UNITS, tmp_path / name, {})) for name in ("whole", "parts"))
    pd.testing.assert_frame_equal(whole, parts)


def test_all_systems_of_a_seed_saw_the_same_world_or_there_is_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(world: str, system: str, seed: int, *rest: object) -> tuple[str, list[Row]]:
        return ("same" if system == "sub2sub" or seed == 1 else "other"), [Row("", 0.0, 0.0, "m", 1.0, "")]

    monkeypatch.setattr(run, "measure", measured)
    units = [
        Unit("topics", system, seed, 9, 9, 9, 9.0) for system in ("sub2sub", "camcast") for seed in (1, 2)
    ]
    run_units(units, tmp_path, 1, None, quiet)
    assert len(gather([unit for unit in units if unit.seed == 1], tmp_path, {})) == 2
    with pytest.raises(AssertionError, match="topics, seed 2: sub2sub and camcast saw different worlds"):
        gather(units, tmp_path, {})


def test_a_unit_without_a_result_is_told_and_the_others_are_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(world: str, system: str, seed: int, *rest: object) -> tuple[str, list[Row]]:
        if system == "camcast" and seed == 2:
            raise MemoryError("17 GB")
        return "same", [Row("", 0.0, 0.0, "m", float(seed), "")]

    monkeypatch.setattr(run, "measure", measured)
    units = [
        Unit("topics", system, seed, 9, 9, 9, 9.0) for system in ("sub2sub", "camcast") for seed in (1, 2)
    ]
    reasons = run_units(units, tmp_path, 1, None, quiet)
    table = cells(gather(units, tmp_path, reasons))
    assert {(row.system, row.metric): row.seeds for row in table.itertuples()} == {
        ("sub2sub", "m"): 2, ("camcast", "m"): 1, ("camcast", "unable"): 0,
    }  # fmt: skip
    (note,) = table.note[table.metric == "unable"]
    assert note == "not run: MemoryError: 17 GB"


def test_units_made_by_other_code_are_other_units(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = UNITS[0]
    before = unit.key
    monkeypatch.setattr("workloads.spark.packages.digest", lambda: "of another checkout")
    assert unit.key != before


def test_seeds_count_from_the_first_and_a_thousand_events_are_shared_among_them() -> None:
    units = Plan(("topics",), seeds=3, seed=7).units()
    assert {unit.seed for unit in units} == {7, 8, 9}
    assert {unit.choosing for unit in units} == {334}


def test_units_of_other_sizes_are_other_units() -> None:
    assert len({unit.key for n in (50, 60) for unit in Plan(("topics",), n, seeds=2).units()}) == 2 * len(
        Plan(("topics",), 50, seeds=2).units()
    )
