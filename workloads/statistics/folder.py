"""A folder of statistics: Parquet tables, `statistics.md`, figures, and a manifest of kind "stats".

The manifest has the same fields as that of a run, so that `sub2sub report` can include the folder. It is the
first file that is removed and the last that is written: a folder without it is not complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from workloads.files.atomic import atomic_write, remove_drafts, write_text
from workloads.files.checked import write_parquet
from workloads.files.manifest import MANIFEST, begin_manifest, read_manifest, write_manifest

_ROWS = 60  # of a table in Markdown; all are in Parquet


def begin_folder(out: Path) -> None:
    """Remove earlier statistics from a folder, the manifest first; other files stay."""
    remove_drafts(out)
    if (read_manifest(out) or {}).get("kind") == "stats":
        (out / MANIFEST).unlink()
        for pattern in ("*.parquet", "*.png", "*.md"):
            for file in out.glob(pattern):
                file.unlink()


def write_folder(
    out: Path,
    name: str,
    text: str,
    tables: Mapping[str, pa.Table],
    sources: Sequence[Path],
    shown: Sequence[str],
    hidden: Sequence[str] = (),
) -> Path:
    """Write tables, `statistics.md` with an introduction and the tables `shown`, and the manifest, last.

    Columns `hidden` are left out of `statistics.md`.
    """

    for table_name, table in tables.items():
        with atomic_write(out / f"{table_name}.parquet") as draft:
            write_parquet(table, draft)
    parts = [f"# {name}\n\n{text}\n"]
    for table_name in shown:
        table = tables[table_name].drop_columns(list(hidden))
        more = f"\n{table.num_rows - _ROWS} more rows in `{table_name}.parquet`.\n"
        body = f"{markdown(table.slice(0, _ROWS))}\n{more if table.num_rows > _ROWS else ''}"
        parts.append(f"## {table_name}\n\n{body}" if len(shown) > 1 else body)
    write_text(out / "statistics.md", "\n".join(parts))
    manifest = begin_manifest("stats", name, state="done")
    write_manifest(out, {**manifest, "sources": [str(source) for source in sources]})
    return out


def markdown(table: pa.Table) -> str:
    """A table in Markdown.

    Examples
    --------
    >>> import pyarrow as pa
    >>> print(markdown(pa.table({"a": ["x|y"], "b": [0.125]})))
    | a | b |
    |---|---|
    | x\\|y | 0.125 |
    """
    lines = [table.column_names, ["---"] * table.num_columns]
    lines += [[_cell(value) for value in row.values()] for row in table.to_pylist()]
    text = ["| " + " | ".join(cells) + " |" for cells in lines]
    text[1] = text[1].replace(" ", "")
    return "\n".join(text)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "\\|")
