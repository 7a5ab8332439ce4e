"""Mistakes that people made, and what each says today: one line, an exit code, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import sub2sub
from sims.cli.app import main
from sims.cli.console import shown

SMALL = ("--set", "population.size=60", "--set", "workload.events=10")
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def refused(*words: str, code: int = 2) -> str:
    result = call(*words)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output.strip()


def test_everybody_crashing_is_an_experiment_like_others() -> None:
    crash = 'faults=[{kind = "crash", at = 5, share = 1.0}]'
    result = call("run", "sub2sub-fig5", *SMALL, "--set", "cycles=8", "--set", crash, "--out", "r", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)[0]["ring_links_per_peer"] == 0


def test_a_size_beyond_memory_is_refused_with_the_number() -> None:
    line = refused("run", "sub2sub-fig5", "--set", "population.size=2000000000", "--out", "r").splitlines()[
        -1
    ]
    assert "expected at most about" in line
    assert "2,000,000,000 need 8,000 GB" in line
    assert not Path("r").exists()


def test_a_refused_input_leaves_no_folder_in_the_way() -> None:
    Path("ab.csv").write_text("a,b\n1,2\n")
    line = refused("run", "sub2sub-fig5", "--set", "workload.table=ab.csv", "--out", "r").splitlines()[-1]
    assert "ab.csv: expected columns X_low and X_high" in line
    assert "it has a, b" in line
    assert not Path("r").exists()


def test_imports_name_the_file_and_the_columns_it_has() -> None:
    Path("ab.csv").write_text("a,b\n1,2\n")
    line = refused("workload", "import", "ab.csv", "--column", "price=low,high", "--out", "w").splitlines()[
        -1
    ]
    assert line == "sub2sub: ab.csv: no column 'low', expected one of a, b"
    Path("latin.csv").write_bytes(b"pr\xe9_low,pr\xe9_high\n1,2\n")
    assert "sub2sub: latin.csv: expected text in utf-8" in refused(
        "workload", "import", "latin.csv", "--out", "w"
    )
    Path("head.csv").write_text("price_low,price_high\n")
    assert "expected at least one subscription" in refused("workload", "import", "head.csv", "--out", "w")
    assert not Path("w/manifest.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        "compare --processes -3",
        "compare --seeds 0",
        "sweep s.toml --out o --processes 0",
        "live swarm --period -1",
        "live swarm --events -4",
    ],
)
def test_numbers_that_cannot_be_are_refused_at_once(words: str) -> None:
    Path("s.toml").write_text("")
    assert "is not in the range" in refused(*words.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("live swarm --kill nan", "nan is not a number"),
        ("report . --megabytes nan", "nan is not a number"),
        ("workload generate --spec uniform-1 --subscribers 5 --out s.toml", "'s.toml' is a file"),
        ("run sub2sub-fig5 --set cycles=99999999999999999999", "cycles: expected 1 or more and below 2^31"),
        ("sweep s.toml --out o", "seeds: expected 1 to 1000000 of them"),
    ],
)
def test_what_is_no_number_or_beyond_all_bounds_is_refused_at_once(words: str, said: str) -> None:
    Path("s.toml").write_text('experiment = "sub2sub-fig5"\nseeds = 10000000000000\n')
    assert said in refused(*words.split())


def test_a_folder_that_cannot_be_written_is_one_line() -> None:
    Path("file").touch()
    line = refused("run", "sub2sub-fig5", *SMALL, "--out", "file/r", code=1).splitlines()[-1]
    assert line == "sub2sub: [Errno 20] Not a directory: 'file/r'"


@pytest.mark.parametrize(
    "words",
    [
        "reproduce --all", "reproduce sub2sub-fig5", "run demo", "compare --quick", "sweep s.toml", "stats .",
        "workload generate --spec uniform-1 --subscribers 5", "workload import file --key k", "lab",
    ],
)  # fmt: skip
def test_an_output_folder_is_tried_before_any_work(words: str) -> None:
    Path("s.toml").touch()
    Path("file").touch()
    said = refused(*words.split(), "--out", "file/r", code=1)
    assert said == "sub2sub: [Errno 20] Not a directory: 'file/r'"
    assert refused("report", ".", "--out", "file/r/page.html", code=1) == said


def test_trying_a_folder_leaves_nothing_behind() -> None:
    refused("run", "sub2sub-fig5", "--set", "cycles=x", "--out", "a/b/c")
    assert not Path("a").exists()


@pytest.mark.parametrize("words", ["run --bogus", "rnu", "run demo --seed x", "workload", "run --out"])
def test_words_that_are_not_understood_are_one_line(words: str) -> None:
    if words == "workload":
        assert "Usage:" in refused(words)  # nothing is asked for: all that could be
    else:
        assert "\n" not in refused(*words.split())


@pytest.mark.parametrize(("line", "cells"), [(5, "c003,abc,5"), (7, "c005,9,5")])
def test_a_row_that_cannot_be_used_is_named_as_the_editor_shows_it(line: int, cells: str) -> None:
    lines = ["customer,low,high", "", *(f"c{k},{k},{k + 1}" for k in range(9))]
    lines[line - 1] = cells
    Path("orders.csv").write_text("\n".join(lines))
    words = ("--table", "orders.csv", "--column", "price=low,high", "--out", "o")
    assert f"orders.csv, line {line}: price" in refused("run", "sub2sub-fig5", *words)


@pytest.mark.parametrize(
    ("words", "meant"), [("compair", "compare"), ("workload genrate", "generate"), ("live swarms", "swarm")]
)
def test_an_unknown_command_comes_with_the_nearest(words: str, meant: str) -> None:
    assert f"Did you mean '{meant}'?" in refused(*words.split())


def test_numbers_next_to_1_are_not_shown_as_1() -> None:
    assert shown([0.99996, 1.0, 0.5, 12.00001]) == "0.99996, 1, 0.5, 12.00001"


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in sys.modules if name.startswith(("sims.live", "sub2sub.live", "hierarchy.live"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "msgpack", None)
    line = 'sub2sub: msgpack is not installed here: pip install "sub2sub-overlays[live]"'
    assert refused("live", "swarm", code=1) == line


def test_a_misspelled_key_of_a_sweep_fails_before_anything_runs() -> None:
    Path("s.toml").write_text("experiment = 'sub2sub-fig5'\n[grid]\n'population.sise' = [10, 20]\n")
    assert "did you mean 'size'" in refused("sweep", "s.toml", "--out", "o")
    assert not Path("o").exists()


def _python(*words: str) -> list[str]:
    return [sys.executable, "-m", "sub2sub", *words]


def test_the_package_is_a_program_and_has_a_version() -> None:
    where = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(_python("--version"), env=where, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"sub2sub, version {sub2sub.__version__}"


def test_a_comparison_that_is_ended_says_so(tmp_path: Path) -> None:
    where = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = _python("compare", "--quick", "--subscribers", "60", "--processes", "1", "--out", "c", "--quiet")
    with subprocess.Popen(words, env=where, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while not Path("c/experiment.toml").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    assert json.loads(Path("c/manifest.json").read_text())["state"] == "interrupted"


def test_an_interrupt_while_python_executes_a_string_has_the_exit_code_of_any_other(tmp_path: Path) -> None:
    """Python itself would end the process by the signal."""
    (tmp_path / "interrupted.py").write_text(
        "import click, sims.cli.app as app\n"
        "run = click.Command('run', callback=lambda: exec('raise KeyboardInterrupt'))\n"
        "app.Commands.get_command = lambda *_: run\n"
        "app.main(['run'])\n"
    )
    where = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    ran = subprocess.run([sys.executable, "-m", "interrupted"], env=where, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (130, "sub2sub: interrupted\n")
