"""Every command that README, docs or `--help` show is run here, on small numbers, in one folder in order.

What takes long by its nature, or serves until it is stopped, is only parsed: those commands have tests of
their own that run them.
"""

from __future__ import annotations

import re
import shlex
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sims.cli.app import main
from sims.config.shipped import examples

ROOT = Path(__file__).parents[2]
PARSED = ("compare", "reproduce", "live", "lab")
LESS = {"--subscribers": "60", "--events": "12", "--cycles": "9", "--topics": "20", "--partitions": "2"}
SMALL = ["--set", "population.size=40", "--set", "workload.events=5"]
TOPICS = ["--set", "cycles=9"]  # of a few subscribers nobody may want what is published
PUSH_SUM = ["--set", "population.size=40"]


def _documents() -> Iterator[str]:
    copied = sorted((ROOT / "sims" / "examples").glob("*/README.md"))
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *copied]:
        text = re.sub(r"\\\n\s*", "", file.read_text(encoding="utf-8"))
        yield from re.findall(r"^(?:    )?(sub2sub .*)$", text, re.MULTILINE)


def _help(command: click.Command) -> Iterator[str]:
    yield from re.findall(r"^\s*(sub2sub .*)$", command.help or "", re.MULTILINE)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _help(inner)


def _words(line: str) -> list[str]:
    """What is typed; an explanation follows after a # or several blanks."""
    line = re.split(r"\s+#|  +| > ", line.strip())[0]
    return shlex.split(line)[1:]


def _typed() -> list[list[str]]:
    found = {tuple(_words(line)): None for line in (*_documents(), *_help(main))}
    return [list(words) for words in found if len(words) > 1 or words[0] in ("run", "reproduce", "schema")]


