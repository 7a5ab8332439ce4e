"""Tables for tests of pages."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet


def save_table(folder: Path, name: str, columns: dict[str, object]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
