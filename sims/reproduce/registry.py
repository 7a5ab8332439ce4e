"""All reproductions by their id: what `sub2sub reproduce` lists and runs.

An id loads one module, which has its parts in `REPRODUCTIONS`; listing loads none.
"""

from __future__ import annotations

import difflib
import importlib

from sims.reproduce.reproduction import Reproduction
from sub2sub.errors import InputError

_S, _C, _H, _L = "sub2sub", "camcast", "hpmcast", "live"
TITLES = {
    "sub2sub-change": (f"{_S}.change", "Spam and misses while changed subscriptions spread"),
    "sub2sub-choices": (f"{_S}.choices", "What the paper leaves open, and how much it matters"),
    "sub2sub-churn": (f"{_S}.churn", "Deliveries, upkeep and recovery under continuous churn"),
    "sub2sub-crash": (f"{_S}.crash", "Rings and deliveries after a share of the peers crashes at once"),
    "sub2sub-return": (f"{_S}.crash", "Rings and deliveries when peers given up for dead come back"),
    "sub2sub-fig5": (f"{_S}.fig5", "Ring links in place and complete rings, per cycle"),
    "sub2sub-fig6": (f"{_S}.fig6", "Hit ratio and complete disseminations, per cycle"),
    "sub2sub-fig7a": (f"{_S}.fig7a", "Distribution of ring lengths"),
    "sub2sub-fig7b": (f"{_S}.fig7b", "Hops to complete dissemination against ring length"),
    "sub2sub-shortcuts": (f"{_S}.fig7b", "Hops and messages against the number of shortcuts"),
    "sub2sub-fig8": (f"{_S}.fig8", "Cycles for a subscriber to rejoin and for a publisher to find a match"),
    "sub2sub-load": (f"{_S}.load", "Messages received and forwarded per peer, with 0 to 4 shortcuts"),
    "sub2sub-loss": (f"{_S}.loss", "Rings built and events delivered while messages are lost"),
    "sub2sub-model": (
        f"{_S}.model", "Exact values, wildcards, several subscriptions a host, four attributes, types",
    ),
    "sub2sub-partition": (f"{_S}.partition", "Rings and deliveries after a partition of 50 cycles"),
    "cyclon-graph": (f"{_S}.random_graph", "CYCLON's overlay beside a random graph"),
    "sub2sub-text": (f"{_S}.text", "Spam and load of dissemination"),
    "sub2sub-traffic": (f"{_S}.traffic", "Crash of half the peers while events flow, or while none do"),
    "camcast-analysis": (
        f"{_C}.closed_forms", "Closed forms of CAMCAST and its alternatives beside simulations",
    ),
    "camcast-table1": (f"{_C}.comparison", "Mean rounds to disseminate an event in all communities"),
    "camcast-table2": (f"{_C}.comparison", "Parasite events when publishing on the root"),
    "camcast-fig13": (f"{_C}.failures", "Events sent within each community"),
    "camcast-fig14": (f"{_C}.failures", "Upward messages between communities"),
    "camcast-fig15": (f"{_C}.failures", "Probability of reception, processes crashed at the start"),
    "camcast-fig16": (
        f"{_C}.failures", "Probability that everybody receives, processes crashed at the start",
    ),
    "camcast-fig17": (f"{_C}.failures", "Probability of reception, processes seeming crashed to some"),
    "camcast-fig18": (
        f"{_C}.failures", "Probability that everybody receives, processes seeming crashed to some",
    ),
    "camcast-load": (f"{_C}.forwarding_load", "Load of the processes that forward"),
    "camcast-memberships": (f"{_C}.memberships", "Three memberships against the chance of sending upward"),
    "camcast-memory": (f"{_C}.memory_entries", "Table entries of a process beside the alternatives"),
    "camcast-one-topic": (
        f"{_C}.one_topic", "CAMCAST with one topic beside the membership protocol beneath it",
    ),
    "camcast-scale": (f"{_C}.scale", "CAMCAST with up to a million processes and ten levels"),
    "camcast-shared": (f"{_C}.shared", "CAMCAST on the rings' overlay beside its own tables"),
    "pmcast-chain": (f"{_H}.chain", "Infected participants: the Markov chain against simulation"),
    "hpmcast-coverage": (
        f"{_H}.coverage", "Weak filters: what passes in vain, by the boxes of a joint interest",
    ),
    "hpmcast-depth": (f"{_H}.depth", "Rounds and delivery against fan-out and depth of the hierarchy"),
    "hpmcast-event-coverage": (f"{_H}.event_coverage", "Less of an event compared at higher levels"),
    "hpmcast-improvements": (
        f"{_H}.improvements",
        "Digests, other media and estimated shares, which the paper names and does not build",
    ),
    "hpmcast-fig7": (f"{_H}.interest", "Delivery against the fraction of interested participants"),
    "hpmcast-fig8": (f"{_H}.interest", "Delivery against the fraction of interested participants, enlarged"),
    "hpmcast-repair": (
        f"{_H}.repair", "Membership tables and delivery after 20 % of the participants crash",
    ),
    "hpmcast-fig9": (f"{_H}.rounds", "Expected rounds against the fraction of interested participants"),
    "hpmcast-fig11": (f"{_H}.scaling", "Delivery against the size of the hierarchy"),
    "hpmcast-fig12": (f"{_H}.scaling", "Delivery against the redundancy R"),
    "hpmcast-fig13": (f"{_H}.scaling", "Delivery with the audience threshold D"),
    "hpmcast-upkeep": (
        f"{_H}.upkeep", "Membership while participants join and leave, with loss, and carried by events",
    ),
    "hpmcast-views": (f"{_H}.views", "View size, updates and mean level against the depth"),
    "live-camcast": (f"{_L}.live_camcast", "Three memberships of live processes beside simulated ones"),
    "live-events": (f"{_L}.live_events", "One experiment driven by cycles and by events"),
    "live-sub2sub": (
        f"{_L}.live_sub2sub", "A swarm of live peers: rings built, a fifth killed, rings healed",
    ),
}  # fmt: skip
"""The module and the title of each reproduction."""

PAPERS = {
    "sub2sub": "Sub-2-Sub",
    "cyclon": "Sub-2-Sub",
    "camcast": "CAMCAST and Data-Aware Multicast",
    "hpmcast": "rfpbcast, pmcast, hpmcast",
    "pmcast": "rfpbcast, pmcast, hpmcast",
    "live": "Live peers",
}
"""Headings, by the beginning of the ids."""


def find(id: str) -> Reproduction:
    """The reproduction of that id; an unknown one is refused with the nearest known id."""
    if id not in TITLES:
        near = difflib.get_close_matches(id, TITLES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(TITLES)}"
        raise InputError(f"reproduction: {id!r} is unknown; {hint}")
    module, title = TITLES[id]
    plan, judge, charts = importlib.import_module(f"sims.reproduce.{module}").REPRODUCTIONS[id]
    return Reproduction(id, title, plan, judge, charts, alone=id in ("live-camcast", "live-sub2sub"))


def by_paper() -> dict[str, list[str]]:
    """All ids under the headings of `PAPERS`."""
    found: dict[str, list[str]] = {heading: [] for heading in PAPERS.values()}
    for id in TITLES:
        found[PAPERS[id.partition("-")[0]]].append(id)
    return found
