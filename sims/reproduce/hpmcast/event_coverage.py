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
import pandas as pd

from hierarchy.hpmcast import Condensation, Population
from sims.reproduce.claims import Claims, intervals, observed, stated
from sims.reproduce.hpmcast.coverage import published
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from sub2sub.geometry.boxes import Boxes, normalise
from workloads.charts.chart import Chart, Sheet, curves
from workloads.statistics.intervals import below

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


def plan(quick: bool, seed: int) -> Plan:
    """The same events with less and less compared at the levels above."""
    a, events = (10, 40) if quick else (22, 200)
    scale = f"{a**3:,} participants, {ATTRIBUTES} attributes, {BOXES} boxes a line, {events} events"
    return Plan(scale, unit, grid(compared=COMPARED), {"a": a, "events": events, "seed": seed}, "events")


def unit(compared: str, a: int, events: int, seed: int) -> pd.DataFrame:
    """A row per event."""
    generator = np.random.Generator(np.random.Philox(seed))
    population = Population.regular(a, 3)
    interests = _interests(population.n, generator)
    condensation = Condensation(redundancy=3, boxes=(BOXES,), compared=COMPARED[compared])
    return published(population, condensation, interests, generator.random((events, ATTRIBUTES)), seed)


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


def charts(tables: Tables) -> Sheet:
    """Comparisons, lines that pass in vain, and messages."""
    table = tables["events"].assign(vain=100 * tables["events"].vain, place=0)
    names = {
        "comparisons": "comparisons per participant, in all",
        "above": "comparisons, levels 2 and 3",
        "delivery": "probability of delivery",
        "vain": "lines that pass in vain (%)",
        "messages": "messages per participant",
    }
    found = [
        Chart("", "", label, curves(table, "place", column, "compared", shape="bars"), ticks={}, values=True)
        for column, label in names.items()
    ]
    return Sheet(found, note="attributes compared (paper: substantially cheaper, and nothing lost)")


REPRODUCTIONS = {"hpmcast-event-coverage": (plan, judge, charts)}
