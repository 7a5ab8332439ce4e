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
from sims.reproduce.claims import Claims, claim, means
from sims.reproduce.hpmcast.coverage import published
from sims.reproduce.reproduction import Tables
from sub2sub.geometry.boxes import Boxes, normalise
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


def unit(compared: str, a: int, events: int, seed: int) -> pd.DataFrame:
    """A row per event."""
    generator = np.random.Generator(np.random.Philox(seed))
    population = Population.regular(a, 3)
    interests = _interests(population.n, generator)
    condensation = Condensation(redundancy=3, boxes=(BOXES,), compared=COMPARED[compared])
    return published(population, condensation, interests, generator.random((events, ATTRIBUTES)), seed)


def judge(tables: Tables) -> Claims:
    """What comparing less saves, what it lets pass, and whether it loses anything."""
    by = tables["events"].groupby("compared", sort=False)
    mean = by.mean(numeric_only=True)
    rises = all(below(*two) for two in pairwise(own for _, own in by.vain))
    for reading, column in READINGS.items():
        less = mean[column].drop(WHOLE) / mean[column][WHOLE]
        yield means("comparisons", by[column], less, digits=2, reading=reading)
    yield means("delivery", by.delivery, mean.delivery[WHOLE] - mean.delivery.drop(WHOLE))
    yield means("vain", by.vain, rises)
    rows = mean[["messages", "parasites"]].round(3).iterrows()
    yield claim("messages", {str(name): row.tolist() for name, row in rows})
