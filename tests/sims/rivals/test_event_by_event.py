"""Systems in time against a driver that delivers every message when it is due, readable and in pure Python.

The driver knows uplinks and a heap of copies on their way. Whom a member sends an event to comes from the
readable rules of each protocol; systems are asked for who received which event when.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from sims.rivals import System
from sims.rivals.base.accounts import ENTERING, RouteSender, keys_of
from sims.rivals.base.catalogue import entrant
from sims.rivals.base.push_tables import PushRules
from sims.rivals.below.zones import Zone
from sims.rivals.others.scribe import Trees
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import Clock, travel
from sub2sub.compiled.timing.settings import AGAIN, Timing
from sub2sub.peers.draws import Dice
from tests.acknowledged import copies
from tests.sims.compare.worlds import small
from tests.sims.rivals.test_pushing import Followed

SALT = 5
TIMINGS = [
    Timing(bandwidth=0.5),
    Timing(latency="sphere", bandwidth=2.0),
    Timing(latency="uniform", jitter=0.0),
]


def settings_of(system: System, knob: int) -> Any:
    return entrant(system.name).at(system.knobs[knob])


Sends = Iterator[tuple[int, Dice]]  # a target, and the draws that decide what becomes of the copies to it


class Journey:
    """One event. Who gets its first copy forwards it, a copy again where it is lost, after a silence.

    Attributes
    ----------
    when, hop, sent : dict
        Of each member that has it: the time, the hops of the first copy's way, the copies it sent.
    """

    def __init__(self, system: System, places: np.ndarray, retries: int) -> None:
        self.network, self.retries = system.network, retries
        self.clock = Clock.of(system.network.timing, places)
        self.places, self.free = places.tolist(), dict.fromkeys(places.tolist(), 0.0)
        self.when: dict[int, float] = {}
        self.hop: dict[int, int] = {}
        self.sent: dict[int, int] = {}
        self.due: list[tuple[float, int, int, int]] = []
        self.used: dict[int, int] = {}
        self.copies = 0

    def follow(self, start: tuple[int, int, float], forward: Callable[[int], Sends]) -> None:
        member, hop, now = start
        heapq.heappush(self.due, (now, 0, member, hop))
        forwarded = set[int]()
        while self.due:
            now, _, member, hop = heapq.heappop(self.due)
            if member in forwarded:
                continue
            forwarded.add(member)
            self.when.setdefault(member, now)
            self.hop.setdefault(member, hop)
            for target, dice in forward(member):
                self.send(member, target, dice, now, hop)

    def send(self, member: int, target: int, dice: Dice, now: float, hop: int) -> None:
        place = self.places[member]
        self.free[place] = max(self.free[place], now) + self.clock.occupied
        number = self.used.get(dice.key, 0)
        self.used[dice.key] = number + 1
        there = bool(self.network.alive[target])
        arrived = copies(dice, number, self.network.loss, there, self.retries)
        self.sent[member] = self.sent.get(member, 0) + len(arrived)
        if True in arrived:
            self.copies += 1
            took = travel(self.clock, member, target, arrived.index(True), np.uint64(dice.key))
            heapq.heappush(self.due, (self.free[place] + took, self.copies, target, hop + 1))


@cache
def built(world: str, name: str) -> System:
    system = entrant(name).make(small(world).wanted, 1)
    system.overlay.bootstrap()
    for cycle in range(1, 16):
        system.step(cycle)
    return system


def published(
    system: System, world: str, timing: Timing, loss: float, knob: int
) -> tuple[Outcome, np.ndarray]:
    """Publish a world's events with every seventh subscriber down; and their publishers."""
    there = small(world)
    alive = np.ones(there.n, np.uint8)
    alive[::7] = 0
    system.fail(alive, loss)
    system.network.timing = timing
    wanting = [[own for own in there.matches.of(e).tolist() if alive[own]] for e in there.events.tolist()]
    publishers = system.peer_of[np.array([own[len(own) // 2] for own in wanting])]
    settings = settings_of(system, knob)
    return system.publish(there.events, publishers, settings, SALT, record=True), publishers


def assert_same(found: Outcome, k: int, journey: Journey) -> None:
    assert found.receptions is not None
    peers, hops = found.receptions.of(k)
    assert dict(zip(peers.tolist(), hops.tolist(), strict=True)) == journey.hop
    times = found.receptions.ms[found.receptions.offsets[k] : found.receptions.offsets[k + 1]]
    assert times.tolist() == [float(np.float32(journey.when[peer])) for peer in peers.tolist()]
    assert found.messages[k] == sum(journey.sent.values())


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", ["broker", "matching tree"])
def test_a_broker_and_a_tree_of_subscribers(name: str, timing: Timing) -> None:
    system = built("topics", name)
    for knob, loss in ((0, 0.0), (2, 0.2)):
        found, publishers = published(system, "topics", timing, loss, knob)
        settings, events = settings_of(system, knob), small("topics").events
        keys = keys_of(1, SALT, events).tolist()
        for k, (event, publisher) in enumerate(zip(events.tolist(), publishers.tolist(), strict=True)):
            nodes, parents = system.plan(event, publisher, settings)
            below: dict[int, list[int]] = {}
            for node, parent in zip(nodes[1:].tolist(), parents[1:].tolist(), strict=True):
                below.setdefault(int(nodes[parent]), []).append(node)

            def forward(member: int, below=below, key=keys[k]) -> Sends:
                return ((child, Dice(key).of_peer(child)) for child in below.get(member, ()))

            journey = Journey(system, system.truth.places, settings.retries)
            journey.follow((publisher, 0, 0.0), forward)
            assert_same(found, k, journey)


def concerned(zone: Zone, corner: tuple[float, ...]) -> bool:
    """Whether a zone may hold ranges around an event: low ends below it, high ends from it on."""
    low, high = zone
    return all(low[k] < c if k % 2 == 0 else high[k] > c for k, c in enumerate(corner))


@pytest.mark.parametrize("timing", TIMINGS)
def test_meghdoot(timing: Timing) -> None:
    world = "ranges power-law-2"
    system = built(world, "meghdoot")
    for knob, loss in ((0, 0.0), (2, 0.2)):
        found, publishers = published(system, world, timing, loss, knob)
        settings, events = settings_of(system, knob), small(world).events
        for k, key in enumerate(keys_of(1, SALT, events).tolist()):
            publisher, corner = int(publishers[k]), system.scale.corner(system.points[events[k]])
            n = len(system.truth.host)
            traced = (
                np.full(n, -1, np.int32),
                np.zeros(n, np.int64),
                np.zeros(n, np.int64),
                np.full(n, np.inf),
            )
            journey = Journey(system, system.truth.places, settings.retries)
            traced[0][publisher], traced[3][publisher] = 0, 0.0
            root = system.route(publisher, corner, settings.retries, journey.clock, np.uint64(key), traced)
            on_the_way = np.flatnonzero(traced[0] >= 0).tolist()
            journey.when = {peer: float(traced[3][peer]) for peer in on_the_way}
            journey.hop = {peer: int(traced[0][peer]) for peer in on_the_way}
            journey.sent = {peer: int(traced[1][peer]) for peer in on_the_way}

            at = tuple(corner.tolist())

            def forward(member: int, corner=at, key=key) -> Sends:
                own, dice = system.layer.peers[member], Dice(key).of_peer(member)
                for zone, peer in known_zones(system, member):
                    if concerned(zone, corner) and any(before(zone, corner, mine) for mine in own.zones):
                        yield peer, dice

            if root >= 0:
                journey.follow((root, journey.hop[root], journey.when[root]), forward)
            assert_same(found, k, journey)


def before(zone: Zone, corner: tuple[float, ...], other: Zone) -> bool:
    """Whether a zone gets an event from this other one."""
    (low, high), (its_low, its_high) = zone, other
    crossed = False
    for k, c in enumerate(corner):
        if k % 2 == 0:
            nearest = min(high[k], c)
            if not crossed and high[k] < c:
                crossed = True
                if its_low[k] != high[k]:
                    return False
            elif not its_low[k] < nearest <= its_high[k]:
                return False
        else:
            nearest = max(low[k], c)
            if not crossed and low[k] > c:
                crossed = True
                if its_high[k] != low[k]:
                    return False
            elif not its_low[k] <= nearest < its_high[k]:
                return False
    return crossed


def known_zones(system: System, member: int) -> list[tuple[Zone, int]]:
    """Zones of others that a peer knows, with whose they are, in the order in which it goes through them."""
    near = system.layer.peers[member].near
    return [(zone, peer) for peer, zones in near.items() for zone in zones]


def scribe_routes(
    system: System, clock: Clock, dice: Dice, publisher: int, topic: int, retries: int
) -> tuple[list[tuple[int, int, int, float]], int]:
    """An event on its way to the roots of all its topics: (node, topic or -1, hop, time), and messages sent.

    Every node asks its own tables where to send it. One whose message is not acknowledged passes over the
    node that is silent. The publisher sends one message after the other; the routes do not meet.
    """
    nodes, network, seen, sent = system.layer.peers, system.network, [], 0
    for number, each in enumerate((topic, *system.groups.above[topic])):
        key, silent = system.layer.peers[0].keys[each], set[int]()
        node, hop, now = publisher, 0, number * clock.occupied
        root = node  # which the publisher knows, and tries first
        while (beyond := nodes[root].next_hop(key)) != root:
            root = beyond
        direct = [root] if root != node else []
        while (following := direct.pop() if direct else nodes[node].next_hop(key, silent)) != node:
            there = bool(network.alive[following])
            arrived = copies(dice, dice.used, network.loss, there, retries)
            dice.used += 1
            sent += len(arrived)
            if True in arrived:
                first = arrived.index(True)
                now += clock.occupied + travel(clock, node, following, first, np.uint64(dice.key))
                node, hop = following, hop + 1
                if nodes[node].next_hop(key, silent) != node:
                    seen.append((node, -1, hop, now))
            elif retries:
                silent.add(following)
                now += (retries + 1) * AGAIN * clock.tick
            else:
                break
        else:
            seen.append((node, each, hop, now))
    return seen, sent


@pytest.mark.parametrize("timing", TIMINGS)
def test_scribe(timing: Timing) -> None:
    system = built("topics", "scribe")
    trees = Trees(system.layer)
    for knob, loss in ((0, 0.0), (0, 0.1), (2, 0.3)):
        found, publishers = published(system, "topics", timing, loss, knob)
        retries, events = settings_of(system, knob).retries, small("topics").events
        alive, group = (each[trees.host] for each in (system.network.alive, system.network.group))
        network = Network(alive, group, loss, timing)
        for k, key in enumerate(keys_of(1, SALT, events).tolist()):
            publisher, topic = int(publishers[k]), int(system.wanted.tree.of_event[events[k]])
            pushed = Followed(
                trees.tables, PushRules(retries=retries), network, key, system.truth.places[trees.host]
            )
            routed, sent = scribe_routes(
                system, pushed.clock, Dice(key).of_peer(ENTERING), publisher, topic, retries
            )
            starts = [(trees.place.get((node, each), node), hop, when) for node, each, hop, when in routed]
            pushed.follow([(publisher, 0, 0.0), *sorted(starts, key=lambda start: start[2])])
            first: dict[int, int] = {}  # of each node, its place that has the event first
            for member in np.argsort(pushed.when, kind="stable").tolist():
                if pushed.first[member] >= 0:
                    first.setdefault(int(trees.host[member]), member)
            journey = Journey(system, system.truth.places, retries)
            journey.hop = {node: pushed.first[member] for node, member in first.items()}
            journey.when = {node: pushed.when[member] for node, member in first.items()}
            journey.sent = dict(enumerate([sent, *pushed.sent]))
            assert_same(found, k, journey)


def test_scribe_goes_around_one_that_is_silent_after_all_its_copies() -> None:
    system = built("topics", "scribe")
    published(system, "topics", TIMINGS[0], 0.0, 0)
    system.network.alive[:] = 1
    clock = Clock.of(TIMINGS[0], system.truth.places)
    topic = int(system.wanted.tree.of_event[0])
    gone = system.layer.peers[3].next_hop(system.layer.peers[0].keys[topic], set())
    assert gone != 3
    whole = system.way(3, topic, False, RouteSender(system.network, clock, Dice(9), 2))
    system.network.alive[gone] = 0
    around = system.way(3, topic, False, RouteSender(system.network, clock, Dice(9), 2))
    assert around.payers[:3] == [3, 3, 3]
    assert around.reached[0][2] > 3 * AGAIN * clock.tick > whole.reached[0][2]
