"""CAMCAST and the three alternatives, each ready to run and beside its closed forms.

Setting: three communities of N processes each, an event of the lowest topic, no loss. CAMCAST has g = 12 and
a = z = 3, so that almost every event goes upward; hierarchical broadcast has about sqrt(n) groups of all
n = 3 N processes. Fan-outs are whole numbers, ln N + c rounded down. The formulas get the nominal c, not the
one after rounding, which would compare a number with itself.

Readings: the paper takes N_t as the size of gossip multicast's groups. By its description of the protocol all
n processes are in the group of the lowest topic, so the formulas get n. The constant that the paper leaves
open in the latency is 1, because the last processes are reached about a round after most others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from hierarchy.analysis import latency, memory, reliability, traffic
from hierarchy.camcast import Communities, Parameters, StaticTables, TopicSettings, disseminate, parameters
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast
from sims.reproduce.camcast.sweep import table_entries

LEVELS, BOTTOM = 3, 2
G, A, Z = 12.0, 3.0, 3
PROTOCOLS = ("CAMCAST", "(a) broadcast", "(b) multicast", "(c) hierarchical")
QUANTITIES = ("messages", "memory", "reliability", "latency")


@dataclass(frozen=True)
class Contender:
    """A protocol on one population.

    Attributes
    ----------
    name : str
        One of `PROTOCOLS`.
    draw : callable
        Tables for (seed, run).
    parameters : Parameters
        For the dissemination kernel.
    entries : float
        Table entries of a process, of those that need most.
    formulas : dict
        The closed form of each of `QUANTITIES`.
    """

    name: str
    draw: Callable[[int, int], Any]
    parameters: Parameters
    entries: float
    formulas: dict[str, float]

    def measure(self, seed: int, runs: int) -> dict[str, float]:
        """Run it from a process of the lowest community, and average each of `QUANTITIES`."""
        spreads = [self._run(seed, run) for run in range(runs)]
        return {
            "messages": float(np.mean([s.sent.sum() + s.upward.sum() for s in spreads])),
            "memory": self.entries,
            "reliability": float(np.mean([(s.trace.first >= 0).all() for s in spreads])),
            "latency": float(np.mean([s.rounds for s in spreads])),
        }

    def _run(self, seed: int, run: int) -> Any:
        tables = self.draw(seed, run)
        return disseminate(tables, self.parameters, len(tables.topic) - 1, seed=seed, event=run)


def contenders(n: int, c: float) -> list[Contender]:
    """All four with communities of n and ln n + c targets, rounded down."""
    group = Communities.chain(*[n] * LEVELS)
    total, groups = len(group), [float(n * (level + 1)) for level in range(LEVELS)]
    count = round(sqrt(total))
    return [
        _camcast(group, n, c),
        _gossip(
            PROTOCOLS[1], GossipBroadcast(group, c), messages=traffic.broadcast(total, c),
            memory=memory.broadcast(total, c), reliability=reliability.broadcast(c),
            latency=latency.rounds(total, 1.0),
        ),
        _gossip(
            PROTOCOLS[2], GossipMulticast(group, c), messages=traffic.multicast(groups[BOTTOM:], c),
            memory=memory.multicast(groups, c), reliability=reliability.multicast(c, 1),
            latency=latency.rounds(groups[BOTTOM], 1.0),
        ),
        _gossip(
            PROTOCOLS[3], HierarchicalBroadcast(group, count, c, c),
            messages=traffic.hierarchical(count, total / count, c, c),
            memory=memory.hierarchical(count, total / count, c, c),
            reliability=reliability.hierarchical(count, c, c), latency=latency.rounds(total, 1.0),
        ),
    ]  # fmt: skip


def _gossip(
    name: str, gossip: GossipBroadcast | GossipMulticast | HierarchicalBroadcast, **formulas: float
) -> Contender:
    entries = float(gossip.memory().max())
    return Contender(name, partial(gossip.tables, BOTTOM), gossip.parameters(BOTTOM), entries, formulas)


def _camcast(group: Communities, n: int, c: float) -> Contender:
    settings = TopicSettings(c=c, g=G, a=A, z=Z)
    static = StaticTables(group, settings)
    select, forward = settings.select(n), settings.forward
    pit = reliability.propagation_exact(n, select, forward, Z, 1.0)
    path = [float(n)] * LEVELS
    formulas = {
        "messages": traffic.camcast(path, c, select, forward, Z),
        "memory": memory.camcast(n, c, Z),
        "reliability": reliability.camcast(c, [pit] * (LEVELS - 1)),
        "latency": latency.average(path, 1.0),
    }
    entries = float(table_entries(static.draw(0)).max())
    return Contender(PROTOCOLS[0], static.draw, parameters(group.sizes, settings), entries, formulas)
