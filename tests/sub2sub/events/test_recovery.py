"""Recovery of missed events: kernels agree with `History`, and on complete rings all peers get all events."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.recovery import Recovery
from sub2sub.errors import InputError
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.draws import Dice
from sub2sub.peers.recovery import ROUNDS, STREAM, History
from sub2sub.peers.settings import DisseminationSettings, RecoverySettings
from tests.sub2sub.events.engine import Peer
from tests.sub2sub.overlay.engine import descriptors
from tests.sub2sub.overlay.worlds import World, worlds

some_settings = st.builds(
    RecoverySettings,
    history=st.integers(1, 3),
    tries=st.integers(1, 3),
    retries=st.integers(0, 3),
)


class Swarm:
    """Peers with a history each, and the network between them."""

    def __init__(self, world: World, how: RecoverySettings, seed: int) -> None:
        self.world, self.how, self.seed = world, how, seed
        self.described = descriptors([peer.box for peer in world.peers])
        self.histories = [History(how) for _ in world.peers]
        self.cost: Counter[str] = Counter()

    def ring(self, peer: int) -> list[Descriptor]:
        return [self.described[other] for other in self.world.peers[peer].ring]

    def accept(self, receptions: list[tuple[int, list[int]]], now: int) -> None:
        for name, peers in receptions:
            for peer in peers:
                self.histories[peer].add(name, tuple(self.world.events[name].tolist()), now)
            for peer in peers:
                for other in peers:
                    self.histories[peer].has_it(name, other, self.ring(peer))

    def answers(self, a: int, b: int, dice: Dice, k: int) -> bool:
        """As `sub2sub.compiled.common.network.answers`."""
        net, tries = self.world.network, self.how.tries
        if not (net.alive[b] and net.group[a] == net.group[b]):
            self.cost["messages"] += tries
            return False
        return self.sent(dice, 2 * k) and self.sent(dice, 2 * k + 1)

    def sent(self, dice: Dice, k: int) -> bool:
        """As `sub2sub.compiled.common.network.attempts`; whether it arrives."""
        for attempt in range(1, self.how.tries + 1):
            self.cost["messages"] += 1
            if not dice.chance(k, self.world.network.loss**attempt):
                return True
        return False

    def step(self, cycle: int) -> None:
        self.cost.clear()
        for history in self.histories:
            history.begin_cycle(cycle)
        alive = np.flatnonzero(self.world.network.alive).tolist()
        active = {peer: sorted(self.histories[peer].events) for peer in alive}
        for number in range(ROUNDS):
            new, again = self.round(active, Dice.of(self.seed, STREAM, cycle).of_peer(number))
            chosen = new | again if number < self.how.retries else new
            active = {peer: sorted(name for name, p in chosen if p == peer) for peer in alive}

    def round(
        self, active: dict[int, list[int]], dice: Dice
    ) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        new: set[tuple[int, int]] = set()
        told: list[tuple[int, int, list[int]]] = []
        again: set[tuple[int, int]] = set()
        for peer, names in active.items():
            for other, offered in sorted(self.histories[peer].digests(self.ring(peer), names).items()):
                told.append((peer, other, offered))
        asked: set[tuple[int, int]] = set()
        for peer, other, offered in told:
            of_pair = dice.of_peer(peer).of_peer(other)
            if not self.answers(peer, other, of_pair, 0):
                self.histories[peer].silent.add(other)
                again |= {(name, peer) for name in offered}
                continue
            for name in self.histories[other].lacks(offered):
                if (name, other) not in asked:
                    asked.add((name, other))
                    if self.sent(of_pair.of_peer(name), 0):
                        new.add((name, other))
        for name, peer in new:
            self.cost["recovered"] += 1
            since = next(h.events[name].since for h in self.histories if name in h.events)
            self.histories[peer].add(name, tuple(self.world.events[name].tolist()), since)
        for peer, other, offered in told:
            if other in self.histories[peer].silent:
                continue
            for name in offered:
                if name in self.histories[other].events:
                    self.histories[peer].has_it(name, other, self.ring(peer))
                    self.histories[other].has_it(name, peer, self.ring(other))
                else:
                    again.add((name, peer))
        return new, again

    def held(self) -> set[tuple[int, int]]:
        return {(name, peer) for peer, history in enumerate(self.histories) for name in history.events}


@settings(max_examples=120)
@given(worlds(most=12, shared_hosts=False), some_settings, st.integers(0, 1000))
def test_a_population_recovers_events_as_peers_do(world: World, how: RecoverySettings, seed: int) -> None:
    rng = np.random.default_rng(seed)
    recovery, swarm = Recovery(how, seed), Swarm(world, how, seed)
    for cycle in range(1, 5):
        links = world.links()
        if cycle == 1:
            outcome = disseminate(
                links, world.network, world.events, settings=DisseminationSettings(0, tries=1, retries=0),
                seed=seed, record=True,
            )  # fmt: skip
            recovery.publish(links, world.network, world.events, outcome, cycle)
            assert outcome.receptions is not None
            names = range(len(world.events))
            swarm.accept([(e, outcome.receptions.of(e)[0].tolist()) for e in names], cycle)
        else:
            cost = recovery.step(links, world.network, cycle)
            swarm.step(cycle)
            assert {name: cost[name] for name in ("messages", "recovered")} == {
                name: swarm.cost[name] for name in ("messages", "recovered")
            }
        held = {(int(row >> 32), int(row & 0xFFFFFFFF)) for row in recovery.rows}
        assert held == swarm.held()
        for row, known in zip(recovery.rows, recovery.known.tolist(), strict=True):
            expected = swarm.histories[row & 0xFFFFFFFF].events[row >> 32].known
            assert known == [-1 if id is None else id for id in expected]
        for peer in world.peers:  # rings change, a peer leaves, another joins
            others = [other.number for other in world.peers if other is not peer]
            some = rng.permutation(others)[: rng.integers(0, 8)].tolist()
            peer.ring = sorted(some, key=lambda other: (other - peer.number) % len(world.peers))
        world.network.alive[rng.integers(len(world.peers))] ^= 1


@given(worlds(most=14, faults=False), st.integers(0, 1000))
def test_everybody_gets_everything_once_neighbours_know_one_another(world: World, seed: int) -> None:
    """Within one cycle, and whatever the rings were when the events were published."""
    lost = replace(world.network, loss=0.6)
    once = DisseminationSettings.paper(shortcuts=0)
    outcome = disseminate(world.links(), lost, world.events, settings=once, seed=seed, record=True)
    recovery = Recovery(seed=seed)
    recovery.publish(world.links(), world.network, world.events, outcome, cycle=1)
    world.fill_rings()
    recovered = recovery.step(world.links(), world.network, cycle=2)["recovered"]
    for e in range(len(world.events)):
        matches = world.live_matches(e)
        assert recovery.has(np.full(len(matches), e), matches).all()
    assert recovered + outcome.reached.sum() == outcome.matches.sum()
    quiet = recovery.step(world.links(), world.network, cycle=3)
    assert quiet["messages"] == 0, "where nothing changes, nothing is sent"


def test_events_are_kept_for_as_long_as_the_history_is() -> None:
    world, recovery = two_peers(), Recovery(RecoverySettings(history=3))
    outcome = disseminate(world.links(), world.network, world.events, entry=[0], record=True)
    recovery.publish(world.links(), world.network, world.events, outcome, cycle=5)
    for cycle, kept in ((7, True), (8, True), (9, False)):
        recovery.step(world.links(), world.network, cycle)
        assert recovery.has([0], [0])[0] == kept


def test_one_who_leaves_for_good_takes_its_history_along() -> None:
    world, recovery = two_peers(), Recovery()
    outcome = disseminate(world.links(), world.network, world.events, entry=[0], record=True)
    recovery.publish(world.links(), world.network, world.events, outcome, cycle=1)
    recovery.forget([1])
    assert recovery.has([0, 0], [0, 1]).tolist() == [True, False]


def two_peers() -> World:
    box = [(0.0, 1.0)]
    peers = [Peer(0, box, 0, ring=[1]), Peer(1, box, 1, ring=[0])]
    return World(1, peers, Network.whole(2), np.array([[0.5]]))


def test_wrong_input_is_refused() -> None:
    world = two_peers()
    outcome = disseminate(world.links(), world.network, world.events)
    with pytest.raises(InputError, match="outcome: expected one of 1 events, spread with record=True"):
        Recovery().publish(world.links(), world.network, world.events, outcome, cycle=1)
    for name, least in (("history", 0), ("tries", 1), ("retries", 0)):
        with pytest.raises(InputError, match=f"recovery.{name}: expected {least} or more, got {least - 1}"):
            RecoverySettings(**{name: least - 1})
