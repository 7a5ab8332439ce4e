"""From counts to the numbers of a cell: one value a metric, for one seed.

A metric that is kept per peer has six values: its mean, median, 99th percentile, maximum and Gini
coefficient over the subscribers, and its total.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.compare.systems.system import HEADER, event_bytes
from sims.compare.tally import (
    ACKS,
    DELIVERED,
    DUPLICATES,
    FAILED,
    HOPS,
    MATCHES,
    MESSAGES,
    PARASITE,
    RECEIVED,
    SENT,
    SPAM,
    SPAMMED,
    Tally,
)
from sub2sub.events.outcome import gini

__all__ = ["of_cell", "per_peer"]


def per_peer(name: str, values: NDArray[np.float64]) -> dict[str, float]:
    """How a cost is spread over the subscribers.

    Examples
    --------
    >>> per_peer("links", np.array([1.0, 1.0, 4.0]))["links.max"]
    4.0
    """
    return {
        f"{name}.mean": float(values.mean()),
        f"{name}.median": float(np.median(values)),
        f"{name}.p99": float(np.percentile(values, 99)),
        f"{name}.max": float(values.max()),
        f"{name}.gini": gini(values),
        f"{name}.total": float(values.sum()),
    }


def of_cell(tally: Tally, d: int) -> dict[str, float]:
    """The metrics of the events of one cell.

    The hit ratio gives every event the same weight; ratios of messages are totals over totals. Loads of
    peers are per event published.

    Examples
    --------
    >>> tally = Tally(np.array([[4, 3, 2, 6, 1, 1, 1, 0, 0]]), np.zeros((5, 3), np.int64))
    >>> found = of_cell(tally, d=1)
    >>> found["hit_ratio"], found["messages_per_delivery"], found["bytes_per_event"]
    (0.75, 2.0, 1656.0)
    """
    e = tally.events.astype(np.float64)
    if not len(e):
        return {}
    deliveries = max(e[:, DELIVERED].sum(), 1.0)
    sent = e[:, MESSAGES] + e[:, ACKS]
    hops = e[e[:, HOPS] >= 0, HOPS]
    found = {
        "events": float(len(e)),
        "hit_ratio": float((e[:, DELIVERED] / e[:, MATCHES]).mean()),
        "complete": float((e[:, DELIVERED] == e[:, MATCHES]).mean()),
        "messages_per_event": float(sent.mean()),
        "bytes_per_event": float((event_bytes(d) * e[:, MESSAGES] + HEADER * e[:, ACKS]).mean()),
        "messages_per_delivery": float(sent.sum() / deliveries),
        "duplicates_per_event": float(e[:, DUPLICATES].mean()),
        "spam_per_event": float(e[:, SPAM].mean()),
        "spam_per_delivery": float(e[:, SPAM].sum() / deliveries),
        "failed_per_event": float(e[:, FAILED].mean()),
        "sent_by_uninterested_per_event": float(e[:, PARASITE].mean()),
    }
    if hops.size:
        found |= {"hops_to_last_match": float(hops.mean()), "hops_max": float(hops.max())}
    for name, column in (("sent", SENT), ("received", RECEIVED), ("spam_received", SPAMMED)):
        found |= per_peer(name, tally.hosts[:, column] / len(e))
    return found
