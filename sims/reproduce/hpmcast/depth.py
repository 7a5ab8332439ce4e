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
from sims.figures.style import COLOURS, figure, mean_line
from sims.reproduce.claims import Claims, below, intervals, observed, rounded, stated
from sims.reproduce.hpmcast.trials import READINGS, hierarchy, run_trials
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked

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
    for levels, a in tracked(TREES.items(), progress):
        for name, fanout, p in product(TWO, FANOUTS, FRACTIONS):
            gossip = Gossip(fanout, reading=TWO[name], redundancy=REDUNDANCY)
            system = hierarchy(a, levels, REDUNDANCY)
            table = run_trials(system, p, events, seed, gossip, reading=name, levels=levels, F=fanout)
            frames.append(table[["reading", "levels", "F", "p", "delivery", *ROUNDS, "messages"]])
    return measurement(f"{N:,} participants, R = {REDUNDANCY}, {events} events of each kind", depths=frames)


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
    legends = (panels[0, column].get_legend_handles_labels() for column in (0, 2))
    handles, labels = (left + right for left, right in zip(*legends, strict=True))
    fig.legend(
        handles, labels, loc="outside upper center", ncols=6, fontsize=9,
        title="dotted: the paper's T(n, F), the same for every depth",
    )  # fmt: skip
    return {"": fig}


register(
    "hpmcast-depth", "Rounds and delivery against fan-out and depth of the hierarchy", measure, judge, draw
)