TYPED = _typed()
pytestmark = pytest.mark.xdist_group("commands")  # one builds on what another has made


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands name: tables, specs, experiments, a run, a sweep."""
    folder = tmp_path_factory.mktemp("typed")
    rng = np.random.default_rng(1)
    low = rng.random(30)
    orders = pd.DataFrame({"min_price": low, "max_price": low + 0.5})
    orders.assign(city=["Rome", "Oslo"] * 15).to_csv(folder / "orders.csv", index=False)
    orders.set_axis(["price_low", "price_high"], axis=1).to_parquet(folder / "prices.parquet")
    trades = pd.DataFrame({"price": rng.random(9) + 0.2, "where": ["Rome"] * 9})
    trades.to_csv(folder / "trades.csv", index=False)
    pd.DataFrame({"level": ["info", "error"]}).to_csv(folder / "alarms.csv", index=False)
    pd.DataFrame({"topic": [".a.b"]}).to_csv(folder / "articles.csv", index=False)
    pd.DataFrame({"path": [".a", ".a.b", ".a.c"]}).to_csv(folder / "tree.csv", index=False)
    pd.DataFrame({"section": [".a.b", ".a.c", ".a"]}).to_csv(folder / "readers.csv", index=False)
    (folder / "abos.tsv").write_text("kunde\tvon\tbis\nx\t1,5\t2.000,5\ny\t1\t3\n")
    (folder / "stocks.toml").write_text('[[attributes]]\nname = "price"\n')
    (folder / "news.toml").write_text('[[attributes]]\nname = "x"\n[churn]\nsession = 5\nabsence = 2\n')
    (folder / "mine.toml").write_text("cycles = 6\n")
    (folder / "crash.toml").write_text("cycles = 6\n")
    sweep = (
        'experiment = "crash.toml"\nsettings.population.size = 40\n[grid]\ndissemination.shortcuts = [0, 1]\n'
    )
    for name in ("sweep.toml", "grid.toml", "shortcuts.toml"):
        (folder / name).write_text(sweep)
    for name in ("push_sum.py", "push-sum.toml"):
        shutil.copy(ROOT / "examples" / name, folder / name)
    (folder / "tutorial.toml").write_text("cycles = 6\n")
    return folder


def _smaller(words: list[str]) -> list[str]:
    """The same command on less: fewer subscribers and events, one process, nobody to look at it."""
    words = [
        LESS.get(before, word) if word.isdigit() else word
        for before, word in zip(["", *words], words, strict=False)
    ]
    words = [word for word in words if word not in ("--open", "--spark")]
    if words[0] == "run" and len(words) > 1 and "--show" not in words:
        own = PUSH_SUM if any("push-sum" in word for word in words) else SMALL
        if "debian/run-topics.toml" in words:
            own = TOPICS
        if "--table" in words or any("workload.table=" in word for word in words):
            own = SMALL[2:]  # a table is as large as it is
        words += [] if "--resume" in words else [*own, "--overwrite"]
    if words[0] == "sweep":
        words += ["--processes", "1", "--out", "swept"] if "--out" not in words else ["--processes", "1"]
    return [word for word in words if not word.startswith("spark://")]


def _make_sure_of(words: list[str]) -> None:
    """Make the folders that a command takes and no command before it has made; clear the one it writes."""
    if words[0] == "example":
        shutil.rmtree(words[-1], ignore_errors=True)
        return
    for name in {word.partition("/")[0] for word in words if "/" in word} & examples().keys():
        if not Path(name).exists():
            _call(["example", name])
    if words[0] not in ("run", "report", "stats"):
        return
    written = words[words.index("--out") + 1] if "--out" in words else ""
    for word in words[1:]:
        source = Path(word.rpartition("=")[2].rstrip("/"))
        if source.exists() or word.startswith("-") or word == written:
            continue
        if "*" in word:
            if not list(Path().glob(word)):
                _call(["run", "mine.toml", *SMALL, "--out", word.replace("*", "one").rpartition("/")[0]])
            continue
        if source.name == "results.parquet":
            _call(["sweep", "sweep.toml", "--out", str(source.parent), "--processes", "1"])
        elif not source.suffix and (words[0] in ("report", "stats") or "--resume" in words):
            _call(["run", "mine.toml", *SMALL, "--out", str(source)])


def _call(words: list[str]) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, f"{' '.join(words)}: {result.output}"


@pytest.mark.parametrize("words", TYPED, ids=[" ".join(words) for words in TYPED])
def test_a_command_that_is_shown_runs(words: list[str], place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("SUB2SUB_ALLOW", "")
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr("sims.runs.runner.draw_figures", lambda run: None)  # drawn in tests of their own
    on_spark = words[0] == "workload" or words[:2] == [
        "stats",
        "w",
    ]  # run in tests/workloads/cli, on one session
    if (on_spark or words[0] in PARSED) and len(words) > 1 and "--help" not in words:
        for word in set(words) & {"w", "w20"}:
            (place / word).mkdir(exist_ok=True)
        command: click.Command | None = main
        rest = list(words)
        while isinstance(command, click.Group):
            command = command.get_command(click.Context(command), rest.pop(0))
        assert command is not None
        command.make_context(" ".join(words), rest)
        return
    if "--master" in words:
        pytest.skip("needs a cluster, which tests of workloads/spark start")
    smaller = _smaller(words)
    _make_sure_of(smaller)
    _call(sorted_files(smaller))


def sorted_files(words: list[str]) -> list[str]:
    """What the shell makes of `*`."""
    found: list[str] = []
    for word in words:
        found += sorted(str(path) for path in Path().glob(word)) or [word] if "*" in word else [word]
    return found


def test_there_are_commands_to_run() -> None:
    shown = {words[0] for words in TYPED}
    assert {
        "run",
        "report",
        "stats",
        "sweep",
        "workload",
        "compare",
        "reproduce",
        "lab",
        "live",
        "schema",
    } <= shown


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = {
    page.name: [textwrap.dedent(code) for _, code in found]
    for page in PAGES
    if (found := re.findall(r"^( *)```python\n(.*?)^\1```", page.read_text(), re.DOTALL | re.MULTILINE))
}


@pytest.mark.parametrize("name", CODE)
def test_the_programs_of_a_page_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    Path("out/figure.png").write_bytes(b"a figure that a page shows")
    if name == "formats.md":
        _call(["run", "sub2sub-fig5", "--set", "cycles=3", *SMALL, "--out", "runs/sub2sub-fig5", "--quiet"])
    known: dict[str, object] = {}
    for code in CODE[name]:
        exec(compile(code, name, "exec"), known)
    assert capsys.readouterr().out or Path("findings.html").exists()
