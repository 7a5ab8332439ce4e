"""CAMCAST and the three alternatives, each ready to run and beside its closed forms.

Setting: three communities of N processes each, an event of the lowest topic, no loss. CAMCAST has g = 12 and
a = z = 3, so that hardly an event fails to get upward; hierarchical broadcast has about sqrt(n) groups of
all n = 3 N. Fan-outs are whole numbers, ln N + c rounded down; the formulas get the c that was asked for and
not the one that is left of it, which would only compare a number with itself.

Readings: the paper takes N_t as the size of gossip multicast's groups; as it describes the protocol, the
group of the lowest topic holds all n, and this is what the formulas get. The constant that the paper
leaves open in the latency is 1, since the last processes are reached about a round after most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from hierarchy.analysis import latency, memory, reliability, traffic
from hierarchy.camcast import (
    Communities,
    Parameters,
    Spread,
    StaticTables,
    Tables,
    TopicSettings,
    disseminate,
    parameters,
)
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast

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
    draw: Callable[[int, int], Tables]
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

    def _run(self, seed: int, run: int) -> Spread:
        tables = self.draw(seed, run)
        return disseminate(tables, self.parameters, len(tables.topic) - 1, seed=seed, event=run)


def contenders(n: int, c: float) -> list[Contender]:
    """All four with communities of n and ln n + c targets, rounded down."""
    group = Communities.chain(*[n] * LEVELS)
    return [_camcast(group, n, c), _broadcast(group, c), _multicast(group, n, c), _hierarchical(group, c)]


def _camcast(group: Communities, n: int, c: float) -> Contender:
    settings = TopicSettings(c=c, g=G, a=A, z=Z)
    static = StaticTables(group, settings)
    select, forward = settings.select(n), settings.forward
    pit = reliability.propagation_exact(n, select, forward, Z, 1.0)
    path = [float(n)] * LEVELS
    tables = static.draw(0)
    entries = (tables.topic_table >= 0).sum(axis=1) + (tables.super_table >= 0).sum(axis=(1, 2))
    return Contender(
        PROTOCOLS[0],
        static.draw,
        parameters(group.sizes, settings),
        float(entries.max()),
        {
            "messages": traffic.camcast(path, c, select, forward, Z),
            "memory": memory.camcast(n, c, Z),
            "reliability": reliability.camcast(c, [pit] * (LEVELS - 1)),
            "latency": latency.average(path, 1.0),
        },
    )


def _broadcast(group: Communities, c: float) -> Contender:
    gossip, n = GossipBroadcast(group, c), len(group)
    return Contender(
        PROTOCOLS[1],
        lambda seed, run: gossip.tables(BOTTOM, seed, run),
        gossip.parameters(BOTTOM),
        float(gossip.memory().max()),
        {
            "messages": traffic.broadcast(n, c),
            "memory": memory.broadcast(n, c),
            "reliability": reliability.broadcast(c),
            "latency": latency.rounds(n, 1.0),
        },
    )


def _multicast(group: Communities, n: int, c: float) -> Contender:
    gossip = GossipMulticast(group, c)
    groups = [float(n * (level + 1)) for level in range(LEVELS)]
    return Contender(
        PROTOCOLS[2],
        lambda seed, run: gossip.tables(BOTTOM, seed, run),
        gossip.parameters(BOTTOM),
        float(gossip.memory().max()),
        {
            "messages": traffic.multicast(groups[BOTTOM:], c),
            "memory": memory.multicast(groups, c),
            "reliability": reliability.multicast(c, 1),
            "latency": latency.rounds(groups[BOTTOM], 1.0),
        },
    )


def _hierarchical(group: Communities, c: float) -> Contender:
    n = len(group)
    groups = round(sqrt(n))
    gossip = HierarchicalBroadcast(group, groups, c, c)
    m = n / groups
    return Contender(
        PROTOCOLS[3],
        lambda seed, run: gossip.tables(BOTTOM, seed, run),
        gossip.parameters(BOTTOM),
        float(gossip.memory().max()),
        {
            "messages": traffic.hierarchical(groups, m, c, c),
            "memory": memory.hierarchical(groups, m, c, c),
            "reliability": reliability.hierarchical(groups, c, c),
            "latency": latency.rounds(n, 1.0),
        },
    )
