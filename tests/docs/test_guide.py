"""What the guide shows can be typed: its files are valid, its commands exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from sims.cli.app import main
from sims.config.experiment import load_experiment
from sims.config.shipped import find_file
from sub2sub.errors import InputError
from workloads.settings.toml import value_as_toml

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "guide.md").read_text()
EXPERIMENT, TOPICS, *_, SWEEP = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
TYPED = re.findall(r"^    (sub2sub .*)$", GUIDE.partition("## Running an experiment")[2], re.MULTILINE)


def test_the_experiment_of_the_guide_is_valid(tmp_path: Path):
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    assert load_experiment(tmp_path / "mine.toml").layers.ring.exchanges == 2


def test_topics_can_be_changed_as_the_guide_shows(tmp_path: Path):
    (tmp_path / "mine.toml").write_text('system = "camcast"\n' + TOPICS)
    faults = load_experiment(tmp_path / "mine.toml").faults
    assert [each.kind for each in faults] == ["add topic", "add parent", "remove topic"]


def test_mistakes_are_reported_as_the_guide_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    wrong = EXPERIMENT.replace("size = 10_000", "sise = 10_000").replace("share = 0.2", "share = 20.0")
    Path("mine.toml").write_text(wrong)
    with pytest.raises(InputError) as found:
        load_experiment(Path("mine.toml"))
    assert [f"    {line}" for line in str(found.value).splitlines()] == re.findall(
        r"^    mine\.toml:.*$", GUIDE, re.MULTILINE
    )


def test_the_sweep_of_the_guide_changes_settings_that_exist():
    plan = tomllib.loads(SWEEP)
    settings = plan["settings"] | {key: values[-1] for key, values in plan["grid"].items()}
    changes = [f"{key}={value_as_toml(value)}" for key, value in settings.items() if key != "experiment"]
    assert load_experiment(find_file(settings["experiment"]), changes).dissemination.shortcuts == 2


@pytest.mark.parametrize("line", TYPED)
def test_a_command_of_the_guide_can_be_typed(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("w", "shortcuts", "runs/sub2sub-fig5"):
        Path(folder).mkdir(parents=True)
    for file in ("orders.csv", "trades.csv", "shortcuts.toml", "shortcuts/results.parquet"):
        Path(file).touch()
    words = shlex.split(line.partition(" > ")[0], comments=True)[1:]
    command: click.Command | None = main
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    assert command is not None
    command.make_context(line, words)  # raises for options and arguments it does not know
