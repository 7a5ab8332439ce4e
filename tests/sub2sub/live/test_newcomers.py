"""Live peers verify candidates before they accept them, and newcomers ask for their neighbours at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sub2sub.live import CoreSettings, Node
from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core
from sub2sub.live.core.ring_exchanges import VERIFICATIONS
from sub2sub.live.virtual.conditions import Conditions, Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.peers.descriptors import Descriptor
from tests.sub2sub.live.strategies import mention, mentioned
from tests.sub2sub.live.test_core import OWN, draws, peer

PARTNER, NEAR, FAR = peer(9), peer(8), peer(7)  # all want everything, as OWN does
OLD = 500  # hundredths of a cycle
DRAWS = draws()


def core() -> Core:
    made = Core(OWN, lambda event: None, CoreSettings(), unit=100)
    made.clock.tick()
    made.receive(m.Hello(PARTNER), PARTNER.id, DRAWS)
    return made


def told_of(made: Core, *peers: Descriptor) -> list[m.Send]:
    """Let a partner name peers that nobody has heard from for five cycles; return the other messages sent."""
    message = m.Ring(1, PARTNER, m.Mentions(), mentioned(*(mention(each, OLD, 0) for each in peers)))
    return [send for send in made.receive(message, PARTNER.id, DRAWS) if send.to]


def probes(sends: list[m.Send]) -> list[tuple[Descriptor | None, int]]:
    return [(send.to, send.message.exchange) for send in sends if isinstance(send.message, m.Probe)]


def nearest_first(*peers: Descriptor) -> list[Descriptor]:
    return sorted(peers, key=lambda each: min((each.id - OWN.id) % 2**64, (OWN.id - each.id) % 2**64))


def test_a_candidate_is_accepted_when_it_has_answered() -> None:
    made = core()
    sends = told_of(made, NEAR)
    [(to, number)] = probes(sends)
    assert to == NEAR
    assert NEAR.id not in made.ring.view
    hellos = made.receive(m.Probed(number), NEAR.id, DRAWS)
    assert NEAR.id in made.ring.view
    assert [(send.to, type(send.message)) for send in hellos] == [(NEAR, m.Hello)]


def test_a_silent_candidate_does_not_hide_other_peers() -> None:
    made = core()
    first, second = nearest_first(NEAR, FAR)
    [(to, number)] = probes(told_of(made, NEAR, FAR))
    assert to == first
    [(to, _)] = probes(made.unreachable(first, m.Probe(number)))
    assert to == second
    assert first.id not in made.ring.view
    assert probes(told_of(made, first)) == [], "links to it that are no younger are refused"


def test_a_candidate_is_not_asked_twice_at_once() -> None:
    made = core()
    assert len(probes(told_of(made, NEAR))) == 1
    assert probes(told_of(made, NEAR)) == []


def test_candidates_that_never_answer_are_not_accepted() -> None:
    made = core()
    told_of(made, NEAR)
    for _ in range(made.settings.patience + 1):
        made.clock.tick()
        made.give_up()
    assert not made.ring.asking
    assert NEAR.id not in made.ring.view


def test_few_candidates_are_probed_at_once_however_many_messages_name() -> None:
    made, asked = core(), 0
    for number in range(4 * VERIFICATIONS):
        asked += len(probes(told_of(made, peer(1000 + number))))
    assert asked == VERIFICATIONS
    assert len(made.ring.asking) == VERIFICATIONS


def test_a_slow_candidate_holds_the_others_up_for_a_cycle_at_most() -> None:
    made = core()
    first, second = nearest_first(NEAR, FAR)
    told_of(made, NEAR, FAR)
    made.clock.tick()
    [(to, number)] = probes(made.ring_exchanges.feed())
    assert to == second
    made.receive(m.Probed(number), second.id, DRAWS)
    assert second.id in made.ring.view
    assert made.ring.asking == {first.id}


class World:
    """Nodes that all want everything, and one more that comes when their ring is complete."""

    def __init__(self, join: bool, silent: int = 0) -> None:
        overlay = CoreSettings().overlay
        self.settings = CoreSettings(replace(overlay, ring=replace(overlay.ring, join=join)))
        self.network = Network(1, Conditions(latency=(0.02, 0.02), jitter=0.0))
        self.nodes: list[tuple[Machine, Node]] = []
        self.silent = silent

    async def enter(self, number: int) -> Node:
        contact = self.nodes[0][1].address if self.nodes else None
        machine = self.network.machine(f"127.0.0.{number}")
        node = Node(1, contact, (machine.host, 7000), settings=self.settings, seed=number + 1)
        self.nodes.append((machine, node))

        async def begin() -> None:
            await node.__aenter__()
            await node.subscribe([0.0], [1.0], lambda event: None)

        await machine.start(begin())
        return node

    async def live(self) -> tuple[float, bool]:
        """Cycles until the newcomer has the two neighbours it has to have, and whether they have it."""
        for number in range(20):
            await self.enter(number)
        await asyncio.sleep(20.0)
        for machine, _ in self.nodes[1 : 1 + self.silent]:
            machine.crash(silent=True)
        begun = asyncio.get_running_loop().time()
        newcomer = next(iter((await self.enter(20)).cores.values()))
        while not self.is_linked(newcomer):
            await asyncio.sleep(0.05)
            if asyncio.get_running_loop().time() > begun + 30.0:
                break
        return asyncio.get_running_loop().time() - begun, self.is_linked(newcomer)

    def is_linked(self, newcomer: Core) -> bool:
        cores = [next(iter(node.cores.values())) for machine, node in self.nodes if not machine.crashed]
        ring = sorted(cores, key=lambda each: (each.own.id - newcomer.own.id) % 2**64)
        beside = ring[1], ring[-1]
        return all(each.own.id in newcomer.ring.view and newcomer.own.id in each.ring.view for each in beside)


@pytest.mark.parametrize("silent", [0, 3])
def test_a_newcomer_is_on_its_ring_within_a_cycle_or_two_even_beside_the_dead(silent: int) -> None:
    world = World(join=True, silent=silent)
    cycles, linked = VirtualLoop(world.network).run(world.live())
    assert linked
    assert cycles <= (1.0 if silent == 0 else 4.0)


def test_without_asking_it_waits_for_gossip() -> None:
    world = World(join=False)
    assert VirtualLoop(world.network).run(world.live())[0] > 1.0


def test_two_that_begin_an_overlay_as_each_others_contact_are_a_ring_within_two_cycles() -> None:
    network = Network(1, Conditions(latency=(0.02, 0.02), jitter=0.0))

    async def live() -> list[int]:
        machines = [network.machine(f"127.0.0.{number}") for number in (1, 2)]
        one, two = [(machine.host, 7000) for machine in machines]
        nodes = [Node(1, two, one, seed=1), Node(1, one, two, seed=2)]
        starts = [machine.start(node.__aenter__()) for machine, node in zip(machines, nodes, strict=True)]
        await asyncio.gather(*starts)
        # Each asks the other before that has a subscription, and is told of nobody.
        await asyncio.gather(*(node.subscribe([0.0], [1.0], lambda event: None) for node in nodes))
        await asyncio.sleep(2.5)
        return [len(core.ring.view) for node in nodes for core in node.cores.values()]

    assert VirtualLoop(network).run(live()) == [1, 1]
