"""Figure 7a of Sub-2-Sub: how long rings are.

The length of a ring is the number of subscribers of its event, so it depends on the workload alone. The paper
gives no formulas for its distributions. Those of `workloads.spec.catalogue` were chosen to match the lengths
with three attributes, so these lengths are an observation: they test our choice, not the paper. The verdict
is whether the same widths give the lengths that the paper states for five attributes. They do not: most rings
have 2 or 3 subscribers, but not all (`benchmarks/ring_sizes.py` tries other readings). Lengths depend on the
number of subscribers, so the quick form has as many peers as the full one, and fewer seeds.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claims, claim, mean_seed, span
from sims.reproduce.reproduction import Tables
from sub2sub.geometry.matching import match
from workloads import named
from workloads.charts.chart import Series

LONGEST_OF_FIVE = 3  # the paper's, with 5 attributes
SIZE = 10_000


def title_of(workload: str) -> str:
    """What a figure calls a workload.

    Examples
    --------
    >>> title_of("power-law-3")
    '3 attributes, power law'
    """
    kind, attributes = workload.rsplit("-", 1)
    return f"{attributes} attribute{'s' if attributes != '1' else ''}, {kind.replace('-', ' ')}"


def unit(workload: str, seed: int) -> pd.DataFrame:
    """The length of the ring of each event."""
    spec = named(workload)
    lows, highs = spec.subscriptions(SIZE, seed)
    return pd.DataFrame({"length": match(lows, highs, spec.events(SIZE, seed, lows, highs)).sizes()})


def judge(tables: Tables) -> Claims:
    """Shortest and longest rings."""
    by = {str(name): own.groupby("seed").length for name, own in tables["lengths"].groupby("workload")}
    three = by["power-law-3"]
    found = {"shortest": float(three.min().mean()), "longest": round(float(three.max().mean()), 1)}
    yield claim("three", found, interval={"longest": span(three.max())})
    for name in ("uniform-5", "power-law-5"):
        longest = by[name].max()
        short = by[name].apply(lambda lengths: float((lengths <= LONGEST_OF_FIVE).mean()))
        yield claim("five", int(longest.max()), longest, interval=span(longest), workload=title_of(name))
        yield mean_seed("short", short, workload=title_of(name))


def longer(lengths: pd.DataFrame) -> list[Series]:
    """Share of rings at least so long, by workload and seed."""
    series = []
    for number, (workload, own) in enumerate(lengths.groupby("workload", sort=False)):
        for s, (_, each) in enumerate(own.groupby("seed").length):
            at, count = np.unique(each, return_counts=True)
            share = 100 * (1 - (np.cumsum(count) - count) / len(each))
            label = "" if s else title_of(str(workload))
            series.append(Series(label, at, share, look=number, style="thin" if s else ""))
    return series
