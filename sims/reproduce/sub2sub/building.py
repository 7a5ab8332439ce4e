"""Figures 5 and 6 of Sub-2-Sub: how fast rings are built from nothing, and what is delivered meanwhile.

The paper shows four workloads and says that all rings are set up after 40 cycles. Its text mentions 3 and 5
attributes, uniform and power law; these are taken as the four. 1 and 2 attributes are reported beside them.
Everything is as published, with one exchange per layer and cycle. In Figure 6 each test event is published in
each cycle by a random subscriber of it, with one random shortcut along proximity or random links.

The paper selects the partner of an exchange "among ring neighbours" without saying how, and this choice
determines the speed, so both readings are run. *Least recent*: the neighbour of the least recent exchange,
new ones first. *Random*: any neighbour. `sub2sub-choices` has other choices, with 3 attributes, power law,
one changed at a time; none of this is a statement of the paper. That a capped ring view leaves rings open for
ever is this project's finding, and can fail.

Without faults a peer never replaces its true neighbour, so a complete ring stays complete: a run ends when
all rings are complete, or after 90 cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claims, claim, in_words, last_cycle, mean_seed, span, worst_seed
from sims.reproduce.reproduction import Tables
from sims.reproduce.sub2sub.fig7a import title_of
from sims.reproduce.sub2sub.setting import RINGS, begin
from workloads.charts.chart import Chart, Reference, Sheet, columns

STATED, MOST = 40, 90  # cycles: the paper's, and those after which a run is given up
PAPER = ("uniform-3", "power-law-3", "uniform-5", "power-law-5")
PARTNERS = {"least recent partner": "least-recent", "random partner": "random"}
DELIVERED = {"least recent partner": 45, "random partner": 70}  # cycles of Figure 6
BASE, CAPPED = "as published (least recent partner, random ties)", "ring view capped at 20"


def _built(
    name: str, reading: str, seed: int, size: int, most: int, changes: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The tables of a run from nothing until all rings are complete, of at most `most` cycles."""
    partner = {"layers.ring.partner": PARTNERS[reading]}
    simulation = begin(name, seed, size, size, partner | dict(changes))
    simulation.look()
    while simulation.tables["rings"][-1]["complete"] < 1.0 and simulation.cycle < most:
        simulation.step()
        simulation.look()
    return simulation.tables


def build(reading: str, workload: str, seed: int, size: int) -> pd.DataFrame:
    """Rings of a workload: a row per cycle."""
    tables = _built("sub2sub-fig5", reading, seed, size, MOST, {"workload.spec": workload, **RINGS})
    return pd.DataFrame(tables["rings"])[["cycle", "links", "complete"]]


def deliver(reading: str, seed: int, size: int) -> pd.DataFrame:
    """Deliveries, and the rings meanwhile: a row per cycle."""
    changes = {"observers": [{"kind": "rings"}, {"kind": "delivery", "details": False}]}
    found = _built("sub2sub-fig6", reading, seed, size, DELIVERED[reading], changes)
    table = pd.DataFrame(found["delivery"])[["cycle", "hit_ratio", "complete", "incomplete_hit_ratio"]]
    return table.assign(rings_complete=pd.DataFrame(found["rings"]).complete)


def choose(seed: int, variant: str, size: int, cycles: int, variants: Mapping[str, Any]) -> pd.DataFrame:
    """Rings with one choice changed: a row per cycle."""
    simulation = begin("sub2sub-fig5", seed, size, size, {**variants[variant], **RINGS})
    simulation.run(cycles)
    return pd.DataFrame(simulation.tables["rings"])[["cycle", "links", "complete"]]


def _completed(runs: pd.DataFrame, column: str = "complete") -> list[float]:
    """Per seed: the first cycle from which on a share stays at 1; infinite if it does not."""
    found = []
    for _, run in runs.groupby("seed"):
        after = run.cycle[run.cycle > last_cycle(run.cycle, run[column] < 1.0, -1.0)]
        found.append(float(after.min()) if len(after) else np.inf)
    return found


