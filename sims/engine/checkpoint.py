"""Checkpoints: a simulation's arrays and notes in one file, written atomically."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write

FORMAT = 4
MARK = b"sub2sub checkpoint digest:"
DIGEST = 32  # bytes, at the very end


def save_checkpoint(path: Path, arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> None:
    """Write arrays and notes atomically: a killed process leaves either the old file or the new one."""
    text = json.dumps({"format": FORMAT, **notes}).encode()
    with atomic_write(path) as draft:
        with draft.open("wb") as file:
            np.savez(file, allow_pickle=False, notes=np.frombuffer(text, np.uint8), **arrays)
        with draft.open("r+b") as file:
            digest = _digest(file, draft.stat().st_size)
            file.write(MARK + digest)


def load_checkpoint(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what `save_checkpoint` wrote.

    Kernels use the arrays without checking them. The file is therefore read only if its digest matches.
    """
    try:
        _verify(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        notes = dict(json.loads(arrays.pop("notes").tobytes()))
    except (OSError, KeyError, TypeError, ValueError, MemoryError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: expected a checkpoint of sub2sub, {error}") from None
    if notes.pop("format", None) != FORMAT:
        raise InputError(f"{path}: expected checkpoint format {FORMAT}, another version of sub2sub wrote it")
    return arrays, notes


def _verify(path: Path) -> None:
    size = path.stat().st_size - DIGEST - len(MARK)
    with path.open("rb") as file:
        digest = _digest(file, size) if size > 0 else b""
        if not digest or file.read() != MARK + digest:
            raise ValueError("it is damaged, or written by another version")


def _digest(file: BinaryIO, size: int) -> bytes:
    """Digest of the first `size` bytes of a file; leaves the file position after them."""
    digest, left = hashlib.blake2b(digest_size=DIGEST), size
    while piece := file.read(min(left, 1 << 20)):
        digest.update(piece)
        left -= len(piece)
    return digest.digest()
