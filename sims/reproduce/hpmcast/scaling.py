"""Figures 11 to 13 of hpmcast: delivery against size a and redundancy R, and with audience threshold D.

Figure 11 has l = 3, R = 4, F = 3. The settings of Figures 12 and 13 did not survive; both have those of
Figure 8 (a = 22, l = 3, F = 2), Figure 13 with R = 3. All have c = 0, and are run in the readings of Figure 6
that differ at level 1 (see `interest`). Redundancy also protects from crashes, so Figure 12 is run with every
tenth participant crashed as well. The bounds for "slightly" and "clearly" are ours and in the claims.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Gossip
from sims.reproduce.claims import Claims, claim, means, rounded
from sims.reproduce.hpmcast.trials import READINGS, hierarchy, run_trials
from sims.reproduce.reproduction import Tables
from workloads.statistics.intervals import below


def unit(reading: str, seed: int, fractions: list[float], events: int = 0, **how: Any) -> pd.DataFrame:
    """Multicast with every fraction of interested participants: a row per event."""
    a, redundancy, fanout = how.get("a", 22), how.get("R", 3), how.get("F", 2)
    # If none is given, every size gets about as many participants in all, within reason.
    events = events or min(200, max(3, how["all"] // a**3))
    gossip = Gossip(fanout, reading=READINGS[reading], redundancy=redundancy, audience=how.get("D", 0))
    system, crashed = hierarchy(a, 3, redundancy), how.get("crashed", 0.0)
    frames = [run_trials(system, p, events, seed, gossip, crashed=crashed) for p in fractions]
    found = pd.concat(frames, ignore_index=True)
    return found.assign(events=events) if "all" in how else found


def judge_fig11(tables: Tables) -> Claims:
    """What delivery loses with size, and what small p lacks."""
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        by = own.groupby(["a", "p"]).delivery.mean().unstack("p")
        lost, gap = by.loc[10] - by.iloc[-1], by[1.0] - by[0.1]
        largest = dict(iter(own[own.a == by.index[-1]].groupby("p").delivery))
        yield claim("size_lost", rounded(lost), lost, reading=reading)
        yield means("size_small", largest, below(largest[0.1], largest[1.0]), digits=5, reading=reading)
        yield claim("size_gap", rounded(gap), gap, reading=reading)


def judge_fig12(tables: Tables) -> Claims:
    """What the second delegate brings, and what all further ones."""
    for (crashed, reading), own in tables["delivery"].groupby(["crashed", "reading"], sort=False):
        by = own.groupby("R").delivery.mean()
        first, rest = float(by[2] - by[1]), float(by[6] - by[2])
        gains = rounded({"R = 1 to 2": first, "R = 2 to 6": rest})
        how = {"reading": reading, "crashed": 100 * crashed}
        yield claim("redundancy", gains, first > 2 * rest and first > 0, **how)


def judge_fig13(tables: Tables) -> Claims:
    """What the threshold gains for small p, and whether it costs delivery anywhere."""
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        by = own.groupby(["D", "p"]).delivery.mean().unstack("p")
        gain = by.loc[10] - by.loc[0]
        small = own[np.isclose(own.p, 0.1)].groupby("D").delivery
        yield means("audience", small, gain[0.1], name="D = {}", reading=reading)
        yield claim("gain", round(float(gain.min()), 4), gain, reading=reading)
