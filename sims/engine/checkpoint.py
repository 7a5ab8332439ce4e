"""Checkpoints: a simulation's arrays and notes in one file, written whole or not at all."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError

__all__ = ["load_checkpoint", "save_checkpoint"]

FORMAT = 1


def save_checkpoint(path: Path, arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> None:
    """Write beside the target and move into place: a killed process leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    text = json.dumps({"format": FORMAT, **notes}).encode()
    try:
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, notes=np.frombuffer(text, np.uint8), **arrays)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load_checkpoint(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what `save_checkpoint` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        notes = json.loads(arrays.pop("notes").tobytes())
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: expected a checkpoint of sub2sub, {error}") from None
    if notes.pop("format", None) != FORMAT:
        raise InputError(
            f"{path}: expected checkpoint format {FORMAT}, written by another version of sub2sub"
        )
    return arrays, notes
