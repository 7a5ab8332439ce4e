"""Measurements: that they measure, and that results add up in a table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sims.bench import MEASUREMENTS
from sims.cli.app import main


def invoke(*arguments: str):
    return CliRunner().invoke(main, ["bench", *arguments])


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_every_measurement_does_some_work(name: str):
    assert MEASUREMENTS[name].prepare(200)() > 0


def test_results_are_added_to_a_table(tmp_path: Path):
    for size in (200, 300):
        assert invoke("match", "--size", str(size), "--append", str(tmp_path / "r.csv")).exit_code == 0
    with (tmp_path / "r.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["benchmark"], row["size"], row["unit"]) for row in rows] == [
        ("match", "200", "events/s"), ("match", "300", "events/s"),
    ]  # fmt: skip
    assert all(float(row["rate"]) > 0 for row in rows)


def test_json_for_scripts():
    (row,) = json.loads(invoke("match", "--size", "200", "--json").output)
    assert row["benchmark"] == "match"


def test_what_is_no_measurement_and_what_is_no_table_is_refused(tmp_path: Path):
    assert "sub2sub: mach: expected one of workload, match" in invoke("mach").output
    (tmp_path / "r.csv").write_text("something,else\n")
    result = invoke("match", "--size", "200", "--append", str(tmp_path / "r.csv"))
    assert (result.exit_code, "expected a table with the columns" in result.output) == (2, True)


def test_the_list_says_what_is_measured():
    assert "step an overlay" in invoke("--list").output
