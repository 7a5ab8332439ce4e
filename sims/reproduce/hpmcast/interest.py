"""Figures 7 and 8 of hpmcast: delivery against the fraction of interested participants.

n = 22^3, l = 3, R = 3, F = 2, no loss, no crash, c = 0. Only the axes of the plots survive: Figure 8 shows p
from 0.1 to 1 on an axis from 0.9982 to 1, so all plotted values are in that band.

Figure 6 can be read in three ways at level 1 (`hierarchy.peers.settings.Reading`), and all are run. By the
prose, delivery at p = 0.1 is far lower than plotted: groups of 22 have two interested participants on
average, and many have one; log(m p) is then 0, and there is no round of gossip. With line 27 as printed, R
multiplies the view at level 1 as well, level 1 has more rounds, and delivery is within the paper's band. A
fourth reading takes the mean share of equation 19 for all groups of a level instead of the measured one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Gossip, Reading
from hierarchy.hpmcast.analysis import Regular, expected_delivery
from sims.reproduce.claims import Claims, claim, mean_interval, means
from sims.reproduce.hpmcast.trials import READINGS, hierarchy, run_trials
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Series, curves
from workloads.statistics.intervals import below

A, LEVELS, REDUNDANCY, FANOUT = 22, 3, 3, 2
AVERAGED = "line 27 as printed, one p per level (equation 19)"


def _regular(p: float, lowest: int = 1) -> Regular:
    return Regular(A, LEVELS, REDUNDANCY, FANOUT, p, lowest=lowest)


def unit(p: float, reading: str, events: int, seed: int) -> pd.DataFrame:
    """A row per event."""
    levels = range(1, LEVELS + 1)
    shares = [_regular(p).share(level) for level in levels] if reading == AVERAGED else None
    gossip = Gossip(FANOUT, reading=READINGS.get(reading, Reading.LINE_27), redundancy=REDUNDANCY)
    return run_trials(hierarchy(A, LEVELS, REDUNDANCY), p, events, seed, gossip, shares=shares)


def _at(own: pd.DataFrame, p: float) -> pd.Series[float]:
    return own.delivery[np.isclose(own.p, p)]


def judge_fig7(tables: Tables) -> Claims:
    """A very good degree overall, less for small p, and equation 27, for each reading."""
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        mean = own.groupby("p").delivery.mean()
        wide, small = mean[mean.index >= 0.1], {p: _at(own, p) for p in mean.index if p <= 0.1}
        first, *_, last = small.values()
        ends = mean_interval(_at(own, float(wide.idxmin())))
        yield claim("least", round(float(wide.min()), 4), wide.min(), interval=ends, reading=reading)
        yield means("small", small, below(first, last), name="p = {}", reading=reading)
        how = READINGS.get(str(reading), Reading.LINES_27_AND_35)
        if how != Reading.LINES_27_AND_35:
            above = mean[mean.index >= 0.2]
            lowest = 1 if how == Reading.PROSE else REDUNDANCY
            excess = float((above - [expected_delivery(_regular(p, lowest)) for p in above.index]).min())
            yield claim("excess", round(excess, 4), excess, reading=reading)


def judge_fig8(tables: Tables) -> Claims:
    """The plotted ends, for each reading."""
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        ends = {p: _at(own, p) for p in (0.1, 0.3, 1.0)}
        least = [values.mean() for values in ends.values()]
        inside = [least[0], least[1], least[2] - 0.001]  # 0.999 at p = 1
        yield means("plotted", ends, inside, name="p = {:g}", reading=reading)


def with_formula(delivery: pd.DataFrame) -> list[Series]:
    """All readings, and equation 27."""
    series = curves(delivery, "p", "delivery", "reading")
    fractions = sorted(delivery.p.unique())
    for look, lowest, words in ((5, 1, "a"), (6, REDUNDANCY, "R a")):
        expected = [expected_delivery(_regular(p, lowest)) for p in fractions]
        label = f"equation 27, {words} at level 1"
        series.append(Series(label, fractions, expected, look=look, style="thin"))
    return series


_X, _Y = "fraction of interested participants", "probability of delivery"
