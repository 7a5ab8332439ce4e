"""Tables that are too large for memory, written to disk cycle by cycle during a run."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from workloads.files.atomic import atomic_write
from workloads.files.checked import read_parquet, write_parquet
from workloads.files.places import file_name


def record_cycle(folder: Path, name: str, table: pa.Table) -> None:
    """Add the rows of one cycle, given in the column `cycle`, to a table in a folder.

    Rows of earlier cycles are kept. Rows of this or later cycles, left by a run that was interrupted and then
    resumed from a checkpoint, are removed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for cycle in (0, 10, 20, 10):
    ...         record_cycle(Path(folder), "load", pa.table({"cycle": [cycle], "peer": [7]}))
    ...     read_parquet(Path(folder) / "load.parquet")["cycle"].to_pylist()
    [0, 10]
    """
    file = folder / f"{file_name(name)}.parquet"
    if file.exists() and table.num_rows:
        before = read_parquet(file, name)
        earlier = before.filter(pc.less(before["cycle"], table["cycle"][0]))
        table = pa.concat_tables([earlier.cast(table.schema), table])
    with atomic_write(file) as draft:
        write_parquet(table, draft, name, compression="zstd")
