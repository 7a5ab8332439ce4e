"""Virtual peers: a host with several subscriptions runs one peer for each (Sub-2-Sub, Section 3).

The paper does not specify how such a host treats events. Here:

- The application on a host receives an event once, from the first of its peers that receives it.
- Events that peers of one host pass to one another cost no message, are never lost, and are counted apart
  (`Outcome.local`).
- A host is up as long as one of its peers is alive. A subscription may have been cancelled or changed while
  the sender of a message does not know it yet. The message then arrives at the host, if it is up. The host
  passes it to one of its peers that matches the event; if there is none, the message is spam.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.machinery.compilation import rule
from sub2sub.errors import InputError


class Hosts(NamedTuple):
    """Which peers share a host; all three arrays are empty where every peer has a host to itself."""

    of: NDArray[np.int64]  # (n,) host of each peer, numbered from 0; -1 for a peer without one
    start: NDArray[np.int64]  # (hosts + 1,) the live peers of host h are `peers[start[h] : start[h + 1]]`
    peers: NDArray[np.int64]


def hosts_of(host: ArrayLike, alive: NDArray[np.uint8]) -> Hosts:
    """The live peers of each host. Hosts may have any numbers; a number below 0 means no host.

    Examples
    --------
    >>> hosts = hosts_of([7, 9, 7], np.array([1, 1, 0], np.uint8))
    >>> hosts.of, hosts.start, hosts.peers
    (array([0, 1, 0]), array([0, 1, 2]), array([0, 1]))
    """
    given = np.asarray(host)
    if given.shape != alive.shape or given.dtype.kind not in "iu":
        raise InputError(f"host: expected {alive.size} integers, got {given.dtype} of shape {given.shape}")
    placed = np.flatnonzero(given >= 0)
    numbers, number = np.unique(given[placed], return_inverse=True)
    if numbers.size == placed.size:
        none = np.empty(0, np.int64)
        return Hosts(none, none, none)
    of = np.full(alive.size, -1, np.int64)
    of[placed] = number
    live = placed[alive[placed] == 1]
    counts = np.bincount(of[live], minlength=numbers.size)
    return Hosts(of, np.append(0, np.cumsum(counts)), live[np.argsort(of[live], kind="stable")])


@rule
def wants(wanted, peer):
    """Whether a peer matches the current event; `wanted` has one bit per peer."""
    return (wanted[peer >> 6] >> (peer & 63)) & 1 == 1


@rule
def share_host(hosts, a, b):
    """Whether two peers run on one host."""
    return hosts.of.shape[0] > 0 and hosts.of[a] == hosts.of[b] and hosts.of[a] >= 0


@rule
def is_up(hosts, alive, peer):
    """Whether the host of a peer answers; the peer itself may be gone."""
    if alive[peer] == 1:
        return True
    if hosts.of.shape[0] == 0 or hosts.of[peer] < 0:
        return False
    return hosts.start[hosts.of[peer] + 1] > hosts.start[hosts.of[peer]]


@rule
def resident(hosts, wanted, peer):
    """The peer that takes an event in place of a peer that is gone: a match on the same host, -1 for none."""
    if hosts.of.shape[0] > 0 and hosts.of[peer] >= 0:
        for k in range(hosts.start[hosts.of[peer]], hosts.start[hosts.of[peer] + 1]):
            if wants(wanted, hosts.peers[k]):
                return hosts.peers[k]
    return np.int64(-1)
