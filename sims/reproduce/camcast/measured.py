"""The measurements of CAMCAST Section 6.2: three memberships, against the chance p_sel of sending upward.

Setting: 84, 27 and 7 processes (g, d, a) for the unstructured membership, 79, 28 and 7 for the others, c = 0,
a = 2, z = 4, no loss and no crash; an event of g. Processes enter one a cycle in a random order, then tables
get forty cycles of rest. The paper ran 10 times (unstructured) and 5 times; here each p_sel is measured
with several events on each of several memberships.

Readings
--------
- A process gossips to its whole topic table: SCAMP sizes it for that, and the structured overlay fills it
  with ln N + c entries, rounded up as in the loop of Figure 8 (rounded down, one of a would know one other).
- Latency is the last first reception in a community, over the events that got there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast import Communities, Parameters, Tables, TopicSettings, disseminate
from hierarchy.membership import Membership, ScampSettings, SemiStructured, Structured, Unstructured
from sims.reproduce.registry import Progress
from sub2sub.kernels.randomness import cycle_key, stream_number
from sub2sub.overlay.network import Network

__all__ = ["KINDS", "METRICS", "P_SEL", "Measured", "measure"]

SETTINGS = TopicSettings(c=0.0, a=2.0, z=4, rounding="up")
KINDS: dict[str, tuple[Any, tuple[int, int, int]]] = {
    "unstructured": (Unstructured, (7, 27, 84)),
    "semi-structured": (SemiStructured, (7, 28, 79)),
    "structured": (Structured, (7, 28, 79)),
}
P_SEL = np.array([0.01, 0.02, 0.05, 0.07, 0.1, 0.2, 0.5, 1.0])
METRICS = ("reception", "reliability", "efficiency", "latency", "upward")
EVENTS = 10
REST = 40


@dataclass(frozen=True)
class Measured:
    """Means by membership.

    Attributes
    ----------
    means : dict of (p_sel, topic, metric) arrays
        NaN for the latency of what never arrives.
    table_sizes : dict of lists
        Mean entries of a topic table in a, d and g.
    orphans : dict of floats
        Processes that are in nobody's topic table, per membership.
    """

    means: dict[str, NDArray[np.float64]]
    table_sizes: dict[str, list[float]]
    orphans: dict[str, float]

    def of(self, kind: str, level: int, metric: str) -> NDArray[np.float64]:
        """One curve."""
        return self.means[kind][:, level, METRICS.index(metric)]

    def columns(self) -> dict[str, Any]:
        """All curves as one long table."""
        rows = [
            (kind, float(p), level, *map(float, self.means[kind][i, t]))
            for kind in self.means
            for i, p in enumerate(P_SEL)
            for t, level in enumerate("ad")
        ]
        return dict(zip(("membership", "p_sel", "community", *METRICS), zip(*rows, strict=True), strict=True))


_measured: dict[tuple[bool, int], Measured] = {}  # ten figures share one measurement


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Build the memberships and send the events, once for each quick and seed."""
    if (quick, seed) not in _measured:
        _measured[quick, seed] = _measure(quick, seed, progress)
    progress(1, 1)
    return _measured[quick, seed]


def _measure(quick: bool, seed: int, progress: Progress) -> Measured:
    runs = 5 if quick else 25
    means, sizes, orphans = {}, {}, {}
    for done, (kind, (build, counts)) in enumerate(KINDS.items()):
        group = Communities.chain(*counts)
        results, entries, missing = [], [], []
        for run in range(runs):
            scamp = {} if build is Structured else {"scamp": ScampSettings(c=0)}
            membership = build(group.tree, group.topic, seed + run, SETTINGS, **scamp)
            tables = _enter_all(membership, group, seed + run)
            results.append(_events(tables, group, seed + run))
            filled = (tables.topic_table >= 0).sum(axis=1)
            entries.append([filled[group.topic == t].mean() for t in range(3)])
            missing.append(len(group) - len(np.setdiff1d(tables.topic_table, [-1])))
            progress(done * runs + run + 1, len(KINDS) * runs)
        means[kind] = np.nanmean(np.concatenate(results), axis=0)
        sizes[kind] = np.mean(entries, axis=0).round(2).tolist()
        orphans[kind] = round(float(np.mean(missing)), 2)
    return Measured(means, sizes, orphans)


def _enter_all(membership: Membership, group: Communities, seed: int) -> Tables:
    n = len(group)
    network = Network(np.zeros(n, np.uint8), np.zeros(n, np.uint8))
    order = np.random.default_rng(int(cycle_key(seed, stream_number("camcast entry"), 0))).permutation(n)
    for cycle in range(n + REST):
        if cycle < n:
            network.alive[order[cycle]] = 1
            membership.join(order[cycle : cycle + 1], np.array([-1]), cycle)
        membership.step(cycle, network)
    return membership.tables()


def _events(tables: Tables, group: Communities, seed: int) -> NDArray[np.float64]:
    """Outcomes of several events for every p_sel: (events, p_sel, topics a and d, metrics)."""
    dice = np.random.default_rng(int(cycle_key(seed, stream_number("camcast events"), 0)))
    outcomes = np.full((EVENTS, len(P_SEL), 2, len(METRICS)), np.nan)
    whole_table = np.full(3, tables.topic_table.shape[1], np.int32)
    for event in range(EVENTS):
        publisher = int(dice.choice(group.community(2)))
        for i, p_sel in enumerate(P_SEL):
            params = Parameters(whole_table, np.full(3, p_sel), np.full(3, SETTINGS.forward))
            number = event * len(P_SEL) + i
            spread = disseminate(tables, params, publisher, seed=seed, event=number)
            for t in (0, 1):
                reached = int(spread.delivered[t])
                outcomes[event, i, t] = (
                    reached / group.sizes[t],
                    reached == group.sizes[t],
                    reached / spread.arrived[t] if reached else 0.0,
                    spread.last_round[t] if reached else np.nan,
                    spread.upward[t + 1],
                )
    return outcomes
