"""The command line: what it lists, what it writes, and how it takes mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sims.cli.app import main
from sims.reproduce.hpmcast import rounds
from sims.runs.folder import RunFolder


def invoke(*arguments: str):
    return CliRunner().invoke(main, list(arguments))


def test_reproduce_lists_the_experiments_of_all_papers():
    listed = invoke("reproduce").output
    for id in ("sub2sub-fig5", "camcast-table2", "hpmcast-fig7"):
        assert id in listed


def test_an_experiment_writes_claims_figure_and_tables(tmp_path: Path):
    result = invoke("reproduce", "cyclon-graph", "--quick", "--out", str(tmp_path), "--json")
    assert result.exit_code == 0
    folder = tmp_path / "cyclon-graph"
    claims = json.loads((folder / "claims.json").read_text())
    assert json.loads(result.output) == claims
    expected = {"id", "claim", "paper", "measured", "holds", "source", "interval", "reading", "scale"}
    assert expected == set(claims[0])
    assert (folder / "cyclon-graph.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "graph.parquet").exists()


def test_an_unknown_experiment_is_one_line_with_the_nearest_name():
    result = invoke("reproduce", "sub2sub-fig55")
    assert result.exit_code == 2
    expected = "sub2sub: reproduction: 'sub2sub-fig55' is unknown; did you mean 'sub2sub-fig5'?"
    assert result.output.strip() == expected


def levels(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from levels(command, (*path, name))
        else:
            yield (*path, name)


def test_every_level_has_help():
    for words in levels(main):
        shown = invoke(*words, "--help")
        assert shown.exit_code == 0
        assert "Usage:" in shown.output


def test_every_command_prints_json_when_asked():
    for words in levels(main):
        if invoke(*words, "--help").output.find("COMMAND [ARGS]") < 0:
            assert "--json" in invoke(*words, "--help").output, words


def test_the_lab_says_where_it_is_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    uvicorn = pytest.importorskip("uvicorn")
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)
    result = invoke("lab", "--peers", "40", "--no-open", "--json", "--out", str(tmp_path / "lab"))
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["address"].startswith("http://127.0.0.1:")
    assert (facts["peers"], facts["attributes"], facts["seed"]) == (40, ["a1", "a2"], 1)
    assert not (tmp_path / "lab").exists()


def broken(interested: int, runs: int, seed: int):
    raise RuntimeError("out of luck")


def test_one_that_breaks_does_not_keep_the_others_from_running(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(rounds, "unit", broken)
    result = invoke("reproduce", "hpmcast-fig9", "camcast-memory", "--quick", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert "sub2sub: hpmcast-fig9: 8 of 8 units have no result: RuntimeError: out of luck" in result.output
    assert "sub2sub: 1 of 2 failed: hpmcast-fig9" in result.output
    assert RunFolder.open(tmp_path / "hpmcast-fig9").manifest["state"] == "failed"
    manifest = RunFolder.open(tmp_path / "camcast-memory").manifest
    assert (manifest["state"], manifest["kind"], manifest["quick"]) == ("done", "reproduce", True)


def test_a_run_is_not_overwritten_unasked_and_formats_are_checked(tmp_path: Path):
    words = ("reproduce", "hpmcast-fig9", "--out", str(tmp_path), "--format", "png,svg")
    assert invoke(*words).exit_code == 0
    assert (tmp_path / "hpmcast-fig9" / "hpmcast-fig9.svg").exists()
    again = invoke(*words)
    assert again.exit_code == 1
    assert "expected a new or empty folder" in again.output
    assert invoke(*words, "--overwrite").exit_code == 0
    assert invoke("reproduce", "hpmcast-fig9", "--format", "gif").exit_code == 2


def test_the_page_is_written_from_run_folders(tmp_path: Path):
    invoke("reproduce", "hpmcast-fig9", "--out", str(tmp_path / "full"))
    result = invoke("reproduce", "--page", str(tmp_path / "page.md"), "--out", str(tmp_path / "full"))
    assert result.exit_code == 0
    assert "hpmcast, Section 5.3.1" in (tmp_path / "page" / "hpmcast.md").read_text()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sub2sub ru", "run"),
        ("sub2sub reproduce camcast-ta", "camcast-table1"),
        ("sub2sub run sub2sub-c", "sub2sub-crash"),
    ],
)
def test_words_are_completed(words: str, expected: str):
    environment = {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "_SUB2SUB_COMPLETE": "bash_complete",
    }
    result = CliRunner(env=environment).invoke(main, prog_name="sub2sub")
    assert f"plain,{expected}" in result.output.splitlines()


def test_help_waits_for_no_compiler_no_spark_and_no_plotting():
    code = (
        "import sys; from click.testing import CliRunner; from sims.cli.app import main;"
        "print(CliRunner().invoke(main, ['--help']).exit_code,"
        "[m for m in ('numpy', 'numba', 'pyspark', 'matplotlib') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "0 []"


def test_every_command_has_a_summary():
    listed = invoke("--help").output.partition("Commands:")[2].splitlines()
    commands = [line.split(maxsplit=1) for line in listed if line.startswith("  ") and line[2] != " "]
    assert {"reproduce", "sweep", "workload"} <= {words[0] for words in commands}
    assert all(len(words) == 2 for words in commands)