def judge_fig5(tables: Tables) -> Claims:
    """Per workload and reading, whether the slowest seed needs at most 40 cycles."""
    for reading, rings in tables["rings"].groupby("reading", sort=False):
        cycles = {str(name): _completed(own) for name, own in rings.groupby("workload", sort=False)}
        for name in PAPER:
            yield worst_seed("built", cycles.pop(name), reading=reading, workload=title_of(name))
        others = {title_of(name): in_words(max(own), f"more than {MOST}") for name, own in cycles.items()}
        yield claim("others", others, reading=reading)
        at = rings[rings.workload.isin(PAPER) & (rings.cycle <= STATED)]
        shares = at.sort_values("cycle").groupby(["workload", "seed"]).complete.last()
        least = shares.groupby("workload").min().round(5).to_dict()
        yield claim("by_forty", least, interval=span(shares, 5), reading=reading)


def judge_fig6(tables: Tables) -> Claims:
    """Whether deliveries are all complete in an earlier cycle than the rings, in every seed."""
    for reading, own in tables["delivery"].groupby("reading", sort=False):
        delivered, rings = _completed(own), _completed(own, "rings_complete")
        cycles = {"all delivered": delivered, "all rings": rings}
        words = {name: [in_words(cycle, "not yet") for cycle in each] for name, each in cycles.items()}
        earlier = [np.isfinite(d) and d < r for d, r in zip(delivered, rings, strict=True)]
        at = own.seed.map(dict(zip(sorted(own.seed.unique()), delivered, strict=True)))
        open_yet = own.rings_complete[own.cycle == at]
        yield claim("earlier", words, all(earlier), reading=reading)
        if len(open_yet):
            yield mean_seed("open_yet", open_yet, reading=reading)
        else:
            yield claim("open_yet", "not reached", reading=reading)


def judge_choices(tables: Tables) -> Claims:
    """Complete rings at the end, by variant."""
    table, cycles = tables["choices"], int(tables["choices"].cycle.max())
    final = table[table.cycle == cycles].groupby("variant", sort=False).complete
    capped, base = final.get_group(CAPPED), final.get_group(BASE)
    ends = {"capped": round(float(capped.max()), 4), "as published": round(float(base.min()), 4)}
    interval = {"capped": span(capped), "as published": span(base)}
    yield claim("capped", ends, capped.max() < base.min() / 2, interval=interval, cycles=cycles)
    for name, values in final:
        yield mean_seed("complete", values, name=name, cycles=cycles)
    whole = table[table.complete >= 0.99].groupby(["variant", "seed"], sort=False).cycle.min()
    for name, first in whole.groupby("variant", sort=False):
        yield mean_seed("cycles", first, name=name)


def charts_fig5(tables: Tables) -> Sheet:
    """Links in place and complete rings per cycle; a column per workload of the paper, a row per reading."""
    rings, found = tables["rings"], []
    labels = {"links": "ring links in place", "complete": "complete rings"}
    for reading in PARTNERS:
        for workload in PAPER:
            mine = rings[(rings.reading == reading) & (rings.workload == workload)]
            slowest = max(_completed(mine))
            end = f"all: {slowest:.0f}" if np.isfinite(slowest) else f"not by {MOST}"
            stated = [Reference("paper: all by 40", x=STATED), Reference(end, x=min(slowest, MOST))]
            series = columns(extended(mine), "cycle", labels, over="seeds", times=100)
            title = f"{title_of(workload)}: {reading}"
            found.append(Chart(title, "cycle", "%", series, bottom=-3, top=104, references=stated))
    return Sheet(found, columns=4)


def extended(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs of several seeds up to the end of the longest: one that has ended stays as it is."""
    cycles = pd.RangeIndex(int(runs.cycle.max()) + 1, name="cycle")
    longer = [own.set_index("cycle").reindex(cycles).ffill() for _, own in runs.groupby("seed")]
    return pd.concat(longer).reset_index()
