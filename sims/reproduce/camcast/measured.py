"""The measurements of CAMCAST Section 6.2: three memberships, against the chance p_sel of sending upward.

Setting: 84, 27 and 7 processes (g, d, a) for the unstructured membership, 79, 28 and 7 for the others, c = 0,
a = 2, z = 4, no loss and no crash; an event of g. Processes join in a random order, one per cycle, and then
tables are kept for forty more cycles. The paper has 10 runs (unstructured) and 5 runs; here each p_sel is
measured with several events on each of several memberships.

Readings
--------
- A process gossips to its whole topic table: SCAMP sizes it for that, and the structured overlay fills it
  with ln N + c entries, rounded up as in the loop of Figure 8 (rounded down, one of a would know one other).
- Latency is the last first reception in a community, over the events that got there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from hierarchy.camcast import Communities, Parameters, Tables, TopicSettings, disseminate
from hierarchy.membership import MembershipService, ScampSettings, SemiStructured, Structured, Unstructured
from sims.reproduce.camcast.sweep import dice_for
from sub2sub.compiled.common.network import Network

SETTINGS = TopicSettings(c=0.0, a=2.0, z=4, rounding="up")
KINDS: dict[str, tuple[Any, tuple[int, int, int]]] = {
    "unstructured": (Unstructured, (7, 27, 84)),
    "semi-structured": (SemiStructured, (7, 28, 79)),
    "structured": (Structured, (7, 28, 79)),
}
P_SEL = (0.01, 0.02, 0.05, 0.07, 0.1, 0.2, 0.5, 1.0)
METRICS = ("reception", "reliability", "efficiency", "latency", "upward")
COLUMNS = ["event", "p_sel", "community", *METRICS]
EVENTS = 10
REST = 40


def unit(membership: str, run: int, seed: int) -> dict[str, pd.DataFrame]:
    """Build a membership and send the events: a row per event, p_sel and community."""
    build, counts = KINDS[membership]
    group = Communities.chain(*counts)
    own = {"ring": False} if build is Structured else {"scamp": ScampSettings(c=0)}
    made = build(group.tree, group.topic, seed + run, SETTINGS, true_sizes=True, **own)
    known = _enter_all(made, group, seed + run)
    return {"events": _events(known, group, seed + run), "tables": _filled(known, group)}


def _enter_all(membership: MembershipService, group: Communities, seed: int) -> Tables:
    n = len(group)
    network = Network(np.zeros(n, np.uint8), np.zeros(n, np.uint8))
    order = dice_for("camcast entry", seed).permutation(n)
    for cycle in range(n + REST):
        if cycle < n:
            network.alive[order[cycle]] = 1
            membership.join(order[cycle : cycle + 1], np.array([-1]), cycle)
        membership.step(cycle, network)
    return membership.tables()


def _filled(tables: Tables, group: Communities) -> pd.DataFrame:
    """Mean entries of a topic table, and the number of processes in no table, by community."""
    filled = (tables.topic_table >= 0).sum(axis=1)
    known = np.zeros(len(group), bool)
    known[tables.topic_table[tables.topic_table >= 0]] = True
    levels = range(len(group.sizes))
    return pd.DataFrame(
        {
            "community": list("adg"),
            "processes": [int(size) for size in group.sizes],
            "entries": [float(filled[group.topic == t].mean()) for t in levels],
            "orphans": [int((~known[group.topic == t]).sum()) for t in levels],
        }
    )


def _events(tables: Tables, group: Communities, seed: int) -> pd.DataFrame:
    dice = dice_for("camcast events", seed)
    whole_table = np.full(3, tables.topic_table.shape[1], np.int32)
    rows = []
    for event in range(EVENTS):
        publisher = int(dice.choice(group.community(2)))
        for i, p_sel in enumerate(P_SEL):
            params = Parameters(whole_table, np.full(3, p_sel), np.full(3, SETTINGS.forward))
            spread = disseminate(tables, params, publisher, seed=seed, event=event * len(P_SEL) + i)
            for t, level in enumerate("ad"):
                counts = spread.delivered[t], spread.arrived[t], spread.last_round[t], spread.upward[t + 1]
                rows.append((event, p_sel, level, *metrics(int(group.sizes[t]), *map(int, counts))))
    return pd.DataFrame(rows, columns=COLUMNS)


def metrics(size: int, reached: int, arrived: int, last: int, upward: int) -> tuple[float, ...]:
    """`METRICS` of an event in a community of a size: members and messages reached, last hop, links to it."""
    useful, latency = (reached / arrived, float(last)) if reached else (0.0, np.nan)
    return reached / size, float(reached == size), useful, latency, upward
