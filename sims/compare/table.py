"""The table of a comparison: each cell a mean over seeds with its 95 % confidence interval.

Long form, a row for each world, system, knob, fault and metric. The interval is Student's, over seeds; that
of the hit ratio by which working points are chosen is over events. If some seeds have no value for a cell,
its `note` says so; if none has, it gives the reason.

A cost is a mean over seeds with Student's interval, which is wide for few seeds. The hit ratio by which
working points are chosen is a mean over a thousand events; an interval over seeds alone would not use their
number (with two seeds Student's factor is 12.7). If events were independent, the variance of their mean would
be their variance divided by their number. Events of one seed share an overlay, so the variance may be larger,
which shows in the means of the seeds. The larger of the two estimates is taken, with the degrees of freedom
of as many independent events as would give it (Kish: *Survey Sampling*, 1965: effective sample size), at
least those of the seeds. So this is the interval over events if seeds differ no more than their events
explain, and otherwise the interval over seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sims.compare.plan import Unit
from sims.compare.run import read_unit
from sims.rivals.base.catalogue import entrant
from workloads.statistics.intervals import CONFIDENCE, half_interval

KEYS = ["world", "system", "knob", "loss", "crashed", "metric"]
CHOSEN, ERROR = "choosing_hit_ratio", ".error"
NORMAL = 1.96  # standard errors of a 95 % interval


def gather(units: Sequence[Unit], folder: Path, reasons: Mapping[str, str]) -> pd.DataFrame:
    """All values of all units, one row each, after checking that all systems saw the same worlds.

    `reasons` says why units have no result, by their keys.
    """
    seen: dict[tuple[str, int], tuple[str, str]] = {}
    frames = []
    for unit in units:
        digest, table = read_unit(folder, unit, reasons)
        other, system = (
            seen.setdefault((unit.world, unit.seed), (digest, unit.system)) if digest else ("", "")
        )
        if other != digest:
            raise AssertionError(
                f"{unit.world}, seed {unit.seed}: {system} and {unit.system} saw different worlds"
            )
        frames.append(
            table.to_pandas().assign(world=unit.world, system=entrant(unit.system).name, seed=unit.seed)
        )
    return pd.concat(frames, ignore_index=True)


def cells(values: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds.

    Returns
    -------
    DataFrame
        `KEYS`, then `mean`, `low`, `high` (empty for a single value), `seeds` (those that have a value) and
        `note`.

    Examples
    --------
    >>> same = {"world": "topics", "system": "s", "knob": "", "loss": 0.0, "crashed": 0.0, "metric": "m"}
    >>> found = cells(pd.DataFrame([same | {"seed": k, "value": float(k), "note": ""} for k in (1, 2, 3)]))
    >>> found[["mean", "low", "high", "seeds"]].round(3).values.tolist()
    [[2.0, -0.484, 4.484, 3.0]]
    """
    grouped = values.groupby(KEYS, sort=False, dropna=False)
    table = grouped["value"].agg(mean="mean", deviation="std", seeds="count", rows="size").reset_index()
    count = table["seeds"].to_numpy()
    reach = half_interval(table["deviation"].to_numpy(), count)
    _reach_of_chosen(table, reach)
    _reach_of_events(table, reach)
    table["low"], table["high"] = table["mean"] - reach, table["mean"] + reach
    noted = dict(list(values[values["note"] != ""].groupby(KEYS, sort=False)["note"]))
    keys = table[KEYS].itertuples(index=False, name=None)
    table["note"] = [_note(noted.get(key), rows) for key, rows in zip(keys, table["rows"], strict=True)]
    for name in ("world", "system", "knob", "metric"):
        table[name] = table[name].astype("category")  # faster to look up than texts
    return table[[*KEYS, "mean", "low", "high", "seeds", "note"]]


def _reach_of_chosen(table: pd.DataFrame, reach: np.ndarray) -> None:
    """Take the events of a seed into account, where their number and variance are known."""
    known = {
        metric: table[table.metric == metric].set_index(KEYS[:-1])["mean"].to_dict()
        for metric in ("choosing_variance", "choosing_events")
    }
    for place in np.flatnonzero(table.metric == CHOSEN).tolist():
        row = table.iloc[place]
        key = tuple(row[name] for name in KEYS[:-1])
        if key in known["choosing_variance"]:
            events = known["choosing_events"][key] * row.seeds
            reach[place] = reach_over_events(
                known["choosing_variance"][key], events, float(row.deviation), int(row.seeds)
            )


def _reach_of_events(table: pd.DataFrame, reach: np.ndarray) -> None:
    """No interval is narrower than that over the events: all seeds of own tables publish the same ones."""
    error = table[table.metric.str.endswith(ERROR)]
    errors = {
        (*row[:5], row[5].removesuffix(ERROR)): row[6]
        for row in error[[*KEYS, "mean"]].itertuples(index=False)
    }
    for place, key in enumerate(table[KEYS].itertuples(index=False, name=None)):
        if key in errors:
            reach[place] = np.fmax(reach[place], NORMAL * errors[key])


def _note(remarks: pd.Series | None, seeds: int) -> str:
    """What some or all seeds remarked on a cell."""
    if remarks is None:
        return ""
    share = "" if len(remarks) == seeds else f"{len(remarks)} of {seeds} seeds: "
    return share + str(remarks.iloc[0]) + ("" if remarks.nunique() == 1 else " (and alike)")


def reach_over_events(variance: float, events: float, deviation: float, seeds: int) -> float:
    """Half of the interval of a mean over events of several seeds.

    Parameters
    ----------
    variance, events : float
        Variance over the events of a seed, and their number in all.
    deviation : float
        Standard deviation of the means of the seeds.
    seeds : int

    Examples
    --------
    >>> round(reach_over_events(0.01, 1000, 0.0001, 2), 4)  # seeds agree
    0.0062
    >>> round(reach_over_events(0.01, 1000, 0.1, 2), 3)  # they do not
    0.898
    """
    from scipy import special

    if seeds < 2:
        return float("nan")
    apart, together = variance / events, deviation**2 / seeds
    if together <= 0 and apart <= 0:
        return 0.0
    error = max(apart, together)
    freedom = max(events * apart / error - 1, seeds - 1)
    return float(special.stdtrit(freedom, 0.5 + CONFIDENCE / 2) * np.sqrt(error))
