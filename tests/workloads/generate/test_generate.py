"""Workload folders: the same bytes in this process and on Spark, and complete or absent."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workloads
from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write
from workloads.folder import layout
from workloads.generate.generate import generate
from workloads.generate.rows import BLOCK


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of one block instead of sixteen, so that small workloads have several."""
    monkeypatch.setattr(layout, "ROWS_PER_FILE", BLOCK)


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("at_least", [0, 2])
def test_a_folder_holds_the_rows_of_the_in_process_path(tmp_path: Path, at_least: int) -> None:
    spec = workloads.named("power-law-3")
    n, m = 2 * BLOCK + 5, BLOCK + 7
    workload = generate(spec, n, m, seed=4, out=tmp_path / "w", at_least=at_least)
    pieces = list(workload.subscriptions())
    lows, highs = spec.subscriptions(n, seed=4)
    assert len(pieces) == 3
    assert np.array_equal(np.concatenate([piece[0] for piece in pieces]), np.arange(n))
    assert len(np.unique(np.concatenate([piece[1] for piece in pieces]))) == n
    assert np.array_equal(np.concatenate([piece[2] for piece in pieces]), lows)
    assert np.array_equal(np.concatenate([piece[3] for piece in pieces]), highs)
    events = spec.events(m, 4, lows, highs, at_least)
    assert np.array_equal(workload.event_range(0, m), events)
    assert np.array_equal(workload.event_range(BLOCK - 3, BLOCK + 3), events[BLOCK - 3 : BLOCK + 3])
    assert workload.spec == spec
    assert not list((tmp_path / "w").glob(".*"))


def test_spark_writes_the_same_bytes_whatever_the_partitioning(tmp_path: Path, spark: Any) -> None:
    spec = workloads.named("uniform-3")
    expected = None
    for name, session, partitions in (("here", None, None), ("one", spark, 1), ("five", spark, 5)):
        # Sparse enough that a second round of candidates is needed.
        generate(spec, 700, 3 * BLOCK // 2, 9, tmp_path / name, spark=session, partitions=partitions)
        expected = expected or digests(tmp_path / name)
        assert digests(tmp_path / name) == expected
    assert expected is not None
    assert set(expected) == {"manifest.json", "subscriptions/part-00000.parquet", "events/part-00000.parquet"}


def test_progress_names_each_stage_and_ends_complete(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    spec = workloads.named("uniform-1")
    generate(spec, 100, 10, seed=1, out=tmp_path / "w", progress=lambda *report: seen.append(report))
    assert [what for what, _, _ in seen] == ["subscriptions", "candidates", "events"]
    assert all(done == total for _, done, total in seen)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="empty or new folder"):
        generate(workloads.named("uniform-1"), 10, 1, seed=1, out=tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_nothing_is_left_of_a_workload_that_could_not_be_made(tmp_path: Path) -> None:
    spec = workloads.named("uniform-8")
    with pytest.raises(InputError, match="expected a denser workload"):
        generate(spec, 50, 5, seed=1, out=tmp_path / "w")
    assert not (tmp_path / "w").exists()
    generate(spec, 50, 5, seed=1, out=tmp_path / "w", at_least=0)


def test_an_unfinished_folder_is_not_a_workload(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a workload folder"):
        layout.open_workload(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="expected format 1, got 99"):
        layout.open_workload(tmp_path)


@pytest.mark.parametrize("damage", ["lost", "short"])
def test_a_task_that_leaves_no_file_fails_the_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """As a worker does whose disk is not this machine's."""

    really = layout.write_part

    def write(folder: Path, number: int, table: Any) -> int:
        if damage == "short":
            really(folder, number, table.slice(0, 3))
        return int(table.num_rows)

    monkeypatch.setattr(layout, "write_part", write)
    reason = "expected a folder that all workers share" if damage == "lost" else "expected 10 rows, got 3"
    with pytest.raises(InputError, match=rf"part-00000\.parquet: .*{reason}"):
        generate(workloads.named("uniform-1"), 10, 0, seed=1, out=tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_two_attempts_at_a_file_write_to_drafts_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "part-00000.parquet"
    with atomic_write(path) as first, atomic_write(path) as second:
        assert first != second
        first.write_text("one")
        second.write_text("two")
    assert path.read_text() == "one"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
