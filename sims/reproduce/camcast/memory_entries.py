"""Memory of CAMCAST below the alternatives (CAMCAST, Section 4.4.2).

The paper says that a process always needs less memory than with (b) gossip multicast and (c) hierarchical
gossip broadcast, and sometimes less than with (a) gossip broadcast. The table entries of every process are
counted in the communities of Table 1, with c = 5 and z = 3 for all. Processes of the lowest community are in
only one group of (b), that of their topic, which also contains all processes above.
"""

from __future__ import annotations

from itertools import product
from math import sqrt
from typing import Any

from hierarchy.camcast import Communities, StaticTables, TopicSettings
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast
from sims.reproduce.camcast.comparison import TOPOLOGIES
from sims.reproduce.camcast.contenders import PROTOCOLS
from sims.reproduce.camcast.sweep import table_entries
from sims.reproduce.claims import Claims, observed, rounded, stated
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from workloads.charts.chart import Chart, Sheet, curves

C, Z = 5.0, 3
SOURCE = "CAMCAST, Section 4.4.2: memory is always smaller than in (b) and (c), and sometimes than in (a)"


def plan(quick: bool, seed: int) -> Plan:
    """Every topology of Table 1."""
    scale = "every process of the three topologies of Table 1, c = 5, z = 3"
    return Plan(scale, unit, grid(topology=TOPOLOGIES), {"seed": seed}, "memory")


def unit(topology: str, seed: int) -> list[dict[str, Any]]:
    """Table entries by level and protocol: mean over the processes of a level."""
    group = Communities.chain(*TOPOLOGIES[topology])
    tables = StaticTables(group, TopicSettings(c=C, z=Z)).draw(seed)
    hierarchical = HierarchicalBroadcast(group, round(sqrt(len(group))), C, C)
    others = (GossipBroadcast(group, C), GossipMulticast(group, C), hierarchical)
    entries = dict(zip(PROTOCOLS, (table_entries(tables), *(o.memory() for o in others)), strict=True))
    return [
        {"level": level, "protocol": name, "entries": float(entries[name][group.topic == level].mean())}
        for name, level in product(PROTOCOLS, range(len(group.sizes)))
    ]


def judge(tables: Tables) -> Claims:
    """Whether every process of every level has fewer entries than with each alternative."""
    table = tables["memory"].pivot(index=["topology", "level"], columns="protocol", values="entries")
    for other in PROTOCOLS[1:]:
        more = table["CAMCAST"] - table[other]
        by = more.groupby("topology")
        if other == PROTOCOLS[1]:
            yield stated(
                f"entries less those of {other}: least of all levels, by topology (negative somewhere)",
                SOURCE, "sometimes smaller", rounded(by.min(), 1), more.min() < 0,
            )  # fmt: skip
        else:
            yield stated(
                f"entries less those of {other}: greatest of all levels, by topology (negative everywhere)",
                SOURCE, "always smaller", rounded(by.max(), 1), more.max() < 0,
            )  # fmt: skip
    ends = {protocol: table.loc["1000-100-10"][protocol] for protocol in PROTOCOLS}
    yield observed(
        "mean entries in the root community and in the lowest, by protocol, 1000-100-10",
        {name: rounded({"root": own[0], "lowest": own[2]}, 1) for name, own in ends.items()}, source=SOURCE,
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Entries by level and protocol."""
    found = [
        Chart(
            str(topology), "level (0 is the root)", "table entries of a process",
            curves(own, "level", "entries", "protocol", over="", shape="bars"),
            ticks={level: str(level) for level in sorted(own.level.unique())},
        )
        for topology, own in tables["memory"].groupby("topology", sort=False)
    ]  # fmt: skip
    return Sheet(found, note="paper: CAMCAST below (b) and (c) everywhere")


REPRODUCTIONS = {"camcast-memory": (plan, judge, charts)}
