"""Fan-out and depth of the hierarchy in hpmcast (Sections 5.3.2, 5.3.4 and 6.2).

4,096 participants in hierarchies of 1 to 6 levels, R = 3, c = 0, in both readings of Figure 6 that differ at
level 1 (see `interest`). The paper says that more fan-out needs fewer rounds (5.3.2), that the depth has no
impact on the time of a broadcast, p = 1 (6.2, equation 28), and that it shows no clear trend in delivery
(5.3.4), which nothing measured could contradict: an observation.

"Rounds" can be those until the last participant has the event, or those until gossip ends. Equation 28 takes
off the rounds that R delegates are ahead of one; the algorithm of Figure 6 does not, so gossip goes on for
longer the deeper the hierarchy is.
"""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from hierarchy.hpmcast import Gossip, Reading
from hierarchy.hpmcast.analysis import expected_rounds
from sims.figures.style import COLOURS, figure, mean_line
from sims.reproduce.claims import Claim, below, interval_of_mean, observed, stated
from sims.reproduce.hpmcast.trials import READINGS, hierarchy, run_trials, table_of
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables

N, REDUNDANCY = 4096, 3
TREES = {1: 4096, 2: 64, 3: 16, 4: 8, 6: 4}  # levels: a
FANOUTS, FRACTIONS = (2, 3, 4), (0.1, 0.3, 1.0)
TWO = {name: reading for name, reading in READINGS.items() if reading != Reading.LINES_27_AND_35}
ROUNDS = {"last": "until the last reception", "rounds": "until gossip ends"}
SAME = 0.15  # a difference between depths that we call none


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Multicast through hierarchies of every depth: a row per event."""
    events = 10 if quick else 60
    frames = []
    for k, (levels, a) in enumerate(TREES.items()):
        system = hierarchy(a, levels, REDUNDANCY)
        for name, reading in TWO.items():
            for fanout in FANOUTS:
                gossip = Gossip(fanout, reading=reading, redundancy=REDUNDANCY)
                for p in FRACTIONS:
                    trials = run_trials(system, p, events, seed, gossip)
                    table = table_of(trials, reading=name, levels=levels, F=fanout, p=p)
                    frames.append(table[["reading", "levels", "F", "p", "delivery", *ROUNDS, "messages"]])
        progress(k + 1, len(TREES))
    scale = f"{N:,} participants, R = {REDUNDANCY}, {events} events of each kind"
    return Measured({"depths": pd.concat(frames, ignore_index=True)}, scale)


def judge(tables: Tables) -> list[Claim]:
    """What fan-out saves, and what depth costs."""
    claims = []
    for reading, own in tables["depths"].groupby("reading", sort=False):
        everybody = own[own.p == 1.0]
        by = everybody.groupby(["levels", "F"])["last"].mean().unstack("F")
        fewer = everybody.groupby("levels").apply(_fewer_with_more, include_groups=False)
        claims.append(
            stated(
                f"rounds until the last reception at p = 1, by depth, with F = "
                f"{', '.join(map(str, FANOUTS))}: at every depth fewer with the most than with the least, "
                "and never more with more, beyond chance",
                "hpmcast, Section 5.3.2: more fan-out decreases the number of rounds necessary", "fewer",
                {
                    f"{levels} levels": {f"F = {f}": round(float(v), 2) for f, v in row.items()}
                    for levels, row in by.iterrows()
                },
                bool(fewer.all()), reading=str(reading),
            )
        )  # fmt: skip
        for column, words in ROUNDS.items():
            rounds = everybody[FANOUTS[0] == everybody.F].groupby("levels")[column]
            mean = rounds.mean()
            claims.append(
                stated(
                    f"rounds {words} at p = 1, F = {FANOUTS[0]}, by depth: greatest over least below "
                    f"{1 + SAME}",
                    "hpmcast, Section 6.2, equation 28: depth has no impact on the time of a broadcast; the "
                    "bound is ours",
                    {"every depth": round(expected_rounds(N, FANOUTS[0]), 2)},
                    {f"{levels} levels": round(value, 2) for levels, value in mean.items()},
                    mean.max() / mean.min() < 1 + SAME,
                    interval={f"{levels} levels": interval_of_mean(v, 2) for levels, v in rounds},
                    reading=f"{reading}; {words}",
                )
            )  # fmt: skip
        small = own[(FANOUTS[0] == own.F) & (own.p < 1)].groupby(["p", "levels"]).delivery.mean()
        claims.append(
            observed(
                f"delivery with F = {FANOUTS[0]} by depth {list(TREES)}, for p below 1",
                "hpmcast, Section 5.3.4: no clear trend with the depth",
                {f"p = {p}": values.round(4).tolist() for p, values in small.groupby("p")},
                paper="no clear trend", reading=str(reading),
            )
        )  # fmt: skip
    return claims


def _fewer_with_more(own: pd.DataFrame) -> bool:
    """Whether rounds until the last reception fall from the least fan-out to the most, and never rise."""
    rounds = [own["last"][fanout == own.F] for fanout in FANOUTS]
    rises = any(below(less, more) for less, more in pairwise(rounds))
    return below(rounds[-1], rounds[0]) and not rises


def draw(tables: Tables) -> Figures:
    """Rounds of a broadcast and delivery to few, against the depth."""
    table = tables["depths"]
    fig, panels = figure(2, 3, figsize=(13.2, 7.2), sharex=True, sharey="col")
    for row, (reading, own) in enumerate(table.groupby("reading", sort=False)):
        for column, (name, words) in enumerate(ROUNDS.items()):
            axes = panels[row, column]
            for k, fanout in enumerate(FANOUTS):
                by = own[(own.p == 1.0) & (fanout == own.F)].groupby("levels")[name]
                mean_line(axes, k, by, f"F = {fanout}")
                axes.axhline(expected_rounds(N, fanout), color=COLOURS[k], linewidth=0.9, linestyle=":")
            axes.set_title(f"rounds {words}, p = 1", fontsize=10)
            axes.set_ylim(bottom=0)
        for k, p in enumerate(FRACTIONS):
            by = own[(FANOUTS[0] == own.F) & (own.p == p)].groupby("levels").delivery
            mean_line(panels[row, 2], k + 3, by, f"p = {p}")
        panels[row, 2].set_title(f"delivery, F = {FANOUTS[0]} (paper: no trend)", fontsize=10)
        panels[row, 0].set_ylabel(str(reading).replace(": ", ":\n"), fontsize=9)
    for axes in panels[1]:
        axes.set(xlabel="levels, l", xticks=list(TREES))
    handles, labels = (
        left + right
        for left, right in zip(
            panels[0, 0].get_legend_handles_labels(), panels[0, 2].get_legend_handles_labels(), strict=True
        )
    )
    fig.legend(
        handles, labels, loc="outside upper center", ncols=6, fontsize=9,
        title="dotted: the paper's T(n, F), the same for every depth",
    )  # fmt: skip
    return {"": fig}


register(
    "hpmcast-depth", "Rounds and delivery against fan-out and depth of the hierarchy",
    measure=measure, judge=judge, draw=draw,
)  # fmt: skip
