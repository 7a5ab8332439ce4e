"""Means over runs with Student's confidence intervals: every run counts once, however many rows it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

CONFIDENCE = 0.95
_SHARES = ("links", "complete", "hit_ratio", "r2")


def values_by_run(frame: pd.DataFrame, keys: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """The mean of each metric within each run, for each combination of the columns `keys`.

    Returns
    -------
    DataFrame
        `run`, the keys, `metric` and `value`. Missing values and NaN do not count.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"run": ["a", "a", "b"], "complete": [0.4, 0.6, 0.7]})
    >>> values_by_run(rows, [], ["complete"])["value"].tolist()
    [0.5, 0.7]
    """
    return means_of_sums(sums_by_run(frame, keys, metrics), keys)


def sums_by_run(frame: pd.DataFrame, keys: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """The same as sums: `total` and `count` in place of `value`, so that parts of a run can be added up."""
    cells = frame.melt(["run", *keys], list(metrics), "metric", "value").astype({"value": float})
    groups = cells.dropna(subset=["value"]).groupby(["run", *keys, "metric"], dropna=False, observed=True)
    return groups["value"].agg(total="sum", count="count").reset_index()


def means_of_sums(sums: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """The values of what `sums_by_run` returned, for one part of the runs or for several together."""
    whole = sums.groupby(["run", *keys, "metric"], dropna=False)[["total", "count"]].sum().reset_index()
    return whole.assign(value=whole["total"] / whole["count"]).drop(columns=["total", "count"])


def means_over_runs(values: pd.DataFrame, keys: Sequence[str]) -> pa.Table:
    """Means over runs of what `values_by_run` returns.

    Returns
    -------
    pyarrow Table
        The keys, `metric`, `runs`, `mean`, `low` and `high` (Student's 95 % interval of the mean, cut off at
        0 where no run is below it and at 1 for shares; empty for a single run), `least` and `greatest`.

    Examples
    --------
    >>> import pandas as pd
    >>> values = pd.DataFrame({"run": ["a", "b"], "metric": "complete", "value": [0.5, 0.7]})
    >>> means_over_runs(values, [])["mean"].to_pylist()
    [0.6]
    """
    import pyarrow as pa
    from scipy import special

    groups = values.groupby([*keys, "metric"], dropna=False)["value"]
    found = groups.agg(runs="count", mean="mean", deviation="std", least="min", greatest="max").reset_index()
    runs, mean = found["runs"].to_numpy(), found["mean"].to_numpy()
    quantile = special.stdtrit(np.maximum(runs - 1, 1), 0.5 + CONFIDENCE / 2)
    reach = quantile * found["deviation"].to_numpy(float) / np.sqrt(runs)
    low = np.where(found["least"] >= 0, np.maximum(mean - reach, 0.0), mean - reach)
    high = np.where(_are_shares(found["metric"]), np.minimum(mean + reach, 1.0), mean + reach)
    table = pa.Table.from_pandas(found, preserve_index=False)
    for name, end in (("low", low), ("high", high)):
        table = table.append_column(name, pa.array(end, mask=runs < 2))
    return table.select([*keys, "metric", "runs", "mean", "low", "high", "least", "greatest"])


def _are_shares(metrics: Sequence[str]) -> NDArray[np.bool_]:
    """Which metrics cannot exceed 1, by their names."""
    return np.array([name in _SHARES or name.endswith(("_ratio", "_share")) for name in metrics], bool)
