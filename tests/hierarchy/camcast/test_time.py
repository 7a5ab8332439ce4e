"""CAMCAST in milliseconds: the kernel follows a driver that delivers every message when it is due."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters
from hierarchy.compiled.camcast.dissemination import ARRIVED, STREAM, choose_targets, choose_upward
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draw, peer_key, unit
from sub2sub.compiled.timing.latency import Clock, travel
from sub2sub.compiled.timing.settings import Timing
from sub2sub.peers.draws import cycle_key

GROUP = Communities.chain(5, 20, 60)
CHOSEN = TopicSettings(c=1, g=4)
TIMINGS = [
    Timing(bandwidth=0.5),
    Timing(latency="sphere"),
    Timing(latency="constant", jitter=0.0, bandwidth=0),
]


class Driven:
    """One event; every copy is on its way until it arrives, and whoever gets its first one forwards it."""

    def __init__(self, tables, network: Network, key: np.uint64) -> None:
        self.tables, self.network, self.key = tables, network, key
        self.chosen = parameters(GROUP.sizes, CHOSEN)
        self.clock = Clock.of(network.timing, np.arange(len(GROUP)))
        self.when, self.hop = {}, {}
        self.copies, self.free = np.zeros(len(GROUP), int), np.zeros(len(GROUP))
        self.due: list[tuple[float, int, int, int]] = []

    def publish(self, publisher: int) -> None:
        heapq.heappush(self.due, (0.0, 0, publisher, 0))
        while self.due:
            when, _, member, hop = heapq.heappop(self.due)
            if member not in self.when:
                self.when[member], self.hop[member] = when, hop
                self.forward(member)

    def forward(self, member: int) -> None:
        topic, key = GROUP.topic[member], np.uint64(peer_key(self.key, member))
        fanout, p_sel, p_a = (column[topic] for column in self.chosen)
        upward, targets = np.empty((50, 2), np.int64), np.empty(50, np.int32)
        count, k = choose_upward(self.tables.super_table[member], p_sel, p_a, key, upward)
        for target, fate in upward[:count].tolist():
            self.send(member, target, key, fate)
        count, k = choose_targets(self.tables.topic_table[member], fanout, key, k, targets)
        for place, target in enumerate(targets[:count].tolist()):
            self.send(member, target, key, k + place)

    def send(self, member: int, target: int, key: np.uint64, fate: int) -> None:
        self.free[member] = max(self.free[member], self.when[member]) + self.clock.occupied
        if unit(np.uint64(draw(key, fate))) >= 1.0 - self.network.loss or not self.network.alive[target]:
            return
        self.copies[target] += 1
        arrives = self.free[member] + travel(self.clock, member, target, 0, key)
        heapq.heappush(self.due, (arrives, int(self.copies.sum()), target, self.hop[member] + 1))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.2]), st.integers(0, 20), st.sampled_from(TIMINGS))
def test_the_kernel_is_driven_by_time(seed: int, loss: float, down: int, timing: Timing) -> None:
    tables = StaticTables(GROUP, CHOSEN).draw(seed=seed)
    network = Network.whole(len(GROUP))
    network.loss, network.timing = loss, timing
    network.alive[:down] = 0
    found = disseminate(tables, parameters(GROUP.sizes, CHOSEN), 84, seed=seed, event=2, network=network)
    driven = Driven(tables, network, cycle_key(seed, STREAM, 2))
    driven.publish(84)
    reached = np.flatnonzero(found.trace.reached).tolist()
    assert reached == sorted(driven.when)
    assert found.trace.when[reached].tolist() == [driven.when[member] for member in reached]
    assert found.trace.first[reached].tolist() == [driven.hop[member] for member in reached]
    assert found.counts[:, ARRIVED].tolist() == driven.copies.tolist()


def test_equal_latencies_are_hops() -> None:
    tables, chosen = StaticTables(GROUP, CHOSEN).draw(seed=3), parameters(GROUP.sizes, CHOSEN)
    hops = disseminate(tables, chosen, 84, seed=3)
    network = Network.whole(len(GROUP))
    network.timing = Timing(latency="constant", ms=25.0, jitter=0.0, bandwidth=0)
    timed = disseminate(tables, chosen, 84, seed=3, network=network)
    assert np.array_equal(hops.trace.first, timed.trace.first)
    assert np.array_equal(hops.counts, timed.counts)
    there = hops.trace.reached
    assert np.array_equal(timed.trace.when[there], 25.0 * hops.trace.first[there])
