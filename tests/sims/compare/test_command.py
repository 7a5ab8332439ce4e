"""`sub2sub compare` from end to end, at a tiny size."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from sims.cli.app import main
from sims.compare.plan import Unit
from sims.compare.run import run_units
from sims.compare.table import cells, gather

TINY = ["--subscribers", "80", "--events", "6", "--seeds", "2", "--processes", "1", "--choosing", "6"]
PAGE = (Path(__file__).parents[3] / "docs" / "compare.md").read_text(encoding="utf-8")
(MINE,) = re.findall(r"```toml\n(\[\[variants.*?)```", PAGE, re.DOTALL)


def compare(out: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["compare", "--out", str(out), *TINY, *options])


def test_a_comparison_is_a_run_folder_with_its_table(tmp_path: Path) -> None:
    names = ("sub2sub", "sub2sub, as published", "camcast", "hpmcast", "scribe", "gossipsub", "broker")
    asked = ["--world", "topics", *(word for name in names for word in ("--only", name))]
    result = compare(tmp_path / "c", *asked)
    assert result.exit_code == 0, result.output
    manifest = json.loads((tmp_path / "c" / "manifest.json").read_text())
    assert (manifest["kind"], manifest["state"]) == ("compare", "done")
    table = pq.read_table(tmp_path / "c" / "compare.parquet")
    assert table.column_names == [
        "world", "system", "knob", "loss", "crashed", "metric", "mean", "low", "high", "seeds", "note",
    ]  # fmt: skip
    again = compare(tmp_path / "c", *asked, "--json")  # all units are there
    facts = json.loads(again.output)
    assert facts["findings"] == (tmp_path / "c" / "finding.txt").read_text().splitlines()
    assert {row["system"] for row in facts["systems"]} == set(names)


def test_a_system_of_ones_own_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
from sims.rivals.base.entrants import Knob
from sims.rivals.papers.sub2sub import Sub2Sub

class Mine(Sub2Sub):
    name = "mine"
    knobs = (Knob(shortcuts=3),)
"""
    (tmp_path / "own_system.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SUB2SUB_ALLOW", "own_system")
    monkeypatch.setattr("sims.compare.plan.entrants_of", lambda kind: ("sub2sub",))
    result = compare(tmp_path / "c", "--world", "topics", "--system", "own_system:Mine")
    assert result.exit_code == 0, result.output
    systems = set(pq.read_table(tmp_path / "c" / "compare.parquet")["system"].to_pylist())
    assert systems == {"sub2sub", "own_system:Mine"}
    refused = compare(tmp_path / "d", "--system", "strange:System")
    assert refused.exit_code == 2
    assert "--allow strange" in refused.stderr


def test_variants_of_ones_own_are_a_file_of_data(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    words = (str(tmp_path / "mine.toml"), "--world", "topics", "--only", "gossipsub, D 3", "--json")
    result = compare(tmp_path / "c", *words)
    assert result.exit_code == 0, result.output
    table = pq.read_table(tmp_path / "c" / "compare.parquet").to_pandas()
    own, shipped = (table[table.system == name].set_index("metric") for name in ("sparse", "gossipsub, D 3"))
    assert set(own[own.knob != ""].knob) >= {"default", "D_lazy 3"}  # dearer ones only if these fail
    assert own.loc["links mesh.mean", "mean"] == shipped.loc["links mesh.mean", "mean"]  # the same overlay
    for change, message in (
        (("D = 3", "D = 30"), "expected 0 < D_lo <= D"),
        (("D_lazy", "D_lacy"), "sparse: knob D_lacy 3"),
        (("layers", "layer"), "sparse: expected no layer"),
        (('name = "sparse"', ""), "each with name and system"),
    ):
        (tmp_path / "mine.toml").write_text(MINE.replace(*change))
        refused = compare(tmp_path / "d", str(tmp_path / "mine.toml"), "--world", "topics")
        assert (refused.exit_code, message in refused.stderr) == (2, True), refused.stderr
        assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "1"], "seeds = 1: expected at least 2"),
        (["--subscribers", "3"], "subscribers = 3: expected at least 10"),
        (["--world", "ranges", "--workload", "nonsense"], "workload = 'nonsense'"),
        (["--world", "topics", "--tree", "/nowhere/tree.txt"], "/nowhere/tree.txt"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, options: list[str], message: str) -> None:
    result = compare(tmp_path / "c", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "c" / "manifest.json").exists()


def test_a_system_that_cannot_run_in_a_world_is_tried_with_one_seed(tmp_path: Path) -> None:
    """Topics on a grid need a publisher that matches its event."""
    world, size = "ranges power-law-1 publishers=others", (60, 3, 1, 60.0)
    names = ("enclosing topic", "broker")
    units = [Unit(world, system, seed, *size) for seed in (1, 2) for system in names]
    seen: list[tuple[int, int]] = []
    reasons = run_units(units, tmp_path, 1, None, lambda done, total: seen.append((done, total)))
    assert reasons == {units[2].key: "its publishers match their events"}
    assert {file.stem for file in tmp_path.glob("*.parquet")} == {units[k].key for k in (0, 1, 3)}
    assert seen[-1] == (4, 4)
    cell = cells(gather(units, tmp_path, reasons)).query("metric == 'unable'")
    assert cell.note.tolist() == ["not run: its publishers match their events"]


def test_a_comparison_on_own_tables_ends_with_what_to_choose(tmp_path: Path) -> None:
    rows = "\n".join(f"{k % 30},{k % 30 + 12}" for k in range(90))
    (tmp_path / "own.csv").write_text(f"min_x,max_x\n{rows}\n")
    words = ["--world", "ranges", "--workload", str(tmp_path / "own.csv"), "--column", "x=min_x,max_x"]
    words += [word for name in ("sub2sub", "broker", "enclosing topic") for word in ("--only", name)]
    result = compare(tmp_path / "c", *words, "--quiet")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1].startswith(("At 1 events per second", "Neither rings nor topics"))
    counted = compare(tmp_path / "d", *words, "--quiet", "--network", "hops")
    assert counted.output.splitlines()[-1].startswith("Rounding own to")
