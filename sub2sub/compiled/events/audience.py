"""The audience of events: the number of live peers that match each event, and a random one to enter at.

Only the simulator knows these; no peer does. Events are matched in batches: the matches of many events in a
large population do not fit into memory. Of each batch only the counts and the random matches are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.events.hosts import hosts_of
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.geometry.boxes import points
from sub2sub.geometry.matching import match_boxes
from sub2sub.overlay.population import Population
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("entry")
_BATCH = 1 << 31  # subscriptions times events matched at once, at most
FEWEST = 256  # with fewer events, a batch costs more than it saves


class Audience(NamedTuple):
    """The subscribers of each of m events."""

    matches: NDArray[np.int64]  # (m,) live peers that match it
    applications: NDArray[np.int64]  # (m,) hosts that run these peers
    entry: NDArray[np.int64]  # (m,) the peer at which it enters: a random match, -1 if there is none


def audience(links: Links, network: Network, events: ArrayLike, *, seed: int = 0, cycle: int = 0) -> Audience:
    """Count the live matches of each event, (m, d), and draw one of them.

    The random match depends on the seed, the cycle and the number of the event. Of `links` only the boxes are
    used.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> from sub2sub.overlay.population import Population
    >>> overlay = Overlay(Population.of([[0.0], [0.2]], [[0.5], [0.9]]))
    >>> audience(Links.of(overlay), overlay.network, [[0.1], [0.3], [0.95]]).matches
    array([1, 2, 0])
    """
    at = points(events, links.d)
    lows, highs = half_open(links)
    census = AudienceCount.of(links, network, len(at), seed, cycle)
    for batch in batches(len(at), len(lows)):
        census.add(batch, *match_boxes(lows, highs, at[batch]))
    return census.found


def half_open(peers: Links | Population) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The half-open boxes of all peers, in the form that `match_boxes` takes: lows and highs, (n, d)."""
    return peers.boxes[:, 0, : peers.d].copy(), peers.boxes[:, 1, : peers.d].copy()


def batches(events: int, peers: int, at_least: int = 1) -> list[NDArray[np.int64]]:
    """The numbers of all events, split into batches of bounded size."""
    count = max(-(-events * peers // _BATCH), min(at_least, events // FEWEST), 1)
    return np.array_split(np.arange(events), count)


class AudienceCount(NamedTuple):
    """Counts the matches of events, batch by batch; batches may come in any order."""

    found: Audience
    alive: NDArray[np.uint8]
    host: NDArray[np.int64]
    hosts: int
    key: np.uint64

    @classmethod
    def of(cls, links: Links, network: Network, events: int, seed: int, cycle: int) -> AudienceCount:
        """A census that has counted nothing yet."""
        hosts = hosts_of(links.host, network.alive)
        found = Audience(*(np.zeros(events, np.int64) for _ in range(3)))
        key = np.uint64(cycle_key(seed, STREAM, cycle))
        return cls(found, network.alive, hosts.of, max(hosts.start.size - 1, 0), key)

    def add(self, numbers: NDArray[np.int64], offsets: NDArray[np.int64], members: NDArray[np.int64]) -> None:
        """Count the members (`Members`) of the events with these numbers."""
        seen = np.full(self.hosts, -1, np.int64)
        _count(offsets, members, self.alive, self.host, seen, self.key, numbers, self.found)


@kernel
def _count(offsets, members, alive, host, seen, key, numbers, found):
    for k in range(offsets.shape[0] - 1):
        e = numbers[k]
        matches, applications = 0, 0
        for m in range(offsets[k], offsets[k + 1]):
            member = members[m]
            if alive[member] == 0:
                continue
            matches += 1
            if host.shape[0] == 0 or host[member] < 0:
                applications += 1
            elif seen[host[member]] != e:
                seen[host[member]] = e
                applications += 1
        found.matches[e], found.applications[e], found.entry[e] = matches, applications, -1
        if matches > 0:
            chosen = below(draw(peer_key(key, e), 0), matches)
            for m in range(offsets[k], offsets[k + 1]):
                chosen -= alive[members[m]]
                if chosen < 0:
                    found.entry[e] = members[m]
                    break
