"""Load of each subscriber: the number of its rings and of its successors on them.

`list_rings` writes all rows of a subscriber to the files of one arc, so each arc is one task. It writes the
loads to a file and returns only the number of subscribers with each load.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from workloads.files.checked import read_parquet
from workloads.files.places import remove
from workloads.folder.layout import Workload, part, parts, write_part
from workloads.folder.steps import complete, require
from workloads.spark.tasks import Spark, run_tasks
from workloads.statistics.spread import Spread

QUANTITIES = ("rings", "successors")


def ring_loads(workload: Workload, out: Path, spark: Spark = None) -> dict[str, Spread]:
    """Write the loads of subscribers to a folder; return their spread.

    Columns: subscriber, rings, successors (distinct ones), all int64. The folder does not have subscribers
    without a ring; the spread includes them.
    """
    folder = workload.folder.resolve() / "rings"
    files = sorted(require(folder, "rings", "sub2sub workload match --rings"))
    arcs = len(files) // max(1, len(parts(folder, workload.events)))
    remove(out)
    schema = pa.schema(
        [("arc", pa.int64()), ("quantity", pa.string()), ("value", pa.int64()), ("subscribers", pa.int64())]
    )
    task = partial(_arc_loads, folder, files, arcs, out.resolve(), schema)
    found = run_tasks(spark, arcs, task, schema).to_pandas()
    spreads, written = {}, [0] * arcs
    for quantity in QUANTITIES:
        rows = found[found["quantity"] == quantity]
        written = [int(rows.loc[rows["arc"] == arc, "subscribers"].sum()) for arc in range(arcs)]
        none = workload.subscribers - sum(written)
        values, weights = (rows[column].to_numpy(np.float64) for column in ("value", "subscribers"))
        on_rings = Spread(values, weights, float(values @ weights))
        on_none = [Spread(np.zeros(1), np.full(1, float(none)))] if none else []
        spreads[quantity] = Spread.together([on_rings, *on_none])
    complete(out, [part(out, arc) for arc in range(arcs)], written)
    return spreads


def _arc_loads(folder: Path, files: list[str], arcs: int, out: Path, schema: pa.Schema, arc: int) -> pa.Table:
    columns = ["subscriber", "successor"]
    tables = [read_parquet(folder / name, columns=columns) for name in files[arc::arcs]]
    grouped = pa.concat_tables(tables).group_by("subscriber")
    counted = grouped.aggregate([("successor", "count"), ("successor", "count_distinct")])
    loads = counted.rename_columns(["subscriber", *QUANTITIES]).sort_by("subscriber")
    write_part(out, arc, loads)
    pieces = []
    for quantity in QUANTITIES:
        value, subscribers = np.unique(loads[quantity].to_numpy(), return_counts=True)
        own = [pa.repeat(arc, len(value)), pa.repeat(quantity, len(value)), value, subscribers]
        pieces.append(pa.Table.from_arrays([pa.array(column) for column in own], schema=schema))
    return pa.concat_tables(pieces)
