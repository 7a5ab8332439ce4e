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

from typing import Any

import numpy as np
import pandas as pd

from hierarchy.camcast import Communities, Parameters, Tables, TopicSettings, disseminate
from hierarchy.membership import Membership, ScampSettings, SemiStructured, Structured, Unstructured
from sims.reproduce.reproduction import Measured, Progress
from sub2sub.kernels.randomness import cycle_key, stream_number
from sub2sub.overlay.network import Network

SETTINGS = TopicSettings(c=0.0, a=2.0, z=4, rounding="up")
KINDS: dict[str, tuple[Any, tuple[int, int, int]]] = {
    "unstructured": (Unstructured, (7, 27, 84)),
    "semi-structured": (SemiStructured, (7, 28, 79)),
    "structured": (Structured, (7, 28, 79)),
}
P_SEL = (0.01, 0.02, 0.05, 0.07, 0.1, 0.2, 0.5, 1.0)
METRICS = ("reception", "reliability", "efficiency", "latency", "upward")
EVENTS = 10
REST = 40


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Build the memberships and send the events: a row per event, p_sel and community."""
    runs = 5 if quick else 25
    events, tables = [], []
    for done, (kind, (build, counts)) in enumerate(KINDS.items()):
        group = Communities.chain(*counts)
        for run in range(runs):
            own = {"ring": False} if build is Structured else {"scamp": ScampSettings(c=0)}
            membership = build(group.tree, group.topic, seed + run, SETTINGS, true_sizes=True, **own)
            known = _enter_all(membership, group, seed + run)
            events.append(_events(known, group, seed + run).assign(membership=kind, run=run))
            tables.append(_filled(known, group).assign(membership=kind, run=run))
            progress(done * runs + run + 1, len(KINDS) * runs)
    scale = f"118 and 114 processes, {runs} memberships of each kind, {EVENTS} events for each p_sel"
    found = {"events": pd.concat(events, ignore_index=True), "tables": pd.concat(tables, ignore_index=True)}
    return Measured(found, scale)


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


def _filled(tables: Tables, group: Communities) -> pd.DataFrame:
    """Mean entries of a topic table, and processes in nobody's, by community."""
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
    dice = np.random.default_rng(int(cycle_key(seed, stream_number("camcast events"), 0)))
    whole_table = np.full(3, tables.topic_table.shape[1], np.int32)
    rows = []
    for event in range(EVENTS):
        publisher = int(dice.choice(group.community(2)))
        for i, p_sel in enumerate(P_SEL):
            params = Parameters(whole_table, np.full(3, p_sel), np.full(3, SETTINGS.forward))
            number = event * len(P_SEL) + i
            spread = disseminate(tables, params, publisher, seed=seed, event=number)
            for t, level in enumerate("ad"):
                reached, size = int(spread.delivered[t]), int(group.sizes[t])
                useful = reached / spread.arrived[t] if reached else 0.0
                last = float(spread.last_round[t]) if reached else np.nan
                values = (reached / size, float(reached == size), useful, last, int(spread.upward[t + 1]))
                rows.append((event, p_sel, level, *values))
    return pd.DataFrame(rows, columns=["event", "p_sel", "community", *METRICS])
