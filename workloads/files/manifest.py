"""`manifest.json`: contents of a folder, the program that wrote it, and its state. See docs/formats.md.

Every folder of results has one. All begin with the same fields (`begin_manifest`), so that reports and
statistics can read them. The manifest of a workload has no machine and no date, because its files are the
same bytes wherever they are generated.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from sub2sub.errors import InputError
from workloads.files.atomic import write_text
from workloads.files.environment import machine, versions

FORMAT = 1
MANIFEST = "manifest.json"

Kind = Literal["run", "reproduce", "compare", "sweep", "stats"]
State = Literal["running", "interrupted", "done", "failed"]


def begin_manifest(
    kind: Kind, name: str, *, state: State = "running", seed: int | None = None, cycles: int | None = None
) -> dict[str, Any]:
    """The fields that all manifests of results share, with the current time.

    Examples
    --------
    >>> manifest = begin_manifest("run", "example", seed=1)
    >>> manifest["format"], manifest["kind"], manifest["state"], "numpy" in manifest["versions"]
    (1, 'run', 'running', True)
    """
    return {
        "format": FORMAT, "kind": kind, "name": name, "state": state, "seed": seed, "cycles": cycles,
        "versions": versions(), "machine": machine(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
    }  # fmt: skip


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> Path:
    """Write the manifest of a folder atomically; types that JSON lacks become text."""
    return write_text(folder / MANIFEST, json.dumps(manifest, indent=2, default=str) + "\n")


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Read the manifest of a folder; None if there is none. An invalid manifest is refused."""
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as failure:
        raise InputError(f"{file}: {failure}") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{file}: expected a JSON object, got {type(manifest).__name__}")
    return manifest
