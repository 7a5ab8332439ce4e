"""The closed forms of CAMCAST Section 4 and the appendix of the technical report beside simulations.

Messages, memory and latency against the size of the communities, and reliability against c, with a figure for
each. Then CAMCAST is tuned to the reliability that the formulas give each alternative, and both are run and
compared. `contenders` has the setting. Formulas use the nominal c; the number of targets is ln N + c rounded
down, so up to a tenth fewer messages are sent. The formulas of (b) and (c) are pessimistic about the
protocols as described: (b) gossips in one group of all processes concerned, and in (c) every process has
links to other groups, not only one process of each group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from hierarchy.analysis import latency, reliability, tuning
from sims.reproduce.camcast.contenders import LEVELS, PROTOCOLS, QUANTITIES, contenders
from sims.reproduce.claims import Claims, claim, rounded, share_interval
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Chart, Series, Sheet
from workloads.statistics.intervals import interval_of_share

LABELS = {
    "messages": "messages per event",
    "memory": "table entries, at most",
    "reliability": "probability that all receive",
    "latency": "rounds (mean)",
}
C_OF_SIZES, SIZE_OF_CS = 3.0, 100
TUNED_N, TUNED_C, GROUPS, PIT = 100, 2.4, 17, 0.9999


def unit(
    runs: int, seed: int, n: int = 0, c: float = 0.0, alternative: str = ""
) -> dict[str, list[dict[str, Any]]]:
    """All four protocols with one size and c, or CAMCAST beside the alternative that it is tuned like."""
    if alternative:
        return {"tuned": [_tuned(alternative, runs, seed)]}
    runs, rows = max(20, min(runs, 100_000 // n)), []
    for each in contenders(n, c):
        found = each.measure(seed, runs)
        rows += [
            {
                "protocol": each.name,
                "quantity": quantity,
                "simulated": found[quantity],
                "formula": formula,
                "runs": runs,
            }
            for quantity, formula in each.formulas.items()
        ]
    return {"closed_forms": rows}


def _tuned(name: str, runs: int, seed: int) -> dict[str, Any]:
    """Tune CAMCAST to an alternative's formula by the conditions of Section 4.5.2, and run both."""
    n, c = TUNED_N, TUNED_C
    tuned, wanted = {
        "(a) broadcast": (tuning.like_broadcast(c, LEVELS, PIT, LEVELS * n, n), reliability.broadcast(c)),
        "(b) multicast": (tuning.like_multicast(c, LEVELS, PIT, n), reliability.multicast(c, LEVELS)),
        "(c) hierarchical": (
            tuning.like_hierarchical(c, LEVELS, PIT, GROUPS),
            reliability.hierarchical(GROUPS, c, c),
        ),
    }[name]
    return {
        "alternative": name, "runs": runs, "c": c, "own_c": tuned.c, "largest_z": tuned.largest_z,
        "formula": wanted,
        "camcast": contenders(n, tuned.c)[0].measure(seed, runs)["reliability"],
        "itself": next(x for x in contenders(n, c) if x.name == name).measure(seed, runs)["reliability"],
    }  # fmt: skip


def _outside(row: pd.Series[Any]) -> float:
    """Rounds outside CAMCAST's best and worst cases (constant 0 to 1), or away from the others' value."""
    if row.protocol != "CAMCAST":
        return float(abs(row.simulated - row.formula))
    path, rounds = [row.n] * LEVELS, float(row.simulated)
    return max(0.0, latency.best(path, 0.0) - rounds, rounds - latency.worst(path, 1.0))


LIMITS: dict[str, tuple[float, Callable[[Any], float]]] = {
    "messages": (0.1, lambda r: abs(r.simulated / r.formula - 1)),
    "reliability": (0.1, lambda r: r.formula - r.simulated),
    "latency": (1.0, _outside),
}


def judge(tables: Tables) -> Claims:
    """Simulations beside formulas, and CAMCAST beside what it was tuned to."""
    rows, tuned = tables["closed_forms"], tables["tuned"]
    for quantity, (limit, apart) in LIMITS.items():
        for name in PROTOCOLS:
            worst = max(float(apart(row)) for row in _select(rows, quantity, name).itertuples())
            yield claim(quantity, round(worst, 3), worst, name=name, at_most=limit)
    for row in tuned.itertuples():
        found = {"CAMCAST": row.camcast, row.alternative: row.itself}
        ends = [share_interval(share * row.runs, row.runs, 3) for share in found.values()]
        apart = abs(row.camcast - row.itself)
        yield claim("tuned", rounded(found, 3), apart, interval=ends, alternative=row.alternative, c=row.c)
    own = {
        row.alternative: {"c": round(row.own_c, 2), "reliability": round(row.formula, 3)}
        for row in tuned.itertuples()
    }
    yield claim("own_c", own)
    memory = {name: _select(rows, "memory", name) for name in PROTOCOLS}
    off = {name: (own.simulated - own.formula).abs().max() for name, own in memory.items()}
    yield claim("entries", rounded(off, 2))


def _select(rows: pd.DataFrame, quantity: str, name: str) -> pd.DataFrame:
    key = "c" if quantity == "reliability" else "n"
    same = rows.n == SIZE_OF_CS if quantity == "reliability" else rows.c == C_OF_SIZES
    return rows[(rows.quantity == quantity) & (rows.protocol == name) & same].sort_values(key)


def charts(tables: Tables) -> dict[str, Sheet]:
    """All four quantities together, and each alone."""
    found = {quantity: _chart(tables["closed_forms"], quantity) for quantity in QUANTITIES}
    note = "paper's closed form (lines), simulated (marks)"
    alone = {quantity: Sheet([chart], note=note) for quantity, chart in found.items()}
    return {"": Sheet(list(found.values()), columns=2, note=note), **alone}


def _chart(rows: pd.DataFrame, quantity: str) -> Chart:
    key = "c" if quantity == "reliability" else "n"
    series = []
    for i, name in enumerate(PROTOCOLS):
        own = _select(rows, quantity, name)
        ends: dict[str, Any] = {}
        if quantity == "reliability":
            pairs = [interval_of_share(s * r, r) for s, r in zip(own.simulated, own.runs, strict=True)]
            ends = dict(zip(("low", "high"), np.array(pairs).T, strict=True))
        series.append(Series(name, own[key], own.simulated, "points", look=i, **ends))
        series.append(Series("", own[key], own.formula, look=i, style="plain"))
    if quantity == "latency":
        sizes = _select(rows, quantity, "CAMCAST").n
        best, worst = (
            np.array([f([n] * LEVELS, k) for n in sizes])
            for f, k in ((latency.best, 0.0), (latency.worst, 1.0))
        )
        series.append(Series("", sizes, (best + worst) / 2, look=0, low=best, high=worst, style="band"))
    x = f"size of each of {LEVELS} communities, c = {C_OF_SIZES:.0f}"
    x = f"c, with communities of {SIZE_OF_CS}" if quantity == "reliability" else x
    return Chart(
        quantity, x, LABELS[quantity], series, log_x=quantity != "reliability", log_y=quantity == "messages"
    )
