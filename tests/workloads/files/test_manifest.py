"""Manifests: the same first fields for every kind of folder, one reader."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from sub2sub.errors import InputError
from workloads.files.checked import digest, file_digest
from workloads.files.manifest import begin_manifest, read_manifest, write_manifest


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    manifest = begin_manifest("stats", "example", state="done", seed=3)
    write_manifest(tmp_path, {**manifest, "day": date(2026, 1, 2)})
    assert read_manifest(tmp_path) == {**manifest, "day": "2026-01-02"}
    assert {"python", "sub2sub", "numpy", "pyarrow"} <= manifest["versions"].keys()
    assert manifest["machine"]["cores"] >= 1


def test_a_folder_without_a_manifest_has_none_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    (tmp_path / "table.csv").touch()
    assert read_manifest(tmp_path / "table.csv") is None
    for text in ("{", "[]", "\xff"):
        (tmp_path / "manifest.json").write_text(text, encoding="latin-1")
        with pytest.raises(InputError, match=r"manifest\.json: "):
            read_manifest(tmp_path)


def test_digests_tell_contents_apart_but_not_orders(tmp_path: Path) -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 2, "b": 1})
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_bytes(b"a")
    second.write_bytes(b"b")
    assert file_digest(first) != file_digest(second)
