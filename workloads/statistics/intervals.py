"""Confidence intervals, at 95 %: Student's of means, Welch's of differences, Wilson's of shares.

And means over runs with their intervals; every run has the same weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike

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


def interval_of_mean(values: ArrayLike) -> tuple[float, float]:
    """Student's interval of the mean of independent values; NaNs are left out.

    Values that are all shares, from 0 to 1, have an interval from 0 to 1 at most.

    Examples
    --------
    >>> [round(end, 4) for end in interval_of_mean([0.9, 1.0, 1.0])]
    [0.8232, 1.0]
    """
    found = np.asarray(values, float).ravel()
    found = found[np.isfinite(found)]
    if found.size < 2:
        return np.nan, np.nan
    half = float(half_interval(np.array(found.std(ddof=1)), np.array(found.size)))
    low, high = float(found.mean() - half), float(found.mean() + half)
    return (max(low, 0.0), min(high, 1.0)) if found.min() >= 0 and found.max() <= 1 else (low, high)


def below(less: ArrayLike, more: ArrayLike) -> bool:
    """Whether the mean of `less` is below that of `more`, by more than chance explains.

    Welch's interval of the difference has to lie below 0. Single values, and values without any spread, are
    compared as they are.

    Examples
    --------
    >>> below([1.0, 1.1, 0.9], [2.0, 2.2, 1.9]), below([1.0, 3.0, 2.0], [2.0, 3.0, 2.5])
    (True, False)
    """
    from scipy import special

    pair = [np.asarray(values, float).ravel() for values in (less, more)]
    apart = float(pair[0].mean() - pair[1].mean())
    errors = np.array([values.var(ddof=1) / values.size if values.size > 1 else 0.0 for values in pair])
    if not errors.any():
        return apart < 0
    spread = sum(error**2 / (values.size - 1) for error, values in zip(errors, pair, strict=True) if error)
    reach = special.stdtrit(errors.sum() ** 2 / spread, 0.5 + CONFIDENCE / 2) * np.sqrt(errors.sum())
    return bool(apart + reach < 0)


def interval_of_share(successes: float, trials: int) -> tuple[float, float]:
    """Wilson's interval of a share.

    Examples
    --------
    >>> [round(end, 4) for end in interval_of_share(10, 10)]
    [0.7225, 1.0]
    """
    from scipy import stats

    found = stats.binomtest(round(successes), int(trials)).proportion_ci(CONFIDENCE, "wilson")
    return float(found.low), float(found.high)


def _are_shares(metrics: Sequence[str]) -> Mask:
    """Which metrics cannot exceed 1, by their names."""
    return np.array([name in _SHARES or name.endswith(("_ratio", "_share")) for name in metrics], bool)
