"""The readable routing of one peer and the kernels send the same messages with the same draws."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.compiled.shared.routing import route_events
from hierarchy.peers.router import OFFSET, STREAM, forward, points_between, range_neighbours
from hierarchy.peers.settings import CamcastRoute, TableSettings
from hierarchy.peers.tables import TablePeer
from hierarchy.shared import SharedOverlay
from sub2sub.compiled.timing.settings import Timing
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.draws import Dice
from sub2sub.peers.forwarding import PeerLinks
from sub2sub.peers.settings import DisseminationSettings
from tests.hierarchy.shared.driver import entries_of
from tests.hierarchy.shared.mixed import chain_overlay
from tests.hierarchy.shared.test_routing import overlay_of
from tests.sub2sub.events.engine import Dissemination, Peer

routes = st.builds(
    CamcastRoute,
    c=st.floats(0, 4),
    g=st.sampled_from([1, 3, 7.4, 40]),
    a=st.sampled_from([1, 1.5, 3]),
    coins=st.booleans(),
    rings=st.builds(
        DisseminationSettings,
        shortcuts=st.integers(0, 2),
        max_age=st.just(0),
        tries=st.sampled_from([1, 3]),
        retries=st.sampled_from([0, 2]),
    ),
)


class Routing(Dissemination):
    """Peers forward by `hierarchy.peers.router.forward`."""

    def __init__(self, overlay: SharedOverlay, route: CamcastRoute, cycle: int) -> None:
        people = overlay.population
        boxes = people.boxes[:, :, : people.d].transpose(0, 2, 1).tolist()
        peers = [Peer(k, [tuple(side) for side in box], int(people.host[k])) for k, box in enumerate(boxes)]
        for kind, layer in (("near", "vicinity"), ("random", "cyclon"), ("ring", "ring")):
            for holder, other, _ in zip(
                *(side.tolist() for side in overlay.kinds[layer].links()), strict=True
            ):
                getattr(peers[holder], kind).append(other)
        super().__init__(peers, overlay.network, route.rings, overlay.seed, cycle)
        self.overlay, self.route, self.dice = overlay, route, Dice.of(overlay.seed, STREAM, cycle)
        self.numbers = {id: k for k, id in enumerate(people.ids.tolist())}
        self.people = [
            Descriptor.half_open(id, tuple(low), tuple(end))
            for id, (low, end) in zip(self.numbers, people.boxes[:, :, : people.d].tolist(), strict=True)
        ]

    def is_topical(self, peer: Descriptor) -> bool:
        return bool(self.overlay.topical[self.numbers[peer.id]])

    def forward(self, peer: Peer, came_from: int | None) -> None:
        dice, self.departed = self.dice_of_event.of_peer(peer.number), {}
        tables = TablePeer(self.people[peer.number], self.overlay.settings.tables, topical=self.is_topical)
        for name in ("equals", "above"):
            row = entries_of(getattr(self.overlay.tables, name)[peer.number])
            setattr(tables, name, [Link(self.people[j], stamp) for j, stamp in row])
        views = PeerLinks(*([self.people[j] for j in view] for view in (peer.near, peer.random, peer.ring)))

        def send(to: Descriptor, waited: int | None) -> bool | None:
            acknowledged = waited is not None and self.settings.acknowledged
            return self.send(peer, self.numbers[to.id], dice, acknowledged, waited or 0)

        sender = None if came_from is None else self.people[came_from]
        offset = self.dice_of_event.bits(OFFSET)
        forward(tables, views, self.point, sender, self.route, dice, offset, send)


def grouped(overlay: SharedOverlay, hosts: int) -> None:
    """Put several peers on some of the hosts."""
    overlay.population.host[:] = np.arange(len(overlay.population)) % hosts


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 120), st.integers(0, 2**32), routes, st.booleans(), st.sampled_from([0.0, 0.3]),
    st.sampled_from([None, Timing(bandwidth=0.5), Timing(latency="uniform", jitter=0.0)]),
    st.booleans(),
)  # fmt: skip
def test_the_kernels_route_as_the_readable_peers_do(n, seed, route, ranges, loss, timing, shared) -> None:
    overlay, _, events, publishers = overlay_of(n, seed, ranges=ranges, cycles=8)
    if not len(events):
        return
    if shared:
        grouped(overlay, max(n // 2, 1))
    overlay.network.alive[::7] = 0
    overlay.network.alive[publishers] = 1
    overlay.network.loss, overlay.network.timing = loss, timing
    outcome = route_events(overlay, events, publishers, route, cycle=3, record=True)
    engine, sent = Routing(overlay, route, cycle=3), Counter[int]()
    for e, publisher in enumerate(publishers.tolist()):
        report = engine.publish(e, tuple(events[e]), publisher)
        assert outcome.receptions is not None
        peers, hops = (side.tolist() for side in outcome.receptions.of(e))
        assert dict(zip(peers, hops, strict=True)) == report.hop_of
        assert outcome.delivered[e] == len(report.applications)
        for name in ("messages", "local", "duplicates", "spam", "failed", "acks"):
            assert getattr(outcome, name)[e] == report.counts[name]
        sent.update(report.forwarded)
        if timing is not None:
            own = slice(*outcome.receptions.offsets[e : e + 2])
            assert outcome.receptions.ms[own].tolist() == [float(np.float32(report.when[p])) for p in peers]
    assert outcome.forwarded.tolist() == [sent[peer] for peer in range(n)]


@pytest.mark.parametrize(
    ("topical", "found"),
    [([0, 0, 0, 0], [2, 3]), ([0, 1, 0, 0], []), ([0, 0, 1, 0], [2]), ([1, 0, 0, 1], [2, 3])],
)
def test_aside_is_whoever_wants_an_event_before_the_next_member_of_a_topic(topical, found) -> None:
    ranges = {1: (5.0, 9.0), 2: (0.0, 9.0), 3: (0.0, 9.0), 4: (5.0, 9.0)}
    ring = [Descriptor.half_open(id, (low,), (end,)) for id, (low, end) in ranges.items()]
    tables = TablePeer(ring[0], TableSettings(), topical=lambda peer: bool(topical[peer.id - 1]))
    assert [peer.id for peer in range_neighbours(ring, (0.5,), tables)] == found


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20, unique=True),
    st.integers(0, 2**64 - 1),
    st.integers(1, 60),
)
def test_each_point_is_before_exactly_one_member_wherever_members_are(ids, offset, g) -> None:
    ids = sorted(ids)
    arcs = zip(ids, ids[1:] + ids[:1], strict=True)
    assert sum(points_between(start, end, offset, g) for start, end in arcs) == g


def test_an_event_climbs_through_twelve_levels_even_if_nobody_draws_a_coin() -> None:
    """By the paper's coins an event stops in a share of all cases; by points it cannot."""
    overlay, events, publishers = chain_overlay(n=260, levels=12, seed=1)
    deepest = int(np.argmax(events[:, 0]))
    few = (
        np.repeat(events[deepest : deepest + 1], 200, axis=0),
        np.repeat(publishers[deepest : deepest + 1], 200),
    )
    assert overlay.spread(*few, CamcastRoute(g=1)).hit_ratio == 1.0
    assert overlay.spread(*few, CamcastRoute(g=1, coins=True)).hit_ratio < 0.9
