"""Making a workload folder of foreign tables, so that matching and statistics work on them too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.foreign import Columns, OnBad, read_events, read_subscriptions
from workloads.layout import (
    ROWS_PER_FILE,
    Workload,
    event_schema,
    open_workload,
    part,
    subscription_schema,
    write_manifest,
    write_part,
)
from workloads.rows import words

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["import_workload"]

Floats = NDArray[np.float64]


def import_workload(
    subscriptions: Path | pa.Table,
    events: Path | pa.Table | None,
    out: Path,
    *,
    columns: Columns | None = None,
    event_columns: Mapping[str, str] | None = None,
    on_bad: OnBad = "refuse",
    seed: int = 0,
) -> Workload:
    """Write foreign subscriptions and events to a new workload folder.

    Parameters
    ----------
    columns, event_columns : mapping, optional
        Which columns hold which attribute; see `workloads.foreign`.
    on_bad : {"refuse", "set aside"}
        Rows that cannot be used stop the import, or go to `rejected/` of the folder with their row
        number and reason; their number is in the manifest.
    seed : int
        Of the random sequence IDs.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> boxes = pa.table({"x_low": [0.0, 0.2], "x_high": [0.5, 0.4]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     workload = import_workload(boxes, pa.table({"x": [0.3]}), Path(folder) / "w")
    >>> workload.subscribers, workload.events, workload.names
    (2, 1, ['x'])
    """
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out}: expected an empty or new folder")
    names, lows, highs, bad_boxes = read_subscriptions(subscriptions, columns, on_bad=on_bad)
    for name in names:
        if not name.isidentifier():
            raise InputError(f"attribute name = {name!r}: expected letters, digits and _ only")
    points, bad_points = np.empty((0, len(names))), None
    if events is not None:
        mapping = {name: (event_columns or {}).get(name, name) for name in names}
        points, bad_points = read_events(events, mapping, on_bad=on_bad)
    ring_ids = (words(seed, "subscription/ring_id", 0, len(lows)) >> np.uint64(1)).astype(np.int64)
    ends = [column for axis in range(len(names)) for column in (lows[:, axis], highs[:, axis])]
    _write(out / "subscriptions", [np.arange(len(lows)), ring_ids, *ends], subscription_schema(names))
    _write(out / "events", [np.arange(len(points)), *points.T], event_schema(names))
    rejected = {}
    for kind, bad in (("subscriptions", bad_boxes), ("events", bad_points)):
        if bad is not None and len(bad):
            bad.write(out / "rejected" / f"{kind}.csv")
            rejected[kind] = len(bad)
    manifest = {"attributes": names, "seed": seed, "subscribers": len(lows), "events": len(points)}
    write_manifest(out, manifest | {"rejected": rejected})
    return open_workload(out)


def _write(folder: Path, columns: list[NDArray[np.generic]], schema: pa.Schema) -> None:
    import pyarrow as pa

    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema)
    for number, start in enumerate(range(0, table.num_rows, ROWS_PER_FILE)):
        write_part(part(folder, number), table.slice(start, ROWS_PER_FILE))
