"""Digests of settings and files: the first sixteen hexadecimal digits of SHA-256."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def digest(value: Any) -> str:
    """Digest of settings, independent of their order.

    Examples
    --------
    >>> digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def file_digest(*files: Path, root: Path | None = None) -> str:
    """Digest of the contents of files, and of their names below `root` if it is given."""
    found = hashlib.sha256()
    for path in files:
        name = str(path.relative_to(root)).encode() if root else b""
        with path.open("rb") as file:
            found.update(name + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()[:16]
