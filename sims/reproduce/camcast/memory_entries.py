"""Memory of CAMCAST below the alternatives (CAMCAST, Section 4.4.2).

The paper says that a process always needs less memory than with (b) gossip multicast and (c) hierarchical
gossip broadcast, and sometimes less than with (a) gossip broadcast. The table entries of every process are
counted in the communities of Table 1, with c = 5 and z = 3 for all. Processes of the lowest community are in
only one group of (b), that of their topic, which also contains all processes above.
"""

from __future__ import annotations

from itertools import product
from math import sqrt

from hierarchy.camcast import Communities, StaticTables, TopicSettings
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast
from sims.figures.style import COLOURS, figure, legend_above
from sims.reproduce.camcast.comparison import TOPOLOGIES
from sims.reproduce.camcast.contenders import PROTOCOLS
from sims.reproduce.camcast.sweep import table_entries
from sims.reproduce.claims import Claims, observed, rounded, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked

C, Z = 5.0, 3
SOURCE = "CAMCAST, Section 4.4.2: memory is always smaller than in (b) and (c), and sometimes than in (a)"


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Table entries by topology, level and protocol: mean over the processes of a level."""
    rows = []
    for topology, sizes in tracked(TOPOLOGIES.items(), progress):
        group = Communities.chain(*sizes)
        tables = StaticTables(group, TopicSettings(c=C, z=Z)).draw(seed)
        hierarchical = HierarchicalBroadcast(group, round(sqrt(len(group))), C, C)
        others = (GossipBroadcast(group, C), GossipMulticast(group, C), hierarchical)
        entries = dict(zip(PROTOCOLS, (table_entries(tables), *(o.memory() for o in others)), strict=True))
        for protocol, level in product(PROTOCOLS, range(len(sizes))):
            mean = float(entries[protocol][group.topic == level].mean())
            rows.append({"topology": topology, "level": level, "protocol": protocol, "entries": mean})
    return measurement("every process of the three topologies of Table 1, c = 5, z = 3", memory=rows)


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
    return {"": legend_above(fig, panels[0], 4, title="paper: blue below green and purple everywhere")}


register("camcast-memory", "Table entries of a process beside the alternatives", measure, judge, draw)
