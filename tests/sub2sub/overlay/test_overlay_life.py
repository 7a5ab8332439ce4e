"""A small overlay through joins, departures, crashes, recoveries, changed subscriptions, loss and partitions.

Whatever has happened, events published now reach only those who want them, spam comes only of changed
subscriptions, and the dead take no part; an event whose ring is complete reaches everybody unless messages
are lost. Left alone, in one piece, the overlay delivers everything again.
"""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.audience import audience
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import DisseminationSettings

FIRST, SPARE = 20, 40
QUIET = 80  # cycles after which a healed overlay has settled

numbers = st.integers(0, 2**32)


class Life(RuleBasedStateMachine):
    @initialize(seed=numbers, d=st.integers(1, 6))
    def start(self, seed: int, d: int) -> None:
        self.rng, self.d, self.cycle = np.random.default_rng(seed), d, 0
        low, high = self.subscriptions(FIRST)
        self.overlay = Overlay(Population.of(low, high, spare=SPARE, seed=seed), seed=seed)
        self.overlay.bootstrap()

    def subscriptions(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Ranges on a grid, exact values and wildcards among them."""
        low, high = np.sort(self.rng.integers(0, 5, (2, count, self.d)), axis=0)
        open_ = self.rng.random((count, self.d)) < 1 - 1 / self.d
        return np.where(open_, 0, low), np.where(open_, 4, high)

    @property
    def alive(self) -> np.ndarray:
        return np.flatnonzero(self.overlay.network.alive)

    @property
    def dormant(self) -> np.ndarray:
        return np.flatnonzero(self.overlay.population.dormant)

    def pick(self, among: np.ndarray) -> int:
        return int(self.rng.choice(among))

    def enter(self, host: int) -> None:
        """A newcomer on a host, with a subscription of its own, through a live contact."""
        newcomer, contact = self.dormant[:1], self.pick(self.alive)
        self.overlay.population.activate(newcomer, *self.subscriptions(1), [host])
        self.overlay.admit(newcomer, np.array([contact]), self.cycle)
        self.overlay.network.group[newcomer] = self.overlay.network.group[contact]

    def events(self, count: int) -> np.ndarray:
        return self.rng.integers(0, 5, (count, self.d)).astype(float)

    def publish(self, events: np.ndarray, how: DisseminationSettings | None = None) -> Outcome:
        links, network = Links.of(self.overlay), self.overlay.network
        to = audience(links, network, events, cycle=self.cycle)
        return disseminate(links, network, events, to=to, settings=how, cycle=self.cycle)

    def complete_rings(self, events: np.ndarray) -> list[bool]:
        """Whether every live match of an event knows both of its neighbours on the ring, and no dead one."""
        people, alive = self.overlay.population, self.overlay.network.alive == 1
        lows, highs = people.ranges()
        holders, peers, _ = self.overlay.ring.links()
        views = {int(peer): set(peers[holders == peer].tolist()) for peer in self.alive}
        found = []
        for event in events:
            wanted = ((lows <= event) & (event <= highs)).all(axis=1)
            ring = np.flatnonzero(wanted & alive).tolist()
            dead = set(np.flatnonzero(wanted & ~alive).tolist())
            pairs = list(zip(ring, ring[1:] + ring[:1], strict=True)) if len(ring) > 1 else []
            found.append(
                all(b in views[a] and a in views[b] for a, b in pairs)
                and not any(dead & views[peer] for peer in ring)
            )
        return found

    @rule(cycles=st.integers(1, 8))
    def gossip(self, cycles: int) -> None:
        for _ in range(cycles):
            self.cycle += 1
            self.overlay.step(self.cycle)

    @precondition(lambda self: self.dormant.size > 0)
    @rule(several=st.integers(1, 3))
    def join(self, several: int) -> None:
        """A host joins with one subscription or several."""
        host = int(self.overlay.population.host.max()) + 1
        for _ in range(min(several, self.dormant.size)):
            self.enter(host)

    @precondition(lambda self: self.alive.size > 4)
    @rule(share=st.floats(0.0, 0.5))
    def crash(self, share: float) -> None:
        down = self.rng.permutation(self.alive)[: int(share * (self.alive.size - 2))]
        self.overlay.network.alive[down] = 0

    @precondition(lambda self: self.alive.size > 4)
    @rule()
    def leave(self) -> None:
        """A host with all of its peers, for good."""
        people = self.overlay.population
        gone = self.alive[people.host[self.alive] == people.host[self.pick(self.alive)]]
        if gone.size < self.alive.size - 1:
            self.overlay.network.alive[gone] = 0
            people.retire(gone)

    @rule()
    def recover(self) -> None:
        """All peers that are down recover with their links; their hosts may have other peers by now."""
        self.overlay.network.alive[self.overlay.population.present] = 1

    @precondition(lambda self: self.alive.size > 2 and self.dormant.size > 0)
    @rule()
    def change(self) -> None:
        old = self.pick(self.alive)
        self.overlay.network.alive[old] = 0
        self.enter(int(self.overlay.population.host[old]))
        self.overlay.population.retire(np.array([old]))

    @rule(loss=st.sampled_from([0.0, 0.1, 0.3]))
    def lose(self, loss: float) -> None:
        self.overlay.network.loss = loss

    @rule(groups=st.integers(1, 3))
    def divide(self, groups: int) -> None:
        """Partition hosts into groups; one group ends the partition."""
        hosts = self.overlay.population.host
        self.overlay.network.group[:] = (hosts * 7 % 11) % groups

    @rule(shortcuts=st.integers(0, 2), retries=st.integers(0, 3))
    def publish_anything(self, shortcuts: int, retries: int) -> None:
        events = self.events(12)
        settings = DisseminationSettings(shortcuts=shortcuts, retries=retries)
        outcome = self.publish(events, settings)
        network = self.overlay.network
        dead = network.alive == 0
        if network.loss == 0.0 and not network.group.any():
            assert (outcome.complete >= self.complete_rings(events)).all()
        assert not (outcome.taken + outcome.received + outcome.forwarded)[dead].any()
        assert (outcome.reached <= outcome.matches).all()
        assert (outcome.delivered <= outcome.applications).all()
        assert self.several_on_a_host() or not outcome.spam.any()
        assert outcome.sent.size <= 2 * settings.tries * (1 + retries) + shortcuts + 1
        arrived = outcome.reached - (outcome.reached > 0) + outcome.duplicates + outcome.spam
        assert (outcome.messages + outcome.local == arrived + outcome.failed).all()

    def several_on_a_host(self) -> bool:
        """Whether some host is up and a peer of it is gone: only then can a message arrive as spam."""
        people, alive = self.overlay.population, self.overlay.network.alive == 1
        gone = people.host[~people.dormant & ~alive]
        return bool(np.isin(gone, people.host[alive]).any())

    @rule()
    def look_for_somebody(self) -> None:
        links, network = Links.of(self.overlay), self.overlay.network
        events = self.events(12)
        walks = find_entry(links, network, events, cycle=self.cycle)
        assert network.alive[walks.entry[walks.found]].all()
        assert (audience(links, network, events).matches[walks.found] > 0).all()

    def teardown(self) -> None:
        """Without partition and further faults, all events are delivered again, without spam."""
        if not hasattr(self, "overlay") or not self.in_one_piece():
            return
        self.overlay.network.loss, self.overlay.network.group[:] = 0.0, 0
        self.gossip(QUIET)
        events = self.events(60)
        outcome = self.publish(events)
        assert all(self.complete_rings(events))
        assert outcome.complete.all()
        assert not outcome.spam.any()

    def in_one_piece(self) -> bool:
        """Whether the live peers are connected by links, both ways, however old."""
        label = np.arange(len(self.overlay.population))
        alive = self.overlay.network.alive == 1
        pairs = [layer.links()[:2] for layer in self.overlay.layers]
        a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
        a, b = a[alive[a] & alive[b]], b[alive[a] & alive[b]]
        for _ in range(label.size):
            low = np.minimum(label[a], label[b])
            np.minimum.at(label, a, low)
            np.minimum.at(label, b, low)
        return np.unique(label[alive]).size <= 1


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
