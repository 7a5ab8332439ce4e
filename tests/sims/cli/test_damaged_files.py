"""Whatever is damaged in a folder that a command wrote: one line that names it, or the same results.

Files are flipped at random bits, cut, emptied, filled with zeros, exchanged and removed, with a seed for each
trial. A command that reads them may not raise, nor print other numbers.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sims.cli.test_mistakes import SMALL, call

TRIALS = 4  # of each command
WRITTEN = (".parquet", ".json", ".npz")
DAMAGE: dict[str, Callable[[bytes, bytes, random.Random], bytes]] = {
    "a bit": lambda data, other, dice: _flipped(data, 1, dice),
    "20 bits": lambda data, other, dice: _flipped(data, 20, dice),
    "the end": lambda data, other, dice: data[: dice.randrange(len(data))],
    "everything": lambda data, other, dice: b"",
    "zeros": lambda data, other, dice: bytes(len(data)),
    "another file": lambda data, other, dice: other,
}
COMMANDS = {
    "resume": ("stopped", ["run", "stopped", "--resume", "--json"]),
    "statistics of a run": ("r", ["stats", "r", "--out", "o", "--json"]),
    "sweep": ("s", ["sweep", "sweep.toml", "--out", "s", "--processes", "1", "--json"]),
    "statistics of a sweep": ("s", ["stats", "s", "--out", "o", "--json"]),
}
SWEEP = """
experiment = "sub2sub-fig5"
seeds = [1, 2]
settings = { cycles = 1 }
grid = { "population.size" = [20, 30] }
"""


def _flipped(data: bytes, bits: int, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(bits):
        changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _numbers(output: str) -> str:
    """What a command has printed, but for how long it took."""
    return "\n".join(line for line in output.splitlines() if "seconds" not in line)


def _stop_after_a_checkpoint(patch: pytest.MonkeyPatch) -> None:
    """Leave a run whose disk was full when its figures were drawn."""

    def full(run: object) -> None:
        raise OSError("no space left")

    patch.setattr("sims.runs.runner.draw_figures", full)
    every = ("--set", "cycles=2", "--set", "checkpoint_every=1", "--seed", "1", "--out", "stopped")
    assert call("run", "sub2sub-fig5", *SMALL, *every).exit_code == 1
    assert Path("stopped/checkpoint.npz").exists()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("folders")
    (place / "sweep.toml").write_text(SWEEP)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for words in (
            f"run sub2sub-fig5 {' '.join(SMALL)} --set cycles=2 --seed 1 --out r",
            "sweep sweep.toml --out s --processes 1",
        ):
            made = call(*words.split())
            assert made.exit_code == 0, made.output
        _stop_after_a_checkpoint(patch)
    return place


@pytest.mark.parametrize("command", COMMANDS)
def test_a_damaged_file_is_named_or_does_not_matter(
    command: str, folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, words = COMMANDS[command]
    whole = tmp_path / "whole"
    shutil.copytree(folders, whole)
    monkeypatch.chdir(whole)
    expected = call(*words)
    assert expected.exit_code == 0, expected.output
    files = [
        path for path in sorted((folders / folder).rglob("*")) if path.suffix in (".parquet", ".json", ".npz")
    ]
    for trial in range(TRIALS):
        dice = random.Random(f"{command} {trial}")
        file, what = dice.choice(files), dice.choice(list(DAMAGE))
        other = dice.choice([path for path in files if path.suffix == file.suffix])
        place = tmp_path / str(trial)
        shutil.copytree(folders, place)
        damaged = place / file.relative_to(folders)
        damaged.write_bytes(DAMAGE[what](file.read_bytes(), other.read_bytes(), dice))
        monkeypatch.chdir(place)
        result = call(*words)
        told = f"{what} of {file.relative_to(folders)}, trial {trial}: {result.output}"
        assert result.exception is None or isinstance(result.exception, SystemExit), told
        if result.exit_code == 0:
            assert _numbers(result.stdout) == _numbers(expected.stdout), told
        else:
            assert file.name in result.output or str(file.relative_to(folders).parent) in result.output, told
