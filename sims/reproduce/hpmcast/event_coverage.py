"""Event coverage: higher levels compare fewer attributes of an event (hpmcast, Section 6.1.1).

In the paper the lowest level compares the filter itself, higher levels attributes, then certain attributes
only, and the highest the type alone, so that a delegate there parses nothing. Here, of four attributes, level
1 compares all, level 2 some and level 3 fewer or none (`Condensation.compared`); 10,648 participants (a = 22,
l = 3, R = 3) whose neighbours resemble each other.

The cost is the number of comparisons of an attribute with a range: in all, or at levels 2 and 3 alone, whose
delegates the paper wants to relieve. Events that pass a weak filter are matched again below. The cost of
parsing, which the paper also means, is not simulated. "Substantially" is taken as less than two thirds; the
bound is ours.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hierarchy.hpmcast import Condensation, Population
from sims.figures.style import COLOURS, figure
from sims.reproduce.claims import Claims, below, intervals, observed, stated
from sims.reproduce.hpmcast.coverage import published
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked
from sub2sub.geometry.boxes import Boxes, normalise

ATTRIBUTES, BOXES = 4, 8
WHOLE, HALF, TYPE = "all at every level", "2 at level 2, 1 at level 3", "2 at level 2, the type at level 3"
COMPARED: dict[str, tuple[tuple[int, ...], ...] | None] = {
    WHOLE: None,
    HALF: ((0, 1), (0,)),
    TYPE: ((0, 1), ()),
}
READINGS = {"in all": "comparisons", "at levels 2 and 3": "above"}
SUBSTANTIALLY, SAME = 2 / 3, 0.01


def _interests(n: int, generator: np.random.Generator) -> Boxes:
    """Narrow in the first attribute, wide in the last; ordered by the first, so that neighbours are alike."""
    centre = generator.random((n, ATTRIBUTES))
    centre = centre[np.argsort(centre[:, 0], kind="stable")]
    width = generator.random((n, ATTRIBUTES)) * np.linspace(0.2, 0.8, ATTRIBUTES)
    return normalise(centre - width / 2, centre + width / 2)


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """The same events with less and less compared at the levels above: a row per event."""
    events = 40 if quick else 200
    generator = np.random.Generator(np.random.Philox(seed))
    population = Population.regular(10 if quick else 22, 3)
    interests = _interests(population.n, generator)
    drawn = generator.random((events, ATTRIBUTES))
    frames = []
    for name, compared in tracked(COMPARED.items(), progress):
        condensation = Condensation(redundancy=3, boxes=(BOXES,), compared=compared)
        frames.append(published(population, condensation, interests, drawn, seed).assign(compared=name))
    scale = f"{population.n:,} participants, {ATTRIBUTES} attributes, {BOXES} boxes a line, {events} events"
    return measurement(scale, events=frames)


def judge(tables: Tables) -> Claims:
    """What comparing less saves, what it lets pass, and whether it loses anything."""
    table = tables["events"]
    mean = table.groupby("compared", sort=False).mean(numeric_only=True)
    delivery, by = mean.delivery, table.groupby("compared", sort=False)
    for reading, column in READINGS.items():
        yield stated(
            "comparisons per participant and event by what is compared (less than two thirds of all)",
            "hpmcast, Section 6.1.1: comparing less at higher levels reduces the cost of filtering "
            "substantially; the bound is ours", "substantially less", mean[column].round(2).to_dict(),
            bool((mean[column].drop(WHOLE) < SUBSTANTIALLY * mean[column][WHOLE]).all()),
            interval=intervals(by[column], 2), reading=reading,
        )  # fmt: skip
    yield stated(
        f"delivery by what is compared (at most {SAME} less than with all)",
        "hpmcast, Section 6.1.1: what passes the first filter passes the covering one; the bound is ours",
        "no less", delivery.round(4).to_dict(), bool((delivery.drop(WHOLE) >= delivery[WHOLE] - SAME).all()),
        interval=intervals(by.delivery),
    )  # fmt: skip
    yield stated(
        "share of lines that pass an event in vain, by what is compared (rises, beyond chance)",
        "hpmcast, Section 6.1.1: events pass that are of interest for nobody below", "rises",
        mean.vain.round(4).to_dict(), all(below(*two) for two in pairwise(own for _, own in by.vain)),
        interval=intervals(by.vain),
    )  # fmt: skip
    yield observed(
        "messages per participant and share of uninterested participants reached, by what is compared",
        {str(name): row.tolist() for name, row in mean[["messages", "parasites"]].round(3).iterrows()},
    )  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Comparisons, lines that pass in vain, and messages."""
    table = tables["events"].assign(vain=100 * tables["events"].vain)
    fig, panels = figure(columns=5, figsize=(15.0, 4.2))
    columns = {
        "comparisons": "comparisons per participant, in all",
        "above": "comparisons, levels 2 and 3",
        "delivery": "probability of delivery",
        "vain": "lines that pass in vain (%)",
        "messages": "messages per participant",
    }
    for axes, (column, label) in zip(panels, columns.items(), strict=True):
        by, error = (table.groupby("compared", sort=False)[column].agg(how) for how in ("mean", "sem"))
        for k, name in enumerate(by.index):
            text = name if column == "comparisons" else ""
            axes.bar(k, by[name], 0.7, yerr=1.96 * error[name], color=COLOURS[k], capsize=3, label=text)
            axes.annotate(f"{by[name]:.3g}", (k, by[name]), (0, 4), textcoords="offset points", ha="center",
                          va="bottom", fontsize=8)  # fmt: skip
        axes.set(ylabel=label, xticks=[])
        axes.margins(y=0.12)
    fig.legend(
        loc="outside upper center", ncols=3, fontsize=9,
        title="attributes compared (paper: substantially cheaper, and nothing lost)",
    )  # fmt: skip
    return {"": fig}


register("hpmcast-event-coverage", "Less of an event compared at higher levels", measure, judge, draw)
