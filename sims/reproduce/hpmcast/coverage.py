"""Filter coverage: events that condensed interests pass in vain (hpmcast, Sections 3.3, 4.2.2, 6.1.1).

10,648 participants (a = 22, l = 3, R = 3) with boxes over two attributes. A joint interest may have K boxes;
the fewer, the weaker the filter. Addresses are assigned at random, or along a curve through the participants'
interests so that neighbours resemble each other: the paper's locality of addresses against redundancy of
interests. Delegates are the participants with the smallest addresses, or with the interests that cover most.

Weaker filters should cost less. The cost is the number of comparisons of an attribute with a range, boxes
times attributes for every match. For the paper's words "substantially" and "far" the bounds are ours.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy import hpmcast
from sims.reproduce.claims import Claims, claim, means, rounded
from sims.reproduce.reproduction import Tables
from sims.rivals.below.encoded import point_cells
from sub2sub.geometry.boxes import Boxes, normalise
from workloads.statistics.intervals import below

GOSSIP = hpmcast.Gossip(fanout=2, constant=3.0)
PLACED = ("random", "alike")
COLUMNS = ["vain", "parasites", "messages", "filtered", "comparisons", "above", "delivery"]
ELECTIONS = {"smallest addresses": False, "largest coverage": True}


def _interests(n: int, generator: np.random.Generator) -> Boxes:
    """Boxes of which most are narrow: an event interests one participant in twenty or so."""
    centre, width = generator.random((n, 2)), generator.random((n, 2)) ** 2
    return normalise(centre - width / 3, centre + width / 3)


def _along_a_curve(interests: Boxes) -> NDArray[np.int64]:
    """Participants in the order of their boxes' centres along the Z-curve."""
    centres = np.clip((interests[0] + interests[1]) / 2, 0, 1 - 1e-9)
    return np.argsort(point_cells(256 * centres[:, ::-1], bits=8), kind="stable")


def comparisons(known: hpmcast.Knowledge, matched: NDArray[np.int64]) -> NDArray[np.float64]:
    """Comparisons of an attribute with a range that matching took at each level: boxes times attributes."""
    boxes = [float(table.used[table.members > 0].mean()) for table in known.tables]
    found: NDArray[np.float64] = matched * np.array(boxes) * known.compared.sum(axis=1)
    return found


def published(
    population: hpmcast.Population,
    condensation: hpmcast.Condensation,
    interests: Boxes,
    events: NDArray[np.float64],
    seed: int,
) -> pd.DataFrame:
    """A row per event: lines of levels 2 and up that pass it in vain, and what dissemination did."""
    known = hpmcast.exact_knowledge(population, condensation, interests)
    views = known.views()
    rows = []
    for k, event in enumerate(events):
        wants = ((interests[0] <= event) & (event < interests[1])).all(axis=1)
        hit, needed = known.match(event), hpmcast.spread_interest(population, wants)
        publisher = int(np.random.Generator(np.random.Philox(key=[seed, k])).integers(population.n))
        outcome = hpmcast.disseminate(views, hit, publisher, GOSSIP, seed=seed, event=k)
        vain = (hit > needed)[population.n :].mean()
        compared, trace = comparisons(known, outcome.matched) / population.n, outcome.trace
        costs = (trace.sent.mean(), outcome.filtered.mean(), compared.sum(), compared[1:].sum())
        rows.append((vain, trace.parasites(wants) / population.n, *costs, trace.delivery(wants)))
    return pd.DataFrame(rows, columns=COLUMNS)


def unit(placing: str, election: str, boxes: int, a: int, seed: int) -> pd.DataFrame:
    """A row per event."""
    generator = np.random.Generator(np.random.Philox(seed))
    population = hpmcast.Population.regular(a, 3)
    interests = _interests(population.n, generator)
    if placing == "alike":
        order = _along_a_curve(interests)
        interests = (interests[0][order], interests[1][order])
    by_coverage = ELECTIONS[election]
    condensation = hpmcast.Condensation(redundancy=3, boxes=(boxes,), by_coverage=by_coverage)
    return published(population, condensation, interests, generator.random((40, 2)), seed)


def judge(tables: Tables) -> Claims:
    """Weak filters, locality against redundancy, and the election of delegates."""
    table = tables["coverage"]
    by = dict(iter(table.groupby(["placing", "election", "boxes"])))
    ends = [int(table.boxes.min()), int(table.boxes.max())]
    smallest, largest = ELECTIONS

    def mean(column: str, placing: str, *boxes: int) -> dict[int, float]:
        return {each: float(by[placing, smallest, each][column].mean()) for each in boxes}

    vain, cost = ({name: mean(column, name, *ends) for name in PLACED} for column in ("vain", "comparisons"))
    falls = all(below(*(by[name, smallest, boxes].vain for boxes in reversed(ends))) for name in PLACED)
    less = [own[ends[0]] / own[ends[1]] for own in cost.values()]
    four = {name: mean("vain", name, 4)[4] for name in PLACED}
    elected = {election: by["alike", election, ends[1]].parasites for election in ELECTIONS}
    means_of = table.groupby(["placing", "election", "boxes"]).delivery.mean()
    lost = float((means_of.groupby(["placing", "election"]).transform("last") - means_of).max())
    yield claim("vain", {name: rounded(own, 4, "{} boxes") for name, own in vain.items()}, falls)
    yield claim("comparisons", {name: rounded(own, 2, "{} boxes") for name, own in cost.items()}, less)
    words = {"addresses at random": four["random"], "neighbours alike": four["alike"]}
    yield claim("alike", rounded(words), four["alike"] / four["random"])
    yield means("elected", elected, below(elected[largest], elected[smallest]))
    yield claim("lost", round(lost, 4), lost)
