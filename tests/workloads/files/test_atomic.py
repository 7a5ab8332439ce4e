"""What is written is complete on the disk before it has its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workloads.files.atomic import atomic_write, write_text


def test_an_error_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    file = write_text(tmp_path / "a.txt", "old")

    def fail_halfway() -> None:
        with atomic_write(file) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_the_file_is_flushed_before_it_is_renamed_and_then_its_new_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[int | str] = []
    fsync, replace = os.fsync, Path.replace

    def flush(descriptor: int) -> None:
        happened.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def rename(path: Path, target: Path) -> Path:
        happened.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(Path, "replace", rename)
    file = write_text(tmp_path / "new" / "newer" / "a.txt", "text")
    first, *folders = (path.stat().st_ino for path in (file, *file.parents[:3]))
    assert happened == [first, "rename", *folders]


def test_nothing_has_the_name_when_the_disk_refuses_to_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError("disk")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="disk"):
        write_text(tmp_path / "a.txt", "text")
    assert list(tmp_path.iterdir()) == []


def test_two_attempts_at_a_file_write_to_drafts_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "part-00000.parquet"
    with atomic_write(path) as first, atomic_write(path) as second:
        assert first != second
        first.write_text("one")
        second.write_text("two")
    assert path.read_text() == "one"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
