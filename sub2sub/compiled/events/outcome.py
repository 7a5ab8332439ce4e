"""The outcome of events: deliveries and costs per event, per peer, and as one summary.

The summary has the four facets of Sub-2-Sub, Section 4.2. Every system of the project uses this form:
`sub2sub.compiled.events.dissemination` fills it for rings, `sub2sub.compiled.events.accounting` for gossip
protocols.

A *delivery* is the first copy of an event that arrives at a subscriber that matches it and did not publish
it. For every event, counting messages between hosts,

    messages = deliveries + duplicates + spam + failed

- a *duplicate* is any further copy at a subscriber that matches, and any copy at the publisher;
- *spam* is a copy at a host that does not match;
- a *failed* message was lost, or sent to a peer that is down.

Acknowledgements, and messages that carry no event (*control*: announcements and requests), are counted apart.
*Messages per delivery* are all messages, these included, over all deliveries: in `run`, `compare` and
`reproduce` alike. Peers of one host pass events to one another without a message (`local`). Where hosts have
several peers, `messages + local` = first receptions of peers + duplicates + spam + failed.

The *hit ratio* is the share of the subscribers matching an event that have it, the publisher included. Means
over events give each event the same weight, however many subscribers it has; events without a match are left
out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.events.receptions import Receptions, Times

Counts = NDArray[np.int64]


def _none() -> Counts:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Outcome:
    """The outcome of m events among n peers.

    Attributes
    ----------
    matches, applications : (m,) int64
        Live peers that match an event, and the hosts they run on.
    reached, delivered : (m,) int64
        How many of these peers, and of these hosts, have it in the end.
    hops : (m,) int64
        Hop at which the last of them received it, counted from its entry; -1 if no peer did.
    messages : (m,) int64
        Messages sent from host to host, whether they arrived or not. Finding an entry is not included.
    local : (m,) int64
        Copies that peers of one host sent to one another.
    duplicates, spam, failed : (m,) int64
        Copies, local ones included: at a peer that already had the event; at a host without a matching peer;
        lost, or sent to a peer that is down or out of reach.
    acks : (m,) int64
        Acknowledgements.
    parasitic : (m,) int64
        Messages that were sent by hosts that do not match the event.
    entry : (m,) int64
        The peer at which it entered, -1 for none.
    entered : (m,) int64
        1 if the copy at the entry is included in `reached` (or `spam`), else 0; no message brought it.
    taken, received, forwarded, spammed : (n,) int64
        Per peer: events that it matches and has; copies of them that it received, or that entered there;
        messages that it sent; copies of events that it does not match.
    copies, sent : int64
        Histograms over receptions: copies that the peer received in the end, and messages that it sent.
    failures : (f, 2) int64
        Ring links (holder, neighbour) along which a message failed, each once; the holder may drop them.
    receptions : Receptions, optional
        Which peer received which event at which hop, if it was recorded.
    control : (m,) int64, or empty for none
        Messages that carry no event: announcements of events, and requests for them.
    times : Times, optional
        Milliseconds to each delivery, if the network has latencies; `hops` are then those of the first copy.
    """

    matches: Counts
    applications: Counts
    reached: Counts
    delivered: Counts
    hops: Counts
    messages: Counts
    local: Counts
    duplicates: Counts
    spam: Counts
    failed: Counts
    acks: Counts
    parasitic: Counts
    entry: Counts
    entered: Counts
    taken: Counts
    received: Counts
    forwarded: Counts
    spammed: Counts
    copies: Counts = field(default_factory=_none)
    sent: Counts = field(default_factory=_none)
    failures: Counts = field(default_factory=lambda: np.empty((0, 2), np.int64))
    receptions: Receptions | None = None
    control: Counts = field(default_factory=_none)
    times: Times | None = None

    @property
    def wanted(self) -> NDArray[np.bool_]:
        """Which events have a match."""
        wanted: NDArray[np.bool_] = self.applications > 0
        return wanted

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which events reached all their matches; events without a match are complete."""
        complete: NDArray[np.bool_] = self.delivered == self.applications
        return complete

    @property
    def complete_share(self) -> float:
        """Of the events that have a match, the share that reached all of them."""
        return _mean(self.complete[self.wanted])

    @property
    def hit_ratios(self) -> NDArray[np.float64]:
        """For each event the share of its matching hosts that have it; 1 where there is none."""
        return np.where(self.wanted, self.delivered / np.maximum(self.applications, 1), 1.0)

    @property
    def hit_ratio(self) -> float:
        """Mean hit ratio of all events that have a match."""
        return _mean(self.hit_ratios[self.wanted])

    @property
    def incomplete_hit_ratio(self) -> float:
        """Mean hit ratio of the events that are not complete; NaN if all are complete."""
        return float(self.hit_ratios[~self.complete].mean()) if not self.complete.all() else float("nan")

    @property
    def deliveries(self) -> Counts:
        """The number of subscribers, the publisher apart, that received each event."""
        deliveries: Counts = np.maximum(self.delivered - self.entered, 0)
        return deliveries

    @property
    def owed(self) -> Counts:
        """The number of subscribers, the publisher apart, that match each event."""
        owed: Counts = np.maximum(self.applications - self.entered, 0)
        return owed

    @property
    def billed(self) -> Counts:
        """Messages of each event, including acknowledgements and messages that carry no event."""
        billed: Counts = self.messages + self.acks
        return billed + self.control if self.control.size else billed

    @property
    def messages_per_delivery(self) -> float:
        """All messages, including those that carry no event, over all deliveries."""
        return float(self.billed.sum() / max(int(self.deliveries.sum()), 1))

    def unbalanced(self) -> int:
        """By how many messages the equation above is violated: 0 unless there is a bug."""
        counted = self.reached + self.duplicates + self.spam + self.failed
        return int(np.abs(self.messages + self.local + self.entered - counted).sum())

    def summary(self) -> dict[str, float]:
        """All events in one row: delivery, speed, cost, load balance.

        Loads are per event that a peer takes, because a peer with a wide subscription takes more events.
        """
        deliveries = max(int(self.deliveries.sum()), 1)
        busy = self.taken > 0
        received, forwarded = (load[busy] / self.taken[busy] for load in (self.received, self.forwarded))
        hops = self.hops[self.hops >= 0]
        return {
            "events": self.matches.size,
            "wanted": int(self.wanted.sum()),
            "hit_ratio": self.hit_ratio,
            "complete": self.complete_share,
            "incomplete_hit_ratio": self.incomplete_hit_ratio,
            "hops_mean": float(hops.mean()) if hops.size else 0.0,
            "hops_max": int(hops.max(initial=0)),
            "messages_per_event": float(self.billed.mean()) if self.billed.size else 0.0,
            "messages_per_delivery": self.messages_per_delivery,
            "duplicates_per_delivery": float(self.duplicates.sum() / deliveries),
            "spam": int(self.spam.sum()),
            "failed": int(self.failed.sum()),
            "acks": int(self.acks.sum()),
            "local": int(self.local.sum()),
            "received_gini": gini(received),
            "received_max_to_mean": _peak(received),
            "forwarded_gini": gini(forwarded),
            "forwarded_max_to_mean": _peak(forwarded),
            **(self.times.summary() if self.times is not None else {}),
        }

    def as_table(self) -> dict[str, NDArray[Any]]:
        """One row per event."""
        names = ("matches", "applications", "reached", "delivered", "hops", "messages", "local", "duplicates")
        found = {name: getattr(self, name) for name in (*names, "spam", "failed", "acks", "entry")}
        return found if self.times is None else {**found, "last_ms": self.times.last}

    def load_table(self) -> dict[str, NDArray[Any]]:
        """One row per peer: events taken, copies received, messages sent."""
        return {"taken": self.taken, "received": self.received, "forwarded": self.forwarded}


def gini(values: ArrayLike) -> float:
    """Gini coefficient: 0 if all values are equal, close to 1 if one of many has everything.

    Examples
    --------
    >>> gini([3, 3, 3]), gini([0, 0, 0, 8])
    (0.0, 0.75)
    """
    x = np.sort(np.asarray(values, float))
    total = float(x.sum())
    if total == 0.0:
        return 0.0
    return float((2 * np.arange(1, x.size + 1) - x.size - 1) @ x / (x.size * total))


def _mean(shares: NDArray[Any]) -> float:
    return float(shares.mean()) if shares.size else 1.0


def _peak(values: NDArray[np.float64]) -> float:
    return float(values.max() / values.mean()) if values.size and values.any() else 0.0
