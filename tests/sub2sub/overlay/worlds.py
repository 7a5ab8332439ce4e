"""Small overlays with arbitrary views and faults, for kernels and as readable peers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import empty_views
from sub2sub.compiled.vicinity.proximity import packed_boxes
from tests.sub2sub.events.engine import Peer
from tests.sub2sub.geometry import naive


@dataclass
class World:
    d: int
    peers: list[Peer]
    network: Network
    events: NDArray[np.float64]

    def links(self) -> Links:
        n = len(self.peers)
        ends = np.array([peer.box for peer in self.peers], float).reshape(n, self.d, 2)
        views = []
        for name in ("near", "random"):
            view, size = empty_views(n, 8), np.zeros(n, np.int8)
            for peer in self.peers:
                row = getattr(peer, name)
                view[peer.number, : len(row)], size[peer.number] = row, len(row)
            views += [view, size]
        sizes = np.array([len(peer.ring) for peer in self.peers], np.int32)
        # Views are anywhere in the pool, not one after the other.
        starts = np.zeros(n, np.int64)
        starts[::-1] = np.cumsum(sizes[::-1] + 3) - sizes[::-1]
        pool = np.full(int(sizes.sum()) + 3 * n + 1, -7, np.int32)
        for peer in self.peers:
            pool[starts[peer.number] : starts[peer.number] + len(peer.ring)] = peer.ring
        hosts = np.array([peer.host for peer in self.peers], np.int64)
        return Links(self.d, packed_boxes(ends[:, :, 0], ends[:, :, 1]), hosts, *views, starts, sizes, pool)

    def live_matches(self, event: int) -> list[int]:
        point = self.events[event].tolist()
        return [
            peer.number
            for peer in self.peers
            if self.network.alive[peer.number] and naive.contains_point(peer.box, point)
        ]

    def fill_rings(self) -> None:
        """Give every peer ring links to all peers that it overlaps, so that all rings are complete."""
        n = len(self.peers)
        for peer in self.peers:
            others = [self.peers[(peer.number + way) % n] for way in range(1, n)]
            peer.ring = [other.number for other in others if naive.overlap(peer.box, other.box)]


@st.composite
def worlds(draw: st.DrawFn, most: int = 10, faults: bool = True, shared_hosts: bool = True) -> World:
    """Boxes on a small grid, so that they touch, nest and repeat; views with arbitrary peers.

    An event matches about half of the peers, whatever the number of attributes.
    """
    n, d = draw(st.sampled_from([1, 2, 3, *range(4, most + 1)])), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    low, high = rng.integers(0, 4, (n, d)), rng.integers(4, 8, (n, d))
    open_ = rng.random((n, d)) < 1 - 1 / d
    low[open_], high[open_] = 0, 8
    hosts = rng.integers(-1, max(n // 2, 1), n) if shared_hosts and draw(st.booleans()) else np.arange(n)
    peers = []
    for number in range(n):
        box = [(float(a), float(b)) for a, b in zip(low[number], high[number], strict=True)]
        others = [other for other in range(n) if other != number]
        views = [rng.permutation(others)[: rng.integers(0, 8)].tolist() for _ in range(3)]
        ring = sorted(views[2], key=lambda other: (other - number) % n)
        peers.append(Peer(number, box, int(hosts[number]), views[0], views[1], ring))
    network = Network.whole(n)
    if faults:
        network.alive[:] = rng.random(n) < draw(st.sampled_from([1.0, 0.8, 0.5]))
        network.group[:] = rng.integers(0, draw(st.sampled_from([1, 1, 2])), n)
        network.loss = draw(st.sampled_from([0.0, 0.0, 0.3]))
    events = rng.integers(1, 7, (draw(st.integers(1, 6)), d)).astype(float)
    return World(d, peers, network, events)
