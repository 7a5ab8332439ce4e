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
from sims.reproduce.claims import Claims, claim, means, rounded
from sims.reproduce.hpmcast.trials import READINGS, hierarchy, run_trials
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Chart, Reference, Sheet, curves
from workloads.statistics.intervals import below

N, REDUNDANCY = 4096, 3
TREES = {1: 4096, 2: 64, 3: 16, 4: 8, 6: 4}  # levels: a
FANOUTS, FRACTIONS = (2, 3, 4), (0.1, 0.3, 1.0)
TWO = {name: reading for name, reading in READINGS.items() if reading != Reading.LINES_27_AND_35}
ROUNDS = {"last": "until the last reception", "rounds": "until gossip ends"}


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
        everybody, least = own[own.p == 1.0], own[FANOUTS[0] == own.F]
        by = everybody.groupby(["levels", "F"])["last"].mean().unstack("F")
        fewer = everybody.groupby("levels").apply(_fewer_with_more, include_groups=False)
        found = {f"{levels} levels": rounded(row, 2, "F = {}") for levels, row in by.iterrows()}
        yield claim("fanout", found, bool(fewer.all()), reading=reading)
        for column, words in ROUNDS.items():
            rounds = least[least.p == 1.0].groupby("levels")[column]
            ratio, paper = rounds.mean().max() / rounds.mean().min(), round(expected_rounds(N, FANOUTS[0]), 2)
            how = {"reading": f"{reading}; {words}", "words": words, "paper": {"every depth": paper}}
            yield means("rounds", rounds, ratio, digits=2, name="{} levels", **how)
        small = least[least.p < 1].groupby(["p", "levels"]).delivery.mean().round(4)
        delivery = {f"p = {p}": values.tolist() for p, values in small.groupby("p")}
        yield claim("delivery", delivery, reading=reading)


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
