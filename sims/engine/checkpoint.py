"""Checkpoints: a simulation's arrays and notes in one file, written atomically."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write

__all__ = ["load_checkpoint", "save_checkpoint"]

FORMAT = 1


def save_checkpoint(path: Path, arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> None:
    """Write arrays and notes: a killed process leaves the old file or the new one."""
    text = json.dumps({"format": FORMAT, **notes}).encode()
    with atomic_write(path) as draft, draft.open("wb") as file:
        np.savez(file, allow_pickle=False, notes=np.frombuffer(text, np.uint8), **arrays)


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
