"""Push, announcement and request: the kernel takes the decisions of the readable member, draw for draw."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sims.rivals.base.push_tables import PushRules, PushTables, Starts, Way, rows
from sims.rivals.base.pushing import ANNOUNCE, NEXT, PUSH, REFUSE, PushContext, push_event, scratch_for
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.timing.latency import Clock, next_beat, travel
from sub2sub.compiled.timing.settings import Timing
from sub2sub.peers.draws import Dice
from tests.acknowledged import copies
from tests.sims.rivals.push_peer import PushPeer

STARTS, SOON, TIMERS, AGAIN, BEATS = range(5)
TIMINGS = [
    None,
    Timing(latency="constant", ms=7.0, jitter=0.0, bandwidth=0.0, tick=7.0),
    Timing(latency="log-normal", bandwidth=0.5),
]


class Followed:
    """One event among readable members, every message in the order in which it is due.

    Members know nothing of time: what travels, and when timers end, is up to this driver. Those of one host
    are at the same place, and share its uplink.
    """

    def __init__(
        self, tables: PushTables, rules: PushRules, network: Network, key: int, places: np.ndarray
    ) -> None:
        self.clock, self.places = Clock.of(network.timing, places), places.tolist()
        self.free = dict.fromkeys(self.places, 0.0)
        kinds = [
            [row.item[row.start[i] : row.start[i + 1]].tolist() for row in tables]
            for i in range(len(tables.eager.start) - 1)
        ]
        dice = [Dice(key).of_peer(i) for i in range(len(kinds))]
        self.members = [PushPeer(*links, rules, own) for links, own in zip(kinds, dice, strict=True)]
        self.rules, self.network, self.control, self.order = rules, network, 0, 0
        self.first, self.when = [-1] * len(kinds), [np.inf] * len(kinds)
        self.sent, self.arrived = [0] * len(kinds), [0] * len(kinds)
        self.due: list[tuple[float, int, int, int, int, int]] = []

    def put(self, time: float, queue: int, what: int, sender: int, member: int) -> None:
        self.order += 1
        heapq.heappush(self.due, (time, queue, self.order, what, sender, member))

    def leaves(self, member: int, what: int, now: float) -> float:
        if not self.clock.timed or what != PUSH:
            return now
        place = self.places[member]
        self.free[place] = max(now, self.free[place]) + self.clock.occupied
        return self.free[place]

    def send(self, sends, member: int, now: float) -> None:
        for what, target in sends:
            leaves = self.leaves(member, what, now)
            dice, there = self.members[member].dice, bool(self.network.alive[target])
            retries = self.rules.retries if what == PUSH else 0
            arrived = copies(dice, dice.used, self.network.loss, there, retries)
            dice.used += 1
            if what == PUSH:
                self.sent[member] += len(arrived)
                self.arrived[target] += sum(arrived)
            else:
                self.control += len(arrived)
            if True in arrived:
                took = travel(self.clock, member, target, arrived.index(True), np.uint64(dice.key))
                self.put(leaves + took, SOON, what, member, target)

    def take(self, member: int, sender: int, now: float, hop: int) -> None:
        peer = self.members[member]
        if not peer.has:
            self.first[member], self.when[member] = hop if self.clock.timed else int(now), now
            peer.one_by_one = self.rules.refuses and self.clock.timed
            self.send(peer.receive(sender, hop == 0), member, now)
            self.push_later(member, now)
            if peer.beats:
                self.put(next_beat(self.clock, member, now, self.rules.period), BEATS, 0, -1, member)

    def push_later(self, member: int, now: float) -> None:
        if self.members[member].left:
            self.put(max(now, self.free[self.places[member]]), SOON, NEXT, -1, member)

    def follow(self, starts: list[tuple[int, int, float]]) -> None:
        tick = self.clock.tick
        for member, hop, when in starts:
            self.put(when, STARTS, hop, -1, member)
            self.arrived[member] += hop > 0
        while self.due:
            now, queue, _, what, sender, member = heapq.heappop(self.due)
            peer = self.members[member]
            if queue == STARTS:
                self.take(member, -1, now, what)
            elif queue == BEATS:
                self.send(peer.beat(), member, now)
                if peer.beats:
                    self.put(now + self.rules.period * tick, BEATS, 0, -1, member)
            elif queue in (TIMERS, AGAIN):
                self.send(peer.wake(), member, now)
                if peer.waiting:
                    self.put(now + 3 * tick, AGAIN, 0, -1, member)
            elif what == PUSH:
                self.take(member, sender, now, self.first[sender] + 1)
            elif what == REFUSE:
                peer.refusing.add(sender)
            elif what == NEXT:
                self.send(peer.push_on(), member, now)
                self.push_later(member, now)
            elif what == ANNOUNCE:
                if peer.hear(sender):
                    self.put(now + self.rules.wait * tick, TIMERS, 0, -1, member)
            else:
                self.send(peer.answer(sender), member, now)


def random_tables(rng: np.random.Generator, n: int) -> PushTables:
    def links(most: int) -> list[list[int]]:
        sizes = rng.integers(0, most + 1, n)
        return [
            rng.choice(np.delete(np.arange(n), i), k, replace=False).tolist() for i, k in enumerate(sizes)
        ]

    eager, pool, lazy = links(3), links(5), links(6)
    apart = [[peer for peer in lazy[i] if peer not in eager[i]] for i in range(n)]
    return PushTables(rows(eager), rows(pool), rows(apart))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000), n=st.integers(8, 30), fanout=st.integers(0, 3), announce=st.integers(-1, 4),
    period=st.sampled_from([0, 1, 4]), windows=st.integers(0, 3), wait=st.integers(0, 5),
    retries=st.integers(0, 2), loss=st.sampled_from([0.0, 0.2, 0.6]), down=st.integers(0, 4),
    timing=st.sampled_from(TIMINGS), floods=st.booleans(), refuses=st.booleans(),
)  # fmt: skip
def test_the_kernel_follows_the_readable_member(
    seed: int, n: int, fanout: int, announce: int, period: int, windows: int, wait: int, retries: int,
    loss: float, down: int, timing: Timing | None, floods: bool, refuses: bool,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    tables = random_tables(rng, n)
    fanout = 0 if refuses else fanout
    rules = PushRules(fanout, announce, period, windows, wait, retries, floods, refuses)
    network = Network.whole(n)
    network.loss, network.timing = loss, timing
    network.alive[1 : 1 + down] = 0
    hops = rng.integers(1, 6, 3).tolist()
    others = [(member, hop, float(hop)) for member, hop in zip(range(5, 8), hops, strict=True)]
    starts = Starts.of([0], [Way(others, [0, 0, 7])])
    context = PushContext(tables, rules, network.faults(), Clock.of(timing, np.arange(n)))
    scratch = scratch_for(context, 4)
    push_event(context, starts, 0, np.uint64(seed + 1), scratch)
    followed = Followed(tables, rules, network, seed + 1, np.arange(n))
    for payer in (0, 0, 7):
        followed.sent[payer] += 1
    followed.follow([(0, 0, 0.0), *sorted(others, key=lambda start: start[2])])
    assert scratch.first.tolist() == followed.first
    assert scratch.when.tolist() == followed.when
    assert scratch.sent.tolist() == followed.sent
    assert scratch.arrived.tolist() == followed.arrived
    assert scratch.control[0] == followed.control


@pytest.mark.parametrize("wait", [0, 3])
def test_what_was_announced_and_lost_is_asked_for_after_the_wait(wait: int) -> None:
    tables = PushTables(rows([[], [], []]), rows([[], [], []]), rows([[1, 2], [0, 2], [0, 1]]))
    context = PushContext(
        tables, PushRules(wait=wait), Network.whole(3).faults(), Clock.of(None, np.arange(3))
    )
    scratch = scratch_for(context, 1)
    push_event(context, Starts.of([0]), 0, np.uint64(1), scratch)
    # announced at hop 1, asked for after the wait, there two hops later
    assert scratch.first.tolist() == [0, 3 + wait, 3 + wait]
    assert scratch.sent.tolist() == [2, 0, 0]
    assert scratch.control[0] == 2 + 2 + 2  # announcements of 0, requests, announcements to one another
