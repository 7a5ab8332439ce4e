"""Rivals against the numbers of their own papers and specifications (docs/compare.md: which have any)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sims.rivals.base.objects import ObjectLayer
from sims.rivals.below.hyparview import HyParViewPeer, HyParViewSettings
from sims.rivals.below.pastry import PastryPeer, PastrySettings
from sims.rivals.others.broker import Broker, BrokerSettings, Subscribe
from sims.rivals.others.gossipsub import GossipSubPeer, GossipSubSettings, Graft, MeshPush, Prune
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.timing.settings import Timing
from sub2sub.peers.draws import Dice


def settled_node(own: int, ids: np.ndarray, numbers: list[int], rng: np.random.Generator) -> PastryPeer:
    """A node with complete leaves and a random node in each place of its table."""
    peer = PastryPeer(own, numbers, PastrySettings())
    for step in range(-8, 9):
        peer.learn((own + step) % len(numbers))
    for row in range(6):
        width = 1 << (60 - 4 * row)
        for digit in range(16):
            low = ((numbers[own] >> (64 - 4 * row) << 4) + digit) * width
            first = np.searchsorted(ids, np.uint64(low))
            last = np.searchsorted(ids, np.uint64(low + width - 1), side="right")
            if last > first:
                peer.learn(int(rng.integers(first, last)))
    return peer


def test_pastry_takes_as_many_hops_among_100_000_nodes_as_in_its_paper() -> None:
    """Rowstron and Druschel, Middleware 2001, Figure 5: b = 4, 16 leaves, random keys."""
    printed = {1: 0.0006, 2: 0.0156, 3: 0.1643, 4: 0.6449, 5: 0.1745}
    rng = np.random.default_rng(1)
    ids = np.sort(rng.integers(0, 2**64, 100_000, np.uint64, endpoint=False))
    numbers, hops, routes = ids.tolist(), Counter[int](), 500
    for _ in range(routes):
        node, key, far = int(rng.integers(len(ids))), int(rng.integers(0, 2**64, dtype=np.uint64)), 0
        while (following := settled_node(node, ids, numbers, rng).next_hop(key)) != node:
            node, far = following, far + 1
        hops[far] += 1
    for far, share in printed.items():
        assert hops[far] / routes == pytest.approx(
            share, abs=3 * np.sqrt(share * (1 - share) / routes) + 0.01
        )


def test_hyparview_has_the_path_lengths_of_its_paper_and_no_more_clustering() -> None:
    """Leitão, Pereira, Rodrigues, DSN 2007, Table 1: 6.386 hops and .00092 among 10,000 nodes.

    They join one by one through one contact. Where every node has five random links, paths grow by one hop
    for four times as many nodes, and clustering is inversely proportional to their number.
    """
    n, network = 1000, Network.whole(1000)
    layer = ObjectLayer("hyparview", n, lambda peer: HyParViewPeer(peer, HyParViewSettings()), 3, seed=1)
    layer.transport.open(network, Dice(1))
    for newcomer in range(1, n):
        layer.peers[newcomer].introduce(0)
        sends = layer.peers[newcomer].turn(0, layer.transport.dice[newcomer])
        layer.transport.carry(layer.peers, newcomer, sends)
    for cycle in range(1, 21):
        layer.step(cycle, network)
    links = [set(peer.active) for peer in layer.peers]
    lengths = []
    for source in range(0, n, 40):
        distance, level = {source: 0}, [source]
        while level:
            level = list({other for node in level for other in links[node]} - distance.keys())
            distance |= dict.fromkeys(level, max(distance.values()) + 1)
        assert len(distance) == n
        lengths += [far for far in distance.values() if far]
    assert np.mean(lengths) == pytest.approx(6.386 - np.log(10_000 / n) / np.log(4), rel=0.02)
    pairs = sum(len(near) * (len(near) - 1) for near in links)
    closed = sum(len(links[other] & near) for near in links for other in near)
    assert closed / pairs <= 0.00092 * 10_000 / n


def test_gossipsub_has_the_defaults_of_its_specification() -> None:
    """libp2p, pubsub/gossipsub: v1.0 "Parameters", v1.1 "Outbound mesh quotas".

    D_lo is 5 as in go-libp2p and rust-libp2p, where the specification has 4.
    """
    mesh, push = GossipSubSettings(), MeshPush()
    assert (mesh.D, mesh.D_hi, mesh.D_out) == (6, 12, 2)
    assert (push.D_lazy, push.mcache_gossip) == (6, 3)
    assert push.heartbeat * Timing().tick == 1000.0
    assert mesh.D_out < mesh.D_lo
    assert mesh.D_out <= mesh.D / 2


@pytest.mark.parametrize(
    ("links", "kind", "count"), [(4, Graft, 2), (5, None, 0), (12, None, 0), (13, Prune, 7)]
)
def test_a_gossipsub_heartbeat_keeps_the_mesh_as_its_specification_says(
    links: int, kind: type | None, count: int
) -> None:
    """v1.0, "Mesh maintenance": below D_low graft to D, above D_high prune to D."""
    peer = GossipSubPeer(100, GossipSubSettings(keepalive=10_000))
    peer.connected, peer.mesh = list(range(20)), list(range(links))
    peer.outbound = [0, 1]
    sent = [type(message) for _, message in peer.turn(1, Dice(1)) if isinstance(message, Graft | Prune)]
    assert sent == [kind] * count
    assert len(peer.mesh) == (6 if kind else links)


def test_a_broker_drops_a_client_after_one_and_a_half_keep_alive_intervals() -> None:
    """OASIS, MQTT 5.0, Section 3.1.2.10 [MQTT-3.1.2-22]."""
    broker = Broker(BrokerSettings(keepalive=6))
    broker.turn(1, Dice(1))
    broker.receive(7, Subscribe(1), Dice(1))
    known = []
    for cycle in range(2, 14):
        broker.turn(cycle, Dice(1))
        known.append(7 in broker.heard)
    assert known == [cycle <= 1 + 9 for cycle in range(2, 14)]
