"""The commands, from a spec or tables to statistics, on one session of Spark; and their error messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from sub2sub.errors import InputError
from sub2sub.geometry.regions import minimal_regions
from workloads import named
from workloads.cli.group import cli, sweep
from workloads.cli.own_tables import OwnTable
from workloads.spec.table_files import open_stored


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)


def test_a_workload_is_generated_matched_and_described(spark: Any, tmp_path: Path) -> None:
    w = tmp_path / "w"
    generate = (
        "generate",
        "--spec",
        "uniform-2",
        "--subscribers",
        60,
        "--events",
        40,
        "--seed",
        3,
        "--out",
        w,
    )
    assert f"{w}: 60 subscriptions, 40 events of uniform-2" in call(*generate).output
    with pytest.raises(InputError, match="no matches yet, expected `sub2sub workload match` first"):
        call("stats", w)
    assert "40 events, rings of" in call("match", w, "--rings").output
    lows, highs = named("uniform-2").subscriptions(60, 3)
    stored = open_stored(w)
    assert np.array_equal(stored.lows, lows)
    assert np.array_equal(stored.points, named("uniform-2").events(40, 3, lows, highs))
    shown = call("stats", w, "--peers", 3).output
    out = w / "statistics"
    tables = {"attributes", "density", "peers", "regions", "ring-lengths", "ring-loads", "summary", "widths"}
    assert {path.stem for path in out.glob("*.parquet")} == tables
    figures = {"density", "overlaps-and-links", "regions", "ring-lengths", "ring-loads", "widths"}
    assert {path.stem for path in out.glob("*.png")} == figures
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["kind"], manifest["state"]) == ("stats", "done")
    rings = parquet.read_table(w / "rings").to_pydict()
    lengths = [len(ring) for ring in rings["ring"]]
    alone = 60 - len({member for ring in rings["ring"] for member in ring})
    assert f"{alone} of 60 subscribers are on no ring" in shown
    rows = {row["quantity"]: row for row in parquet.read_table(out / "summary.parquet").to_pylist()}
    assert rows["ring length"]["mean"] == pytest.approx(np.mean(lengths))
    assert rows["rings per subscriber"]["mean"] == pytest.approx(sum(lengths) / 60)
    assert rows["members per region"]["count"] == len(minimal_regions(lows, highs))
    assert rows["width of a1"]["max"] == np.max(highs - lows, axis=0)[0]
    density = parquet.read_table(out / "density.parquet").to_pylist()[100]
    assert density["share"] == pytest.approx(
        np.mean((lows <= density["value"]) & (highs >= density["value"]), axis=0)[0]
    )
    with pytest.raises(InputError, match="it has subscriptions, expected a new folder; --overwrite"):
        call(*generate)
    call(*generate[:6], 0, *generate[7:], "--overwrite")
    with pytest.raises(InputError, match="no events yet"):
        call("match", w)


def test_import_maps_columns_and_reports_what_it_set_aside(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("lo,hi,city\n1,2,7\n5,4,7\n")
    (tmp_path / "trades.csv").write_text("price,where\n1.5,7\n")
    w = tmp_path / "w"
    mapping = ("--column", "price=lo,hi", "--column", "city=city", "--event-column", "city=where")
    files = (tmp_path / "orders.csv", "--event-table", tmp_path / "trades.csv")
    with pytest.raises(InputError, match=r"subscriptions: price: low 5.0 > high 4.0 \(1 such rows\)"):
        call("import", *files, *mapping, "--out", w)
    result = call("import", *files, *mapping, "--set-aside", "--out", w)
    assert f"{w}: 1 subscriptions, 1 events" in result.output
    assert "1 rows that could not be used, as subscriptions: price: low 5.0 > high 4.0" in result.output
    assert parquet.read_table(w / "rejected").num_rows == 1
    assert "rings of 1 to 1" in call("match", w, "--quiet").output
    with pytest.raises(InputError, match="expected ATTRIBUTE=COLUMN"):
        call("import", *files, "--column", "price", "--out", tmp_path / "v")


def test_topics_of_tables_are_described_with_their_audience(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("path\n.a\n.a.b\n.c\n.x.y\n")
    (tmp_path / "readers.csv").write_text("topic\n.a\n.a.b\n.\n.a\n.c\n.z\n")
    (tmp_path / "articles.csv").write_text("topic\n.a.b\n.c\n.c\n")
    files = (
        tmp_path / "readers.csv",
        "--topics",
        tmp_path / "tree.csv",
        "--event-table",
        tmp_path / "articles.csv",
    )
    t = tmp_path / "t"
    result = call("import", *files, "--set-aside", "--out", t)
    assert "supertopic of '.x.y' is unknown" in result.output
    assert "unknown topic '.z'" in result.output
    call("match", t)
    assert "| 2 | .a.b | 2 | 1 | 1 | 4 |" in call("stats", t, "--peers", 2).output
    assert (t / "statistics" / "topics.png").exists()
    assert open_stored(t).topics == (".", ".a", ".a.b", ".c")


def test_a_description_of_options_is_read_like_one_in_toml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "o.csv").write_text("who;von;bis;level\nann;1,5;2;low\nbob;;3;high\n")
    from workloads.folder.tables import TextForm
    from workloads.spec.types import ValueType

    own = OwnTable(
        columns={"price": ("von", "bis"), "level": "level"}, key="who", form=TextForm(";", ","),
        types={"level": ValueType("enum", ("low", "high"))},
    )  # fmt: skip
    described = own.described(tmp_path / "o.csv")
    assert described.name == "o.toml"
    stored = open_stored(described)
    assert stored.lows.tolist() == [[1.5, 0.0], [-np.inf, 1.0]]
    assert stored.keys == ["ann", "bob"]
    assert OwnTable().described(tmp_path / "o.csv") == tmp_path / "o.csv"


def test_sweep_runs_and_fails_when_a_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUB2SUB_ALLOW", "")  # given back when the test ends
    settings = f"[settings]\nlog = '{tmp_path}/log'\nb = 2\n[grid]\na = [1, 13]\n"
    (tmp_path / "s.toml").write_text("run = 'tests.workloads.sweeps.sweep_runs:product'\n" + settings)
    how = ["--quiet", "--allow", "tests"]
    arguments = [str(tmp_path / "s.toml"), "--out", str(tmp_path / "out"), *how]
    result = CliRunner().invoke(sweep, arguments)
    assert result.exit_code == 1
    assert "2 runs, 1 failed" in result.output
    assert "ValueError: thirteen" in result.output
    (tmp_path / "mended").touch()
    result = CliRunner().invoke(sweep, arguments)
    assert result.exit_code == 0
    assert "2 runs, 0 failed" in result.output


def test_settings_of_spark_are_the_callers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[object, ...]] = []

    class Stop(Exception):
        pass

    @contextmanager
    def session(*arguments: object) -> Iterator[None]:
        asked.append(arguments)
        raise Stop
        yield

    monkeypatch.setattr("workloads.spark.session.spark_session", session)
    generate = ("generate", "--spec", "uniform-1", "--subscribers", 10, "--out", tmp_path / "w")
    given = ("--conf", "spark.task.cpus=2", "--conf", "spark.a=b=c", "--memory", "3g")
    for where in (("--master", "spark://host:7077", *given), ("--remote", "sc://host")):
        with pytest.raises(Stop):
            call(*generate, *where)
    assert asked == [
        ("spark://host:7077", "3g", {"spark.task.cpus": "2", "spark.a": "b=c"}, None),
        (None, None, {}, "sc://host"),
    ]
    with pytest.raises(InputError, match=r"--conf task\.cpus=2: expected spark\.KEY=VALUE"):
        call(*generate, "--conf", "task.cpus=2")
