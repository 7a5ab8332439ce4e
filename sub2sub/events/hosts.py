"""Virtual peers: several subscriptions of one host, each a peer of its own (Sub-2-Sub, Section 3).

The paper runs one virtual peer per subscription and leaves open what that means for an event. Here:

- The application on a host gets an event once, whichever of its peers receives it first.
- What a host's peers send one another stays on the host: it costs no message, is never lost, and is counted
  apart.
- A host is up as long as one of its peers is alive. A message to a peer that is gone from a host that is up
  (its subscription was cancelled or changed, and the sender does not know yet) arrives: the host hands it to
  a peer of its own that matches the event, if there is one, and otherwise has received spam.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError
from sub2sub.kernels.compilation import rule


class Hosts(NamedTuple):
    """Which peers share a host; all three empty where every peer has a host to itself.

    Attributes
    ----------
    of : (n,) int64
        Host of each peer, numbered from 0; -1 for a peer without one.
    start : (hosts + 1,) int64
        The live peers of host h are ``peers[start[h] : start[h + 1]]``.
    peers : int64
    """

    of: NDArray[np.int64]
    start: NDArray[np.int64]
    peers: NDArray[np.int64]


def hosts_of(host: ArrayLike, alive: NDArray[np.uint8]) -> Hosts:
    """The live peers of each host.

    Parameters
    ----------
    host : (n,) array_like of int
        Any number for each host, below 0 for a peer without one.
    alive : (n,) uint8

    Raises
    ------
    InputError
        When there is not one integer for each peer.

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
def share_host(hosts, a, b):
    """Whether two peers run on one host."""
    return hosts.of.shape[0] > 0 and hosts.of[a] == hosts.of[b] and hosts.of[a] >= 0


@rule
def is_up(hosts, alive, peer):
    """Whether the host of a peer, alive or gone, answers."""
    if alive[peer] == 1:
        return True
    if hosts.of.shape[0] == 0 or hosts.of[peer] < 0:
        return False
    return hosts.start[hosts.of[peer] + 1] > hosts.start[hosts.of[peer]]


@rule
def resident(hosts, wanted, peer):
    """Who takes an event that arrived for a peer that is gone: one of its host that matches, -1 for nobody.

    `wanted` has a bit for each peer, set if it matches.
    """
    if hosts.of.shape[0] > 0 and hosts.of[peer] >= 0:
        for k in range(hosts.start[hosts.of[peer]], hosts.start[hosts.of[peer] + 1]):
            other = hosts.peers[k]
            if (wanted[other >> 6] >> (other & 63)) & 1 == 1:
                return other
    return np.int64(-1)
