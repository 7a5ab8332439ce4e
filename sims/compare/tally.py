"""What became of events in one cell, in the same terms for every system.

A subscriber's host is what pays: members, virtual peers and publisher's memberships of one host are billed
to it together. Of the messages of an event,

    messages = deliveries + duplicates + spam + failed

where a *delivery* is the first copy that arrives at a subscriber who wants the event and did not publish it,
a *duplicate* any further copy at one who wants it (any at all at its publisher), *spam* a copy that arrives
at a host that does not want it, and *failed* one that was lost or sent to somebody who is down.
Acknowledgements, where a system needs them, are messages besides (`acks`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sub2sub.geometry.matching import Members
from sub2sub.kernels.compilation import kernel

__all__ = ["Tally", "account"]

Integers = NDArray[np.int64]

# Columns of `Tally.events`.
MATCHES, DELIVERED, HOPS, MESSAGES, DUPLICATES, SPAM, FAILED, ACKS, PARASITE = range(9)
SENT, RECEIVED, SPAMMED = range(3)  # columns of `Tally.hosts`


@dataclass(frozen=True)
class Tally:
    """Counts of the events that were published, and of the hosts.

    Attributes
    ----------
    events : (m, 9) int64
        Live subscribers that want it beside the publisher, deliveries among them, hop of the last of these
        (-1 if there is none), messages, duplicates, spam, failed, acknowledgements, and messages that hosts
        sent on which do not want the event.
    hosts : (n, 3) int64
        Messages sent, copies received, and those of them that were spam; acknowledgements left out.

    Examples
    --------
    >>> tally = Tally.empty(events=2, hosts=3)
    >>> tally.events.shape, tally.hosts.shape
    ((2, 9), (3, 3))
    """

    events: Integers
    hosts: Integers

    @classmethod
    def empty(cls, events: int, hosts: int) -> Tally:
        """Nothing counted yet."""
        return cls(np.zeros((events, 9), np.int64), np.zeros((hosts, 3), np.int64))

    def unbalanced(self) -> int:
        """By how many messages the books do not balance: 0, or something is wrong."""
        e = self.events
        difference = e[:, MESSAGES] - e[:, DELIVERED] - e[:, DUPLICATES] - e[:, SPAM] - e[:, FAILED]
        return int(np.abs(difference).sum())


@kernel
def account(k, offsets, members, event, publisher, alive, host, first, sent, arrived, wants, got, tally):
    """Enter one event: what each member of the system sent, received, and in which round first (-1: never).

    `wants` and `got` are room for a number per host that holds no k or above yet.
    """
    events, hosts = tally
    row = events[k]
    for i in range(offsets[event], offsets[event + 1]):
        if alive[members[i]]:
            wants[members[i]] = k
            row[MATCHES] += members[i] != publisher
    row[HOPS] = -1
    got[publisher] = k
    total, reached = np.int64(0), np.int64(0)
    for member in range(host.shape[0]):
        h = host[member]
        if sent[member] > 0:
            total += sent[member]
            hosts[h, SENT] += sent[member]
            if wants[h] != k:
                row[PARASITE] += sent[member]
        copies = arrived[member]
        if copies == 0:
            continue
        reached += copies
        hosts[h, RECEIVED] += copies
        if wants[h] != k:
            row[SPAM] += copies
            hosts[h, SPAMMED] += copies
            continue
        if got[h] != k:
            got[h] = k
            row[DELIVERED] += 1
            row[HOPS] = max(row[HOPS], np.int64(first[member]))
            copies -= 1
        row[DUPLICATES] += copies
    row[MESSAGES] = total
    row[FAILED] = total - reached


def enter(
    tally: Tally,
    matches: Members,
    k: int,
    event: int,
    publisher: int,
    alive: NDArray[np.uint8],
    first: NDArray[np.int32],
    sent: NDArray[np.int32],
    arrived: NDArray[np.int32],
    desk: tuple[Integers, Integers, Integers],
) -> None:
    """`account` from Python, one event at a time."""
    host, wants, got = desk
    account(
        k, matches.offsets, matches.members, event, publisher, alive, host, first, sent, arrived, wants, got,
        (tally.events, tally.hosts),
    )  # fmt: skip


def new_desk(host: Integers) -> tuple[Integers, Integers, Integers]:
    """Room for `enter`: which host each member is, all different, and two columns that hold no event yet."""
    return host, np.full(len(host), -1), np.full(len(host), -1)
