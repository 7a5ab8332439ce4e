"""Computes an `Outcome` from the messages that the members of a gossip protocol sent and received.

For each event a protocol reports, per member, how many messages it sent, how many copies arrived, and the
round and time of the first. Only the simulator knows which subscribers match the event and which members
belong to one subscriber; this knowledge is used only here. A subscriber with several memberships is counted
once: their messages are added up, and it has an event if one of them has it.

Messages between two memberships of one subscriber count as messages: these protocols do not know hosts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.events.receptions import Receptions, Times
from sub2sub.compiled.machinery.compilation import kernel, rule
from sub2sub.geometry.matching import Members

Integers = NDArray[np.int64]

# Columns of `Totals.events` and `Totals.peers`.
MATCHES, DELIVERED, HOPS, MESSAGES, DUPLICATES, SPAM, FAILED, ACKS, PARASITIC, ENTERED, CONTROL = range(11)
TAKEN, RECEIVED, FORWARDED, SPAMMED = range(4)
NOT_RECEIVED = np.int32(2**31 - 1)


class Totals(NamedTuple):
    """Counts for m events and n subscribers, and scratch space."""

    events: Integers  # (m, 11)
    peers: Integers  # (n, 4)
    wants: Integers  # (n,) the last event that a subscriber matches
    since: NDArray[np.int32]  # (n,) the hop at which it received the current event
    ms_since: NDArray[np.float64]  # (n,) the time at which it received the current event
    ms_offsets: Integers  # (m + 1,) where in `ms` the matching subscribers of each event begin
    ms: NDArray[np.float32]  # when each of them received it, NaN for never; and one more. Empty if untimed


def new_totals(events: int, peers: int, times_of: tuple[Members, Integers] | None = None) -> Totals:
    """Totals of 0; `times_of`: the subscribers of all events, and the numbers of the events to be timed."""
    offsets = np.zeros(events + 1, np.int64)
    if times_of is not None:
        members, numbers = times_of
        np.cumsum(np.diff(members.offsets)[numbers], out=offsets[1:])
    return Totals(
        np.zeros((events, 11), np.int64), np.zeros((peers, 4), np.int64), np.full(peers, -1),
        np.full(peers, NOT_RECEIVED), np.full(peers, np.inf), offsets,
        np.full(int(offsets[-1]) + 1 if times_of is not None else 0, np.nan, np.float32),
    )  # fmt: skip


@kernel
def account(k, wanting, publisher, alive, host, first, sent, arrived, when, totals):
    """Add event k, which the subscriber `publisher` published; events are added in ascending order.

    `wanting` are the subscribers that match it, crashed ones included. Per member: `host`, its subscriber;
    `first` and `when`, the round and time of the first reception (0 at the publisher, -1 for never); `sent`,
    the messages that it sent; `arrived`, the copies that arrived.
    """
    row, wants = totals.events[k], totals.wants
    for h in wanting:
        if alive[h]:
            wants[h] = k
            row[MATCHES] += 1
    _add_messages(k, host, first, sent, arrived, when, totals)
    if wants[publisher] == k:
        row[ENTERED] = 1
        row[DUPLICATES] += 1
        totals.peers[publisher, RECEIVED] += 1
        totals.since[publisher] = 0
    _add_deliveries(k, wanting, publisher, totals)


@rule
def _add_messages(k, host, first, sent, arrived, when, totals):
    """Count the messages of all members; each copy at a match counts as a duplicate for now."""
    row, peers, since = totals.events[k], totals.peers, totals.since
    total, reached = np.int64(0), np.int64(0)
    for member in range(host.shape[0]):
        h = host[member]
        wanted = totals.wants[h] == k
        if sent[member] > 0:
            total += sent[member]
            peers[h, FORWARDED] += sent[member]
            if not wanted:
                row[PARASITIC] += sent[member]
        if arrived[member] > 0:
            reached += arrived[member]
            if wanted:
                peers[h, RECEIVED] += arrived[member]
                row[DUPLICATES] += arrived[member]
                since[h] = min(since[h], np.int32(first[member]))
                if totals.ms.shape[0] > 0:
                    totals.ms_since[h] = min(totals.ms_since[h], when[member])
            else:
                row[SPAM] += arrived[member]
                peers[h, SPAMMED] += arrived[member]
    row[MESSAGES], row[FAILED] = total, total - reached


@rule
def _add_deliveries(k, wanting, publisher, totals):
    """Count the matches that have the event: one copy of each was no duplicate. Clears the scratch space."""
    row, since = totals.events[k], totals.since
    row[HOPS] = -1
    for place in range(wanting.shape[0]):
        h = wanting[place]
        if totals.wants[h] == k and since[h] != NOT_RECEIVED:
            row[DELIVERED] += 1
            row[DUPLICATES] -= 1
            row[HOPS] = max(row[HOPS], np.int64(since[h]))
            totals.peers[h, TAKEN] += 1
            since[h] = NOT_RECEIVED
            if totals.ms.shape[0] > 0:
                if h != publisher:
                    totals.ms[totals.ms_offsets[k] + place] = totals.ms_since[h]
                totals.ms_since[h] = np.inf


def outcome_of(totals: Totals, entry: Integers, receptions: Receptions | None = None) -> Outcome:
    """The outcome of these totals; `entry` are the subscribers that published the events.

    Examples
    --------
    Subscriber 0 publishes. 1 and 2 match; 2 receives the event twice. 3 does not match, and receives it.

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
