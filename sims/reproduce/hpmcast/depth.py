"""Fan-out and depth of the hierarchy in hpmcast (Sections 5.3.2, 5.3.4 and 6.2).

4,096 participants in hierarchies of 1 to 6 levels, R = 3, c = 0, in both readings of Figure 6 that differ at
level 1 (see `interest`). The paper says that more fan-out needs fewer rounds (5.3.2), that the depth has no
impact on the time of a broadcast, p = 1 (6.2, equation 28), and that it shows no clear trend in delivery
(5.3.4), which no measurement could contradict, so it is an observation.

"Rounds" are those until the last participant has the event, or those until gossip ends. Equation 28 subtracts
the rounds that R delegates are ahead of one; the algorithm of Figure 6 does not, so gossip takes longer in
deeper hierarchies.
"""

from __future__ import annotations

from itertools import pairwise, product

import pandas as pd

from hierarchy.hpmcast import Gossip, Reading
from hierarchy.hpmcast.analysis import expected_rounds
from sims.reproduce.claims import Claims, intervals, observed, rounded, stated
from sims.reproduce.hpmcast.trials import READINGS, hierarchy, run_trials
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from workloads.charts.chart import Chart, Reference, Sheet, curves
from workloads.statistics.intervals import below

N, REDUNDANCY = 4096, 3
TREES = {1: 4096, 2: 64, 3: 16, 4: 8, 6: 4}  # levels: a
FANOUTS, FRACTIONS = (2, 3, 4), (0.1, 0.3, 1.0)
TWO = {name: reading for name, reading in READINGS.items() if reading != Reading.LINES_27_AND_35}
ROUNDS = {"last": "until the last reception", "rounds": "until gossip ends"}
SAME = 0.15  # a difference between depths that we call none


def plan(quick: bool, seed: int) -> Plan:
    """Multicast through hierarchies of every depth."""
    events = 10 if quick else 60
    scale = f"{N:,} participants, R = {REDUNDANCY}, {events} events of each kind"
    return Plan(scale, unit, grid(levels=TREES), {"events": events, "seed": seed}, "depths")


def unit(levels: int, events: int, seed: int) -> pd.DataFrame:
    """A row per event."""
    frames = []
    for name, fanout, p in product(TWO, FANOUTS, FRACTIONS):
        gossip = Gossip(fanout, reading=TWO[name], redundancy=REDUNDANCY)
        system = hierarchy(TREES[levels], levels, REDUNDANCY)
        table = run_trials(system, p, events, seed, gossip, reading=name, levels=levels, F=fanout)
        frames.append(table[["reading", "levels", "F", "p", "delivery", *ROUNDS, "messages"]])
    return pd.concat(frames, ignore_index=True)


def judge(tables: Tables) -> Claims:
    """What fan-out saves, and what depth costs."""
    for reading, own in tables["depths"].groupby("reading", sort=False):
        everybody = own[own.p == 1.0]
        by = everybody.groupby(["levels", "F"])["last"].mean().unstack("F")
        fewer = everybody.groupby("levels").apply(_fewer_with_more, include_groups=False)
        yield stated(
            f"rounds until the last reception at p = 1, by depth, with F = {', '.join(map(str, FANOUTS))}: "
            "at every depth fewer with the most than with the least, and never more with more, beyond chance",
            "hpmcast, Section 5.3.2: more fan-out decreases the number of rounds necessary", "fewer",
            {f"{levels} levels": rounded(row, 2, "F = {}") for levels, row in by.iterrows()},
            bool(fewer.all()), reading=reading,
        )  # fmt: skip
        for column, words in ROUNDS.items():
            rounds = everybody[FANOUTS[0] == everybody.F].groupby("levels")[column]
            mean = rounds.mean()
            yield stated(
                f"rounds {words} at p = 1, F = {FANOUTS[0]}, by depth: greatest over least below {1 + SAME}",
                "hpmcast, Section 6.2, equation 28: depth has no impact on the time of a broadcast; the "
                "bound is ours", {"every depth": round(expected_rounds(N, FANOUTS[0]), 2)},
                rounded(mean, 2, "{} levels"), mean.max() / mean.min() < 1 + SAME,
                interval=intervals(rounds, 2, "{} levels"), reading=f"{reading}; {words}",
            )  # fmt: skip
        small = own[(FANOUTS[0] == own.F) & (own.p < 1)].groupby(["p", "levels"]).delivery.mean()
        yield observed(
            f"delivery with F = {FANOUTS[0]} by depth {list(TREES)}, for p below 1",
            {f"p = {p}": values.round(4).tolist() for p, values in small.groupby("p")},
            source="hpmcast, Section 5.3.4: no clear trend with the depth", paper="no clear trend",
            reading=reading,
        )  # fmt: skip


def _fewer_with_more(own: pd.DataFrame) -> bool:
    """Whether rounds until the last reception fall from the least fan-out to the most, and never rise."""
    rounds = [own["last"][fanout == own.F] for fanout in FANOUTS]
    rises = any(below(less, more) for less, more in pairwise(rounds))
    return below(rounds[-1], rounds[0]) and not rises


def charts(tables: Tables) -> Sheet:
    """Rounds of a broadcast and delivery to few, against the depth."""
    found = []
    ticks = {float(levels): str(levels) for levels in TREES}
    stated = [Reference("" if k else "paper: the same for every depth", y=expected_rounds(N, fanout))
              for k, fanout in enumerate(FANOUTS)]  # fmt: skip
    for reading, own in tables["depths"].groupby("reading", sort=False):
        for name, words in ROUNDS.items():
            series = curves(own[own.p == 1.0], "levels", name, "F", label="F = {}")
            title = f"{reading}\nrounds {words}, p = 1"
            found.append(Chart(title, "levels, l", "rounds", series, ticks=ticks, references=stated))
        series = curves(own[FANOUTS[0] == own.F], "levels", "delivery", "p", label="p = {}", first=3)
        title = f"{reading}\ndelivery, F = {FANOUTS[0]} (paper: no trend)"
        found.append(Chart(title, "levels, l", "delivery", series, ticks=ticks))
    return Sheet(found, columns=3)


REPRODUCTIONS = {"hpmcast-depth": (plan, judge, charts)}
