"""What became of events: per event, per peer, and for a set of them (Sub-2-Sub, Section 4.2's four facets).

A *delivery* is a peer's first reception of an event that matches it. Ratios over events give each event the
same weight, however many subscribers it has; events meant for nobody are left out of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Outcome", "gini"]

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """What became of m events among n peers.

    Attributes
    ----------
    matches, applications : (m,) int64
        Live peers that match an event, and the hosts they run on.
    reached, delivered : (m,) int64
        Those of them that got it: peers, and applications.
    hops : (m,) int64
        Hop at which the last of them got it, counted from where it entered; -1 if nobody did.
    messages : (m,) int64
        Messages sent from host to host, arrived or not. The publisher's are not among them.
    local : (m,) int64
        What peers of one host sent one another.
    duplicates, spam, failed : (m,) int64
        Messages, local ones included, to a peer that had the event already; to a host no peer of which
        matches it; to one that is down or out of reach, or lost.
    hop_offsets, at_hop : (m + 1,), int64
        Deliveries of event e by hop: ``at_hop[hop_offsets[e] : hop_offsets[e + 1]]``.
    taken, received, forwarded : (n,) int64
        Events that each peer took, copies of them that it received, and messages that it sent.
    copies, sent : int64
        Deliveries by the number of copies the peer got in the end, and by the number of messages it sent on.
    failures : (f, 2) int64
        Ring links (holder, neighbour) along which a message failed, each once: what a holder may drop.
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
    hop_offsets: Counts
    at_hop: Counts
    taken: Counts
    received: Counts
    forwarded: Counts
    copies: Counts
    sent: Counts
    failures: Counts

    @property
    def wanted(self) -> NDArray[np.bool_]:
        """Which events are meant for somebody."""
        wanted: NDArray[np.bool_] = self.applications > 0
        return wanted

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which events reached all they are meant for; trivially those that are meant for nobody."""
        complete: NDArray[np.bool_] = self.delivered == self.applications
        return complete

    @property
    def complete_share(self) -> float:
        """Share of events that reached all they are meant for, of those meant for somebody."""
        return _mean(self.complete[self.wanted])

    @property
    def hit_ratios(self) -> NDArray[np.float64]:
        """Share of the applications an event is meant for that got it; 1 where there is none."""
        return np.where(self.wanted, self.delivered / np.maximum(self.applications, 1), 1.0)

    @property
    def hit_ratio(self) -> float:
        """Mean of the hit ratios of all events meant for somebody."""
        return _mean(self.hit_ratios[self.wanted])

    @property
    def incomplete_hit_ratio(self) -> float:
        """Mean of the hit ratios of the events that are not complete; NaN when all are."""
        return float(self.hit_ratios[~self.complete].mean()) if not self.complete.all() else float("nan")

    @property
    def hop_histogram(self) -> Counts:
        """Deliveries by hop, over all events."""
        return np.bincount(self._hop(), weights=self.at_hop).astype(np.int64)

    def _hop(self) -> Counts:
        return np.arange(self.at_hop.size) - np.repeat(self.hop_offsets[:-1], np.diff(self.hop_offsets))

    def summary(self) -> dict[str, float]:
        """A set of events in one row: delivery, speed, cost, load balance.

        Loads are per event that a peer took: one with a wide subscription gets more events, as it wants to.
        """
        deliveries = max(int(self.reached.sum()), 1)
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
            "messages_per_delivery": float(self.messages.sum() / deliveries),
            "duplicates_per_delivery": float(self.duplicates.sum() / deliveries),
            "spam": int(self.spam.sum()),
            "failed": int(self.failed.sum()),
            "local": int(self.local.sum()),
            "received_gini": gini(received),
            "received_max_to_mean": _peak(received),
            "forwarded_gini": gini(forwarded),
            "forwarded_max_to_mean": _peak(forwarded),
        }

    def as_table(self) -> dict[str, NDArray[Any]]:
        """One row per event."""
        names = ("matches", "applications", "reached", "delivered", "hops", "messages", "local", "duplicates")
        return {name: getattr(self, name) for name in (*names, "spam", "failed")}

    def hop_table(self) -> dict[str, NDArray[Any]]:
        """One row per event and hop: deliveries."""
        event = np.repeat(np.arange(self.hops.size), np.diff(self.hop_offsets))
        return {"event": event, "hop": self._hop(), "deliveries": self.at_hop}

    def load_table(self) -> dict[str, NDArray[Any]]:
        """One row per peer: events taken, copies received, messages sent."""
        return {"taken": self.taken, "received": self.received, "forwarded": self.forwarded}


def gini(values: ArrayLike) -> float:
    """Gini coefficient: 0 when all values are equal, towards 1 when one has everything.

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
