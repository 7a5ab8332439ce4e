"""Where an imported workload came from: names, sizes and digests of its files, for its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workloads.files.digests import file_digest


def describe_sources(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a workload was made of, for its manifest: names, sizes and digests of files."""
    found: dict[str, Any] = {}
    for kind, source in given.items():
        path = Path(source) if isinstance(source, str | Path) else None
        if path is not None and path.is_file():
            found[kind] = {"file": path.name, "bytes": path.stat().st_size, "sha256": file_digest(path)}
        elif path is not None:
            files = sorted(file for file in path.rglob("*") if file.is_file())
            size = sum(file.stat().st_size for file in files)
            found[kind] = {"folder": path.name, "bytes": size, "sha256": file_digest(*files, root=path)}
        elif source is not None:
            found[kind] = {"type": type(source).__name__}
    return found
