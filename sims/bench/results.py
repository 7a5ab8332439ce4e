"""Results of measurements as rows of a CSV file that is added to, machine after machine."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write
from workloads.files.environment import machine, versions

COLUMNS = ("date", "version", "processor", "cores", "benchmark", "size", "rate", "unit")


def as_rows(results: Iterable[tuple[str, int, float, str]]) -> list[dict[str, Any]]:
    """Rows for (benchmark, size, rate, unit), with the date, the version and the machine."""
    here, date = machine(), datetime.now(UTC).date().isoformat()
    about = (date, versions()["sub2sub"], here["processor"], here["cores"])
    return [
        dict(zip(COLUMNS, (*about, name, size, float(f"{rate:.4g}"), unit), strict=True))
        for name, size, rate, unit in results
    ]


def append_results(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows to a table of results; create the table if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for rate in (1e6, 2e6):
    ...         append_results(Path(folder) / "r.csv", as_rows([("cycle", 1000, rate, "peers/s")]))
    ...     lines = (Path(folder) / "r.csv").read_text().splitlines()
    >>> lines[0], len(lines)
    ('date,version,processor,cores,benchmark,size,rate,unit', 3)
    """
    before = path.read_text(encoding="utf-8") if path.exists() else ",".join(COLUMNS) + "\n"
    if before.partition("\n")[0] != ",".join(COLUMNS):
        raise InputError(f"{path}: expected a table with the columns {', '.join(COLUMNS)}")
    text = io.StringIO()
    csv.DictWriter(text, COLUMNS, lineterminator="\n").writerows(rows)
    with atomic_write(path) as draft:
        draft.write_text(before + text.getvalue(), encoding="utf-8")
