"""The sentence that answers: topics or ranges for my data."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from sims.advice.advise import advice
from sims.cli.app import main
from sims.compare.table import cells
from tests.sims.compare.made_up import knobs, values

WORLD = "ranges x"


def table(costs: dict[str, tuple[float, float]], error: float = 0.0) -> pd.DataFrame:
    """Bytes of an event, and of upkeep in a cycle of ten seconds, of systems that all deliver."""
    rows = []
    for system, (event, upkeep) in costs.items():
        rows += knobs(WORLD, system, {"k": (1.0, event)})
        for metric, value in (("upkeep_bytes.total", upkeep), ("upkeep_seconds", 10.0)):
            rows += [values(world=WORLD, system=system, metric=metric, seed=s, value=value) for s in range(3)]
        rows += [
            values(
                world=WORLD, system=system, knob="k", loss=0.05, metric="bytes_per_delivery.error", seed=s,
                value=error,
            )
            for s in range(3)
        ]  # fmt: skip
    return cells(pd.DataFrame(rows))


def test_what_costs_least_depends_on_the_rate_of_events_and_where_it_turns_is_told() -> None:
    """Rings cost 20,000 bytes an event less, and 50,000 bytes a second more to keep: equal at 2.5."""
    found = table({"sub2sub": (20_000, 1e6), "exact cover, gossipsub": (40_000, 5e5), "broker": (1_000, 10)})
    often, seldom = (advice(found, WORLD, rate) for rate in (10.0, 1.0))
    assert often.startswith("At 10 events per second ranges on rings cost least, 300 ± ")
    assert "topics by exact cover on gossipsub would take 450 ± " in often
    assert "and less below 2.5 events per second" in often
    assert "a broker that never fails would send 10 ± " in often
    assert seldom.startswith("At 1 events per second topics by exact cover on gossipsub costs least, 90 ± ")
    assert "ranges on rings would take 120 ± " in seldom
    assert "and less above 2.5 events per second" in seldom


def test_the_interval_is_that_over_the_events() -> None:
    found = table({"sub2sub": (20_000, 0.0)}, error=100.0)  # 2,000 bytes a delivery: 5 % of them
    assert "200 ± 20 kB/s" in advice(found, WORLD, 10.0)


@pytest.mark.parametrize(("error", "apart"), [(10.0, True), (400.0, False)])
def test_costs_whose_intervals_overlap_are_not_told_apart(error: float, apart: bool) -> None:
    found = table({"sub2sub": (20_000, 0.0), "exact cover": (22_000, 0.0)}, error)
    assert ("cannot tell apart" in advice(found, WORLD, 10.0)) is not apart


def test_what_does_not_deliver_is_no_advice() -> None:
    rows = knobs(WORLD, "sub2sub", {"k": (0.9, 10)}) + knobs(WORLD, "flat grid", {"k": (0.5, 10)})
    assert advice(cells(pd.DataFrame(rows)), WORLD, 1.0).startswith("Neither rings nor topics are shown to")


def test_advice_on_a_table_says_what_it_inferred_and_writes_what_it_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("sub2sub", "broker", "exact cover, plumtree", "own topic, gossipsub")
    monkeypatch.setattr("sims.advice.advise.SYSTEMS", few)
    rows = "\n".join(f"n{k},{k % 40},{k % 40 + 12},{'ab'[k % 2]}" for k in range(60))
    (tmp_path / "data.csv").write_text(f"name,min_x,max_x,kind\n{rows}\n")
    (tmp_path / "events.csv").write_text(
        "x,kind\n" + "\n".join(f"{k % 40 + 6},{'ab'[k % 2]}" for k in range(80))
    )
    words = [
        "advise",
        str(tmp_path / "data.csv"),
        "--events",
        str(tmp_path / "events.csv"),
        "--rate",
        "30/min",
    ]
    words += ["--subscribers", "40", "--publish", "20", "--out", str(tmp_path / "out"), "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "x: a range from min_x to max_x; events have x" in result.stderr
    found = json.loads(result.stdout)
    assert found["findings"][-1].startswith(("At 0.5 events per second", "Neither"))
    systems = {row["system"] for row in found["systems"]}
    assert systems == set(few)
    assert "min_x" in (tmp_path / "out" / "data.toml").read_text()
    assert (tmp_path / "out" / "index.html").exists()


@pytest.mark.parametrize("rate", ["5", "0/s", "5/week"])
def test_a_rate_that_is_none_is_refused(rate: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("min_x,max_x\n" + "\n".join(f"{k},{k + 9}" for k in range(30)))
    result = CliRunner().invoke(main, ["advise", str(tmp_path / "d.csv"), "--rate", rate])
    assert result.exit_code == 2
    assert "--rate: expected a number of events such as 5/s" in result.stderr
