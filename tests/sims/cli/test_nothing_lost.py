"""Mistakes that would replace results, change a run or write a row twice: refused, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sims.runs.folder import RunWriter
from sub2sub.errors import InputError
from tests.sims.cli.test_mistakes import SMALL, call, refused


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def contents(folder: str) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def run(*words: str) -> None:
    result = call("run", "sub2sub-fig5", *SMALL, "--set", "cycles=4", "--out", "r", *words)
    assert result.exit_code == 0, result.output


def test_a_comparison_does_not_replace_a_run_and_no_run_a_workload() -> None:
    run()
    before = contents("r")
    line = refused("compare", "--quick", "--only", "broker", "--out", "r")
    assert line.endswith("r: expected a folder that `compare` wrote, it has the results of `run`")
    assert contents("r") == before
    made = call("workload", "generate", "--spec", "uniform-1", "--subscribers", "5", "--out", "w")
    assert made.exit_code == 0, made.output
    before = contents("w")
    assert "w: expected a new or empty folder, or one that `run` wrote" in refused(
        "run", "sub2sub-fig5", *SMALL, "--out", "w", "--overwrite"
    )
    assert contents("w") == before


def test_only_a_run_is_replaced_also_a_damaged_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="or one that `run` wrote, it has files"):
        RunWriter.create(tmp_path, kind="run", name="r", replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "manifest.json").write_text("{")
    with RunWriter.create(damaged, kind="run", name="r", replace=True) as writer:
        assert writer.manifest["state"] == "running"


@pytest.mark.parametrize("left", [0, 0.5])
def test_a_run_whose_settings_are_damaged_is_not_resumed(left: float) -> None:
    run()
    file = Path("r/experiment.toml")
    text = file.read_text()
    file.write_text(text[: text.index("\n[", int(left * len(text)))] if left else "")
    before = contents("r")
    line = refused("run", "r", "--resume", "--set", "cycles=5").splitlines()[-1]
    assert "r/experiment.toml: expected the settings with which the run began" in line
    assert contents("r") == before
    file.write_text(text)
    assert call("run", "r", "--resume", "--set", "cycles=5", "--quiet").exit_code == 0


def test_two_schedules_of_an_observer_write_one_row_per_cycle() -> None:
    kinds = ('"delivery", every=2', '"delivery", every=3', '"rings"', '"rings"')
    twice = f"observers=[{', '.join(f'{{kind={kind}}}' for kind in kinds)}]"
    run("--set", twice)
    assert pq.read_table("r/delivery.parquet")["cycle"].to_pylist() == [0, 2, 3, 4]
    assert pq.read_table("r/rings.parquet")["cycle"].to_pylist() == [0, 1, 2, 3, 4]


def test_observers_of_events_need_events() -> None:
    none = ("--set", "population.size=60", "--set", "workload.events=0", "--out", "r")
    line = refused("run", "sub2sub-fig5", *none).splitlines()[-1]
    assert line.endswith("workload.events: expected 1 or more for the observer rings, got 0")
    assert not Path("r").exists()


def test_an_empty_path_is_not_the_current_folder() -> None:
    for words in (("run", "demo", "--out", ""), ("compare", "--quick", "--out", ""), ("report", "")):
        assert "expected a path, it is empty" in refused(*words)
    assert not list(Path().iterdir())


def test_a_page_of_no_results_is_not_written() -> None:
    line = refused("reproduce", "--page", "p.md", "--out", "o")
    assert line.endswith("expected the results of at least one reproduction, found none")
    assert not Path("p.md").exists()


def test_settings_may_begin_with_a_byte_order_mark() -> None:
    Path("x.toml").write_bytes(b"\xef\xbb\xbfcycles = 3\n[population]\nsize = 60\n[workload]\nevents = 10\n")
    assert call("run", "x.toml", "--out", "r", "--quiet").exit_code == 0


def test_ambiguous_options_of_an_import_are_refused() -> None:
    Path("s.csv").write_text("lo,hi\n1,2\n")
    start = ("workload", "import", "s.csv", "--out", "w", "--column", "p=lo,hi")
    assert "'p' is given twice" in refused(*start, "--column", "p=lo")
    assert "delimiter and decimal are both ','" in refused(*start, "--decimal", ",")
    assert not Path("w").exists()
