"""What CAMCAST says of itself in words: memory below the alternatives, and no degradation with one topic.

- `camcast-memory` (Section 4.4.2): a process always needs less memory than with (b) gossip multicast and (c)
  hierarchical gossip broadcast, and sometimes less than with (a) gossip broadcast. Counted are the table
  entries of every process, in the communities of Table 1, with c = 5 and z = 3 for all.
- `camcast-one-topic` (Section 1.3): with one topic CAMCAST does not degrade in reliability, nor need more
  memory, messages or rounds than the gossip protocol beneath it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hierarchy.camcast import Communities, StaticTables, Tables, TopicSettings, disseminate, parameters
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast
from sims.figures.style import COLOURS, figure, legend_above
from sims.reproduce.camcast.comparison import TOPOLOGIES
from sims.reproduce.claims import Claim, interval_of_mean, observed, stated
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Measured, Progress
from sims.reproduce.reproduction import Tables as Measurements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["judge_memory", "judge_one_topic"]

PROTOCOLS = ("CAMCAST", "(a) broadcast", "(b) multicast", "(c) hierarchical")
C, Z = 5.0, 3
SOURCE = "CAMCAST, Section 4.4.2: memory is always smaller than in (b) and (c), and sometimes than in (a)"


def measure_memory(quick: bool, seed: int, progress: Progress) -> Measured:
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


def judge_memory(tables: Measurements) -> list[Claim]:
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
                protocol: [
                    round(float(table.loc[("1000-100-10", level), protocol]), 1) for level in (0, 2)
                ]
                for protocol in PROTOCOLS
            },
        ),
    ]  # fmt: skip


def _draw_memory(tables: Measurements) -> Mapping[str, Figure]:
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


QUANTITIES = ("messages", "entries", "rounds", "all_received")


def measure_one_topic(quick: bool, seed: int, progress: Progress) -> Measured:
    """CAMCAST with one community, and gossip broadcast in the same: a row per run."""
    runs = 200 if quick else 1000
    frames = []
    sizes = (100, 1000)
    for done, n in enumerate(sizes):
        group = Communities.chain(n)
        gossip = GossipBroadcast(group, C)
        static, own = StaticTables(group, TopicSettings(c=C)), parameters(group.sizes, TopicSettings(c=C))
        for run in range(runs):
            for protocol, tables, params in (
                ("CAMCAST", static.draw(seed, run), own),
                ("gossip", gossip.tables(0, seed, run), gossip.parameters(0)),
            ):
                spread = disseminate(tables, params, run % n, seed=seed, event=run)
                values = (int(spread.sent.sum() + spread.upward.sum()), _entries(tables), spread.rounds)
                frames.append((protocol, n, run, *values, float(spread.delivered.sum() == n)))
        progress(done + 1, len(sizes))
    table = pd.DataFrame(frames, columns=["protocol", "n", "run", *QUANTITIES])
    return Measured({"runs": table}, f"communities of {' and '.join(map(str, sizes))}, {runs} runs")


def _entries(tables: Tables) -> float:
    filled = (tables.topic_table >= 0).sum(axis=1) + (tables.super_table >= 0).sum(axis=(1, 2))
    return float(filled.mean())


def judge_one_topic(tables: Measurements) -> list[Claim]:
    """Differences between the two, beside what chance gives."""
    runs = tables["runs"]
    names = {"messages": "messages per event", "entries": "table entries of a process", "rounds": "rounds"}
    names["all_received"] = "share of events that reach everybody"
    claims = []
    for quantity, name in names.items():
        better = 1.0 if quantity == "all_received" else -1.0
        worst, shown, intervals = 0.0, {}, {}
        for n, own in runs.groupby("n"):
            values = {
                str(protocol): rows[quantity].to_numpy(float) for protocol, rows in own.groupby("protocol")
            }
            mine, other = values["CAMCAST"], values["gossip"]
            error = sqrt(mine.var(ddof=1) / len(mine) + other.var(ddof=1) / len(other))
            behind = better * (other.mean() - mine.mean())
            worst = max(worst, behind - 3 * error)
            shown[str(n)] = [round(float(mine.mean()), 3), round(float(other.mean()), 3)]
            intervals[str(n)] = [interval_of_mean(mine, 3), interval_of_mean(other, 3)]
        claims.append(
            stated(
                f"{name} with one topic, by size: CAMCAST, gossip broadcast (no worse by more than three "
                "standard "
                "errors)",
                "CAMCAST, Section 1.3: with one topic no degradation of the membership protocol beneath",
                "no worse",
                shown, worst <= 1e-9, interval=intervals,
            )
        )  # fmt: skip
    return claims


def _draw_one_topic(tables: Measurements) -> Mapping[str, Figure]:
    runs = tables["runs"]
    fig, panels = figure(1, 4, figsize=(12.6, 3.8))
    labels = ("messages per event", "table entries of a process", "rounds", "events that reach everybody")
    for axes, quantity, label in zip(panels, QUANTITIES, labels, strict=True):
        for i, (protocol, own) in enumerate(runs.groupby("protocol", sort=False)):
            by = own.groupby("n")[quantity]
            half = 1.96 * by.std() / np.sqrt(by.count())
            places = np.arange(len(by.mean())) + 0.36 * (i - 0.5)
            axes.bar(places, by.mean(), 0.36, yerr=half, color=COLOURS[i], label=str(protocol), capsize=3)
        axes.set_xticks(range(runs.n.nunique()), [f"{n:,}" for n in sorted(runs.n.unique())])
        axes.set(xlabel="processes", ylabel=label)
    legend_above(fig, panels[0], 2)
    return {"": fig}


register(
    "camcast-memory", "Table entries of a process beside the alternatives",
    measure=measure_memory, judge=judge_memory, draw=_draw_memory,
)  # fmt: skip
register(
    "camcast-one-topic", "CAMCAST with one topic beside plain gossip",
    measure=measure_one_topic, judge=judge_one_topic, draw=_draw_one_topic,
)  # fmt: skip
