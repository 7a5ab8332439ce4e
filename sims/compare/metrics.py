"""From counts to the numbers of a cell: one value a metric, for one seed.

A metric that is kept per peer has six values: its mean, median, 99th percentile, maximum and Gini
coefficient over the subscribers, and its total.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.events.outcome import Outcome, gini
from sub2sub.peers.descriptors import ACK, HEADER, NAME

RESAMPLED = 200  # times that events are drawn again, with replacement


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


def hits(outcome: Outcome) -> NDArray[np.float64]:
    """Share of the subscribers of each event, its publisher apart, that get it."""
    shares: NDArray[np.float64] = outcome.deliveries / outcome.owed
    return shares


def hit_ratio(outcome: Outcome) -> float:
    """Its mean: every event weighs the same."""
    return float(hits(outcome).mean()) if outcome.owed.size else 1.0


def ratio_error(of_events: NDArray[Any], deliveries: NDArray[np.int64]) -> float:
    """The standard error of a total over the deliveries, by bootstrap over the events.

    Examples
    --------
    >>> ratio_error(np.array([4.0, 4.0]), np.array([2, 2]))
    0.0
    """
    events = len(of_events)
    drawn = draws(np.uint64(events), np.arange(RESAMPLED * events)) % np.uint64(events)
    chosen = drawn.astype(np.int64).reshape(RESAMPLED, events)
    totals, taken = of_events[chosen].sum(axis=1), deliveries[chosen].sum(axis=1)
    return float((totals / np.maximum(taken, 1)).std())


def of_cell(outcome: Outcome, event_size: int) -> dict[str, float]:
    """The metrics of the events of one cell, each of which matches another subscriber than its publisher.

    The hit ratio gives every event the same weight; ratios of messages are totals over totals.
    """
    events = outcome.messages.size
    if not events:
        return {}
    deliveries = max(float(outcome.deliveries.sum()), 1.0)
    hops = outcome.hops[outcome.deliveries > 0]
    control = outcome.control if outcome.control.size else np.zeros_like(outcome.messages)
    size = event_size * outcome.messages + ACK * outcome.acks + (HEADER + NAME) * control
    found = {
        "events": float(events),
        "hit_ratio": hit_ratio(outcome),
        "complete": float(outcome.complete.mean()),
        "messages_per_event": float(outcome.billed.mean()),
        "bytes_per_event": float(size.mean()),
        "bytes_per_delivery": float(size.sum() / deliveries),
        "messages_per_delivery": outcome.messages_per_delivery,
        "copies_per_delivery": float(outcome.messages.sum() / deliveries),
        "control_per_delivery": float((outcome.acks + control).sum() / deliveries),
        "duplicates_per_event": float(outcome.duplicates.mean()),
        "spam_per_event": float(outcome.spam.mean()),
        "spam_per_delivery": float(outcome.spam.sum() / deliveries),
        "control_per_event": float(control.mean()),
    }
    for name, of_events in (("messages", outcome.billed), ("bytes", size)):
        found[f"{name}_per_delivery.error"] = ratio_error(of_events, outcome.deliveries)
    if hops.size:
        found["hops_to_last_match"] = float(hops.mean())
    if outcome.times is not None:
        found |= outcome.times.summary()
    return found
