"""A churn trace as a table: joins, leaves and changes by cycle, with the new subscription.

cycle       int64
subscriber  int64
kind        string      start (up before the first cycle), join, leave, change
version     int64       number of changes of the subscription so far
X_low, X_high float64   range of attribute X from this cycle on
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from workloads.generate.churn import CHANGE, Churn, changed
from workloads.spec.spec import Spec

KINDS = ("join", "leave", "change", "start")
_START = 3


def churn_table(
    churn: Churn, n: int, cycles: int, seed: int, start: int = 0, spec: Spec | None = None
) -> pa.Table:
    """The trace of the subscribers [start, start + n), sorted by cycle and then by subscriber.

    Parameters
    ----------
    spec : Spec, optional
        Spec of the subscriptions; without it the table has no columns of ranges.

    Examples
    --------
    >>> churn_table(Churn(5, 5), n=100, cycles=10, seed=1).column_names
    ['cycle', 'subscriber', 'kind', 'version']
    """
    trace = churn.trace(n, cycles, seed, start)
    there = np.flatnonzero(trace.up) + start
    cycle = np.append(np.zeros(len(there), np.int64), trace.cycle)
    subscriber = np.append(there, trace.subscriber)
    kind = np.append(np.full(len(there), _START), trace.kind)
    # Sorted by subscriber and time; a row's version includes its own change.
    order = np.lexsort((np.arange(len(cycle)), subscriber))
    counted = np.cumsum(kind[order] == CHANGE)
    first = np.searchsorted(subscriber[order], subscriber[order])
    before = np.where(first > 0, counted[np.maximum(first - 1, 0)], 0)
    version = np.empty(len(cycle), np.int64)
    version[order] = counted - before
    columns = {
        "cycle": pa.array(cycle), "subscriber": pa.array(subscriber),
        "kind": pa.DictionaryArray.from_arrays(kind.astype(np.int8), list(KINDS)).cast(pa.string()),
        "version": pa.array(version),
    }  # fmt: skip
    if spec is not None:
        ends = np.empty((2, len(cycle), len(spec.names)))
        for number in np.unique(version).tolist():
            rows = version == number
            ends[:, rows] = changed(spec, seed, subscriber[rows], number)
        for axis, name in enumerate(spec.names):
            columns[f"{name}_low"] = pa.array(ends[0, :, axis])
            columns[f"{name}_high"] = pa.array(ends[1, :, axis])
    return pa.table(columns)
