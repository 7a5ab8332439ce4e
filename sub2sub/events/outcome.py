"""What became of events: per event, per peer, and for a set of them (Sub-2-Sub, Section 4.2's four facets).

One form for every system of the project: `sub2sub.events.dissemination` fills it for rings, and
`sub2sub.events.accounting` from what the members of a gossip protocol sent and received.

A *delivery* is the first copy of an event that arrives at a subscriber that wants it and did not publish it.
Of the messages of an event, each from one host to another,

    messages = deliveries + duplicates + spam + failed

where a *duplicate* is any further copy at one that wants it (any at all at its publisher), *spam* a copy at a
host that does not want it, and *failed* one that was lost or sent to a peer that is down. Acknowledgements
and messages that carry no event (*control*: announcements, requests), where a system needs them, are messages
besides. *Messages per delivery* are all messages, these included, over all deliveries: in `run`, `compare`
and `reproduce` alike.

Peers of one host hand events to one another without a message (`local`). Where hosts have several peers,
`messages + local` are first receptions of peers, duplicates, spam and failures.

The *hit ratio* is the share of those an event is meant for that have it; a publisher that wants its own event
has it. Ratios over events give each event the same weight, however many subscribers it has; events meant for
nobody are left out of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.events.receptions import Receptions
from sub2sub.events.times import Times

Counts = NDArray[np.int64]


def _none() -> Counts:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Outcome:
    """What became of m events among n peers.

    Attributes
    ----------
    matches, applications : (m,) int64
        Live peers that match an event, and the hosts they run on.
    reached, delivered : (m,) int64
        Those of them that have it in the end: peers, and hosts.
    hops : (m,) int64
        Hop at which the last of them got it, counted from where it entered; -1 if nobody did.
    messages : (m,) int64
        Messages sent from host to host, arrived or not. What it takes to find an entry is not among them.
    local : (m,) int64
        What peers of one host sent one another.
    duplicates, spam, failed : (m,) int64
        Copies, local ones included, at a peer that had the event already; at a host no peer of which matches
        it; sent to one that is down or out of reach, or lost.
    acks : (m,) int64
        Acknowledgements.
    parasitic : (m,) int64
        Those of the messages that were sent by hosts that do not want the event.
    entry : (m,) int64
        The peer at which it entered, -1 for none.
    entered : (m,) int64
        1 where that copy, which no message of these brought, is among `reached` (or `spam`), else 0.
    taken, received, forwarded, spammed : (n,) int64
        Events that each peer wanted and has, copies of them that it got, the one that entered at it included,
        messages that it sent, and copies of what it does not want.
    copies, sent : int64
        Receptions by the number of copies the peer got in the end, and by the number of messages it sent on.
    failures : (f, 2) int64
        Ring links (holder, neighbour) along which a message failed, each once: what a holder may drop.
    receptions : Receptions, optional
        Who got what when, if it was recorded.
    control : (m,) int64, or empty for none
        Messages that carry no event: announcements of events, and requests for them.
    times : Times, optional
        Milliseconds to each delivery, where the network tells them; hops are then those of the first copy's
        way.
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
    def deliveries(self) -> Counts:
        """Subscribers, the publisher apart, that each event was delivered to."""
        deliveries: Counts = np.maximum(self.delivered - self.entered, 0)
        return deliveries

    @property
    def owed(self) -> Counts:
        """Subscribers, the publisher apart, that each event is meant for."""
        owed: Counts = np.maximum(self.applications - self.entered, 0)
        return owed

    @property
    def billed(self) -> Counts:
        """Messages of each event, with acknowledgements and those that carry no event."""
        billed: Counts = self.messages + self.acks
        return billed + self.control if self.control.size else billed

    @property
    def messages_per_delivery(self) -> float:
        """All messages, those without an event included, over all deliveries."""
        return float(self.billed.sum() / max(int(self.deliveries.sum()), 1))

    def unbalanced(self) -> int:
        """By how many messages the counts do not balance: 0, or something is wrong."""
        counted = self.reached + self.duplicates + self.spam + self.failed
        return int(np.abs(self.messages + self.local + self.entered - counted).sum())

    def summary(self) -> dict[str, float]:
        """A set of events in one row: delivery, speed, cost, load balance.

        Loads are per event that a peer took: one with a wide subscription gets more events, as it wants to.
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
