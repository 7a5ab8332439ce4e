"""Means over runs with Student's confidence intervals; every run has the same weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from workloads.arrays import Floats, Integers, Mask

CONFIDENCE = 0.95
_SHARES = ("links", "complete", "hit_ratio", "r2")


def values_by_run(frame: pd.DataFrame, keys: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """The mean of each metric within each run, for each combination of the columns `keys`.

    Returns
    -------
    DataFrame
        `run`, the keys, `metric` and `value`. Missing values and NaN are ignored.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"run": ["a", "a", "b"], "complete": [0.4, 0.6, 0.7]})
    >>> values_by_run(rows, [], ["complete"])["value"].tolist()
    [0.5, 0.7]
    """
    cells = frame.melt(["run", *keys], list(metrics), "metric", "value").astype({"value": float})
    groups = cells.dropna(subset=["value"]).groupby(["run", *keys, "metric"], dropna=False, observed=True)
    return groups["value"].mean().reset_index()


def means_over_runs(values: pd.DataFrame, keys: Sequence[str]) -> pa.Table:
    """Means over runs of the values that `values_by_run` returns.

    Returns
    -------
    pyarrow Table
        The keys, `metric`, `runs`, `mean`, `low` and `high` (Student's 95 % interval of the mean, cut off at
        0 if no run is below it and at 1 for shares; empty for a single run), `least` and `greatest`.

    Examples
    --------
    >>> import pandas as pd
    >>> values = pd.DataFrame({"run": ["a", "b"], "metric": "complete", "value": [0.5, 0.7]})
    >>> means_over_runs(values, [])["mean"].to_pylist()
    [0.6]
    """
    groups = values.groupby([*keys, "metric"], dropna=False)["value"]
    found = groups.agg(runs="count", mean="mean", deviation="std", least="min", greatest="max").reset_index()
    runs, mean = found["runs"].to_numpy(), found["mean"].to_numpy()
    half = half_interval(found["deviation"].to_numpy(float), runs)
    low = np.where(found["least"] >= 0, np.maximum(mean - half, 0.0), mean - half)
    high = np.where(_are_shares(found["metric"]), np.minimum(mean + half, 1.0), mean + half)
    table = pa.Table.from_pandas(found, preserve_index=False)
    for name, end in (("low", low), ("high", high)):
        table = table.append_column(name, pa.array(end, mask=runs < 2))
    return table.select([*keys, "metric", "runs", "mean", "low", "high", "least", "greatest"])


def half_interval(deviation: Floats, runs: Integers) -> Floats:
    """Half the width of Student's interval of a mean, from the standard deviation and the number of runs."""
    from scipy import special

    quantile: Floats = special.stdtrit(np.maximum(runs - 1, 1), 0.5 + CONFIDENCE / 2)
    return quantile * deviation / np.sqrt(runs)


def _are_shares(metrics: Sequence[str]) -> Mask:
    """Which metrics cannot exceed 1, by their names."""
    return np.array([name in _SHARES or name.endswith(("_ratio", "_share")) for name in metrics], bool)
