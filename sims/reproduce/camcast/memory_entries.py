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
from sims.reproduce.claims import Claims, claim, rounded
from sims.reproduce.reproduction import Tables

C, Z = 5.0, 3


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
        by = (table["CAMCAST"] - table[other]).groupby("topology")
        if other == PROTOCOLS[1]:
            yield claim("sometimes", rounded(by.min(), 1), by.min().min(), other=other)
        else:
            yield claim("always", rounded(by.max(), 1), by.max(), other=other)
    ends = {protocol: table.loc["1000-100-10"][protocol] for protocol in PROTOCOLS}
    yield claim("ends", {k: rounded({"root": own[0], "lowest": own[2]}, 1) for k, own in ends.items()})
