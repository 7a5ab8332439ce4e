"""From what the members of a protocol sent and received to an `Outcome`.

A protocol reports, for one event, what each of its members sent, how many copies arrived there, and in which
round and when the first did. Only the simulator knows which subscribers match the event and which members
belong to one subscriber; this knowledge enters only here. A subscriber is what pays: several memberships are
billed to it together, and what it has by one of them it has.

Messages between memberships of one subscriber count as messages: the protocols do not know of hosts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.events.outcome import Outcome
from sub2sub.events.receptions import Receptions
from sub2sub.events.times import Times
from sub2sub.geometry.matching import Members
from sub2sub.kernels.compilation import kernel

Integers = NDArray[np.int64]

# Columns of `Totals.events` and `Totals.peers`.
MATCHES, DELIVERED, HOPS, MESSAGES, DUPLICATES, SPAM, FAILED, ACKS, PARASITIC, ENTERED, CONTROL = range(11)
TAKEN, RECEIVED, FORWARDED, SPAMMED = range(4)
NEVER = np.int32(2**31 - 1)


class Totals(NamedTuple):
    """Counts of m events and n subscribers, and scratch space to count them with.

    Attributes
    ----------
    events : (m, 11) int64
    peers : (n, 4) int64
    wants : (n,) int64
        The last event that a subscriber wants.
    since : (n,) int32
        The hop at which it got the event at hand.
    ms_since : (n,) float64
        When it got the event at hand.
    ms_offsets, ms : (m + 1,) int64, float32
        When each subscriber that wants an event got it, NaN for never, and one place more; empty where nobody
        tells the time.
    """

    events: Integers
    peers: Integers
    wants: Integers
    since: NDArray[np.int32]
    ms_since: NDArray[np.float64]
    ms_offsets: Integers
    ms: NDArray[np.float32]


def new_totals(events: int, peers: int, times_of: tuple[Members, Integers] | None = None) -> Totals:
    """Totals of 0; with times of the events that have these numbers among those wanted."""
    offsets = np.zeros(events + 1, np.int64)
    if times_of is not None:
        members, numbers = times_of
        np.cumsum(np.diff(members.offsets)[numbers], out=offsets[1:])
    return Totals(
        np.zeros((events, 11), np.int64), np.zeros((peers, 4), np.int64), np.full(peers, -1),
        np.full(peers, NEVER), np.full(peers, np.inf), offsets,
        np.full(int(offsets[-1]) + 1 if times_of is not None else 0, np.nan, np.float32),
    )  # fmt: skip


@kernel
def account(k, wanting, publisher, alive, host, first, sent, arrived, when, totals):
    """Add event k; events are added in ascending order.

    Parameters
    ----------
    k, publisher : int
        Row of the event, and the subscriber that publishes it.
    wanting : int64 array
        Subscribers that want it, crashed ones included.
    alive : (n,) uint8
    host : (members,) int64
        The subscriber a member belongs to.
    first, sent, arrived : (members,)
        Round of the first reception (0 at the publisher, -1 for never), messages sent, copies that arrived.
    when : (members,) float64
        Time of the first reception.
    """
    row, peers, wants, since = totals.events[k], totals.peers, totals.wants, totals.since
    ms_since, timed = totals.ms_since, totals.ms.shape[0] > 0
    for h in wanting:
        if alive[h]:
            wants[h] = k
            row[MATCHES] += 1
    row[HOPS] = -1
    total, reached = np.int64(0), np.int64(0)
    for member in range(host.shape[0]):
        h = host[member]
        if sent[member] > 0:
            total += sent[member]
            peers[h, FORWARDED] += sent[member]
            if wants[h] != k:
                row[PARASITIC] += sent[member]
        if arrived[member] > 0:
            reached += arrived[member]
            if wants[h] == k:
                peers[h, RECEIVED] += arrived[member]
                row[DUPLICATES] += arrived[member]
                since[h] = min(since[h], np.int32(first[member]))
                if timed:
                    ms_since[h] = min(ms_since[h], when[member])
            else:
                row[SPAM] += arrived[member]
                peers[h, SPAMMED] += arrived[member]
    if wants[publisher] == k:
        row[ENTERED] = 1
        row[DUPLICATES] += 1  # its own copy, no message, is counted like one below
        peers[publisher, RECEIVED] += 1
        since[publisher] = 0
    for place in range(wanting.shape[0]):
        h = wanting[place]
        if wants[h] == k and since[h] != NEVER:
            row[DELIVERED] += 1
            row[DUPLICATES] -= 1
            row[HOPS] = max(row[HOPS], np.int64(since[h]))
            peers[h, TAKEN] += 1
            since[h] = NEVER
            if timed:
                if h != publisher:
                    totals.ms[totals.ms_offsets[k] + place] = ms_since[h]
                ms_since[h] = np.inf
    row[MESSAGES] = total
    row[FAILED] = total - reached


def outcome_of(totals: Totals, entry: Integers, receptions: Receptions | None = None) -> Outcome:
    """The totals as an outcome.

    Parameters
    ----------
    entry : (m,) int64
        The subscribers that published the events.
    receptions : Receptions, optional

    Examples
    --------
    Subscriber 0 publishes; 1 and 2 want the event, 2 gets it twice; 3 does not want it and gets it once.

    >>> totals = new_totals(events=1, peers=4)
    >>> account(0, np.array([0, 1, 2]), 0, np.ones(4, np.uint8), np.arange(4), np.array([0, 1, 1, 2]),
    ...         np.array([3, 1, 1, 0]), np.array([0, 1, 2, 1]), np.zeros(4), totals)
    >>> outcome = outcome_of(totals, np.array([0]))
    >>> outcome.deliveries, outcome.duplicates, outcome.spam, outcome.failed, outcome.messages_per_delivery
    (array([2]), array([1]), array([1]), array([1]), 2.5)
    """
    e, p = totals.events.T.copy(), totals.peers.T.copy()
    return Outcome(
        matches=e[MATCHES], applications=e[MATCHES], reached=e[DELIVERED], delivered=e[DELIVERED],
        hops=e[HOPS], messages=e[MESSAGES], local=np.zeros_like(e[MESSAGES]), duplicates=e[DUPLICATES],
        spam=e[SPAM], failed=e[FAILED], acks=e[ACKS], parasitic=e[PARASITIC], entry=entry,
        entered=e[ENTERED], taken=p[TAKEN], received=p[RECEIVED], forwarded=p[FORWARDED], spammed=p[SPAMMED],
        receptions=receptions, control=e[CONTROL],
        times=Times.among(totals.ms_offsets, totals.ms[:-1]) if totals.ms.size else None,
    )  # fmt: skip
