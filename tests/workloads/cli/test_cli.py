"""The commands, from a spec to statistics, without Spark; and their error messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from sub2sub.errors import InputError
from workloads.cli.group import cli, sweep


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)


def test_generate_match_and_describe(tmp_path: Path) -> None:
    w = tmp_path / "w"
    result = call(
        "generate", "--spec", "uniform-2", "--subscribers", 300, "--events", 40, "--seed", 3, "--out", w
    )
    assert result.exit_code == 0
    assert f"{w}: 300 subscriptions, 40 events of uniform-2" in result.output
    result = call("match", w, "--quiet")
    assert result.exit_code == 0
    assert "40 events, rings of" in result.output
    result = call("stats", w, "--peers", 3)
    assert result.exit_code == 0
    assert "| ring length | 40 |" in result.output
    assert parquet.read_table(w / "statistics" / "summary.parquet").num_rows == 7


def test_every_named_workload_can_be_shown() -> None:
    names = call("list").output.split()
    assert "power-law-3" in names
    assert json.loads(call("show", names[0]).output)["name"] == names[0]


def test_import_maps_columns_and_reports_what_it_set_aside(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("lo,hi,city\n1,2,7\n5,4,7\n")
    (tmp_path / "trades.csv").write_text("price,where\n1.5,7\n")
    w = tmp_path / "w"
    mapping = ("--column", "price=lo,hi", "--column", "city=city", "--event-column", "city=where")
    files = (tmp_path / "orders.csv", "--events", tmp_path / "trades.csv")
    with pytest.raises(InputError, match=r"subscriptions, row 1: price: low 5.0 > high 4.0"):
        call("import", *files, *mapping, "--out", w)
    result = call("import", *files, *mapping, "--set-aside", "--out", w)
    assert f"{w}: 1 subscriptions, 1 events" in result.output
    assert "subscriptions.csv: 1 rows that could not be used" in result.output
    assert "rings of 1 to 1" in call("match", w, "--quiet").output
    with pytest.raises(InputError, match="expected ATTRIBUTE=COLUMN"):
        call("import", *files, "--column", "price", "--out", tmp_path / "v")


def test_sweep_runs_and_fails_when_a_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUB2SUB_ALLOW", "")  # given back when the test ends
    settings = f"[settings]\nlog = '{tmp_path}/log'\nb = 2\n[grid]\na = [1, 13]\n"
    (tmp_path / "s.toml").write_text("run = 'tests.workloads.sweeps.sweep_runs:product'\n" + settings)
    arguments = [
        str(tmp_path / "s.toml"),
        "--out",
        str(tmp_path / "out"),
        "--no-spark",
        "--quiet",
        "--allow",
        "tests",
    ]
    result = CliRunner().invoke(sweep, arguments)
    assert result.exit_code == 1
    assert "2 runs, 1 failed" in result.output
    assert "ValueError: thirteen" in result.output
    (tmp_path / "mended").touch()
    result = CliRunner().invoke(sweep, arguments)
    assert result.exit_code == 0
    assert "2 runs, 0 failed" in result.output


def test_topic_workloads_and_churn_are_written_as_tables(tmp_path: Path) -> None:
    size = ("--subscribers", 100, "--events", 10)
    assert "13 topics" in call("topics", "--fanout", "3,3", *size, "--out", tmp_path / "t").output
    paths = parquet.read_table(tmp_path / "t" / "topics.parquet")["path"].to_pylist()
    assert paths[:3] == [".", ".0", ".0.0"]
    assert "10 events, rings of" in call("match", tmp_path / "t").output
    with pytest.raises(InputError, match="either --fanout or --topics"):
        call("topics", *size, "--out", tmp_path / "u")
    with pytest.raises(InputError, match="whole numbers"):
        call("topics", "--fanout", "3,x", *size, "--out", tmp_path / "u")
    rates = ("--subscribers", 200, "--cycles", 50, "--session", 20, "--absence", 20, "--change", 0.01)
    call("churn", *rates, "--out", tmp_path / "c.parquet")
    trace = parquet.read_table(tmp_path / "c.parquet").to_pandas()
    assert set(trace["kind"]) == {"start", "join", "leave", "change"}
    assert trace.loc[trace["kind"] == "start", "cycle"].eq(0).all()


def test_settings_of_spark_are_the_callers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[object, ...]] = []

    @contextmanager
    def session(*arguments: object) -> Iterator[None]:
        asked.append(arguments)
        yield None

    monkeypatch.setattr("workloads.spark.session.spark_session", session)
    generate = ("generate", "--spec", "uniform-1", "--subscribers", 10, "--at-least", 0, "--out")
    call(*generate, tmp_path / "here")
    assert asked == []
    given = ("--conf", "spark.task.cpus=2", "--conf", "spark.a=b=c", "--memory", "3g", "--ui")
    call(*generate, tmp_path / "there", "--master", "spark://host:7077", *given)
    assert asked == [("spark://host:7077", "3g", {"spark.task.cpus": "2", "spark.a": "b=c"}, True)]
    with pytest.raises(InputError, match=r"--conf task\.cpus=2: expected spark\.KEY=VALUE"):
        call(*generate, tmp_path / "x", "--conf", "task.cpus=2")
    with pytest.raises(InputError, match="--no-spark: expected neither"):
        call(*generate, tmp_path / "x", "--no-spark", "--memory", "3g")
