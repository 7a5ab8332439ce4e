"""Memory of CAMCAST below the alternatives (CAMCAST, Section 4.4.2).

A process is said to need less memory always than with (b) gossip multicast and (c) hierarchical gossip
broadcast, and sometimes less than with (a) gossip broadcast. Counted are the table entries of every process,
in the communities of Table 1, with c = 5 and z = 3 for all. Processes of the lowest community are in one
group of (b) only, that of their topic, which holds everybody above too.
"""

from __future__ import annotations

from math import sqrt

import pandas as pd

from hierarchy.camcast import Communities, StaticTables, TopicSettings
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast
from sims.figures.style import COLOURS, figure, legend_above
from sims.reproduce.camcast.comparison import TOPOLOGIES
from sims.reproduce.claims import Claim, observed, stated
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables

PROTOCOLS = ("CAMCAST", "(a) broadcast", "(b) multicast", "(c) hierarchical")
C, Z = 5.0, 3
SOURCE = "CAMCAST, Section 4.4.2: memory is always smaller than in (b) and (c), and sometimes than in (a)"


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Table entries by topology, level and protocol: mean over the processes of a level."""
    rows = []
    for done, (topology, sizes) in enumerate(TOPOLOGIES.items()):
        group = Communities.chain(*sizes)
        tables = StaticTables(group, TopicSettings(c=C, z=Z)).draw(seed)
        own = (tables.topic_table >= 0).sum(axis=1) + (tables.super_table >= 0).sum(axis=(1, 2))
        hierarchical = HierarchicalBroadcast(group, round(sqrt(len(group))), C, C)
        entries = (
            own,
            GossipBroadcast(group, C).memory(),
            GossipMulticast(group, C).memory(),
            hierarchical.memory(),
        )
        for protocol, found in zip(PROTOCOLS, entries, strict=True):
            rows += [
                {
                    "topology": topology,
                    "level": t,
                    "protocol": protocol,
                    "entries": float(found[group.topic == t].mean()),
                }
                for t in range(len(sizes))
            ]
        progress(done + 1, len(TOPOLOGIES))
    return Measured(
        {"memory": pd.DataFrame(rows)}, "every process of the three topologies of Table 1, c = 5, z = 3"
    )


def judge(tables: Tables) -> list[Claim]:
    """Whether every process of every level has fewer entries than with each alternative."""
    table = tables["memory"].pivot(index=["topology", "level"], columns="protocol", values="entries")
    claims = []
    for other in PROTOCOLS[1:]:
        more = table["CAMCAST"] - table[other]
        largest = {str(k): round(float(v), 1) for k, v in more.groupby("topology").max().items()}
        smallest = more.groupby("topology").min()
        if other == PROTOCOLS[1]:
            claims.append(
                stated(
                    f"entries less those of {other}: least of all levels, by topology (negative somewhere)",
                    SOURCE,
                    "sometimes smaller", {str(k): round(float(v), 1) for k, v in smallest.items()},
                    more.min() < 0,
                )
            )  # fmt: skip
        else:
            claims.append(
                stated(
                    f"entries less those of {other}: greatest of all levels, by topology (negative "
                    "everywhere)", SOURCE,
                    "always smaller", largest, more.max() < 0,
                )
            )  # fmt: skip
    return [
        *claims,
        observed(
            "mean entries in the root community and in the lowest, by protocol, 1000-100-10", SOURCE,
            {
                protocol: {
                    name: round(float(table.loc[("1000-100-10", level), protocol]), 1)
                    for name, level in (("root", 0), ("lowest", 2))
                }
                for protocol in PROTOCOLS
            },
        ),
    ]  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Entries by level and protocol."""
    table = tables["memory"]
    fig, panels = figure(1, 3, figsize=(12.0, 4.2), sharey=True)
    for axes, (topology, own) in zip(panels, table.groupby("topology", sort=False), strict=True):
        for i, protocol in enumerate(PROTOCOLS):
            mine = own[own.protocol == protocol].sort_values("level")
            axes.bar(mine.level + 0.2 * (i - 1.5), mine.entries, 0.2, color=COLOURS[i], label=protocol)
        axes.set(xlabel="level (0 is the root)", title=topology, xticks=sorted(own.level.unique()))
        axes.title.set_fontsize(10)
    panels[0].set_ylabel("table entries of a process")
    legend_above(fig, panels[0], 4, title="paper: blue below green and purple everywhere")
    return {"": fig}


register(
    "camcast-memory", "Table entries of a process beside the alternatives",
    measure=measure, judge=judge, draw=draw,
)  # fmt: skip
