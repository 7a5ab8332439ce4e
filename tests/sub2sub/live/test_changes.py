"""Changed subscriptions of live nodes: the host answers for its old peer, and spam ends within two cycles."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sub2sub.errors import InputError
from sub2sub.live import CoreSettings, Node
from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core
from sub2sub.live.virtual.conditions import Conditions, Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.peers.descriptors import Descriptor, Link
from tests.sub2sub.live.test_core import OWN, draws, peer

DRAWS = draws()
OLD, NEW = peer(9), replace(peer(9), id=10)  # at the same address


def asked(made: Core) -> int:
    """Let a core probe its neighbour; the number of the exchange."""
    made.ring.suspect(OLD.id, 400, made.now)
    [send] = made.probe(DRAWS)
    assert isinstance(send.message, m.Probe)
    return send.message.exchange


@pytest.fixture
def made() -> Core:
    core = Core(OWN, lambda event: None, CoreSettings(), unit=100)
    core.clock.tick()
    core.receive(m.Hello(OLD), OLD.id, DRAWS)
    return core


def test_the_answer_of_a_host_replaces_a_peer_by_the_one_it_changed_to(made: Core) -> None:
    sends = made.receive(m.Changed(asked(made), NEW), OLD.id, DRAWS)
    assert set(made.ring.view) == {NEW.id}
    assert [(send.to, type(send.message)) for send in sends] == [(NEW, m.Hello)]
    assert made.exchanges.open == {}


def test_changes_that_were_not_asked_for_or_come_from_another_host_are_ignored(made: Core) -> None:
    number = asked(made)
    elsewhere = replace(NEW, address=("127.0.0.9", 1))
    for message in (m.Changed(number + 1, NEW), m.Changed(number, elsewhere)):
        assert made.receive(message, OLD.id, DRAWS) == []
    assert set(made.ring.view) == {OLD.id}


def test_a_changed_partner_of_a_shuffle_is_replaced_by_the_new_peer(made: Core) -> None:
    made.join([OLD])
    [send] = made.shuffle(DRAWS)
    assert isinstance(send.message, m.Shuffle)
    made.receive(m.Changed(send.message.exchange, NEW), OLD.id, DRAWS)
    assert [link.peer for link in made.random.view] == [NEW]
    assert made.random.lost is None


def test_a_changed_peer_is_no_proximity_link_any_more(made: Core) -> None:
    made.near.view = [Link(OLD, made.now)]
    made.receive(m.Changed(asked(made), NEW), OLD.id, DRAWS)
    assert made.near.view == []


def test_a_candidate_that_has_changed_does_not_keep_others_waiting() -> None:
    """The verification that has probed it ends, or 16 of them would be the last that a peer ever makes."""
    made = Core(OWN, lambda event: None, unit=100)
    made.clock.tick()
    told = m.Mentions((OLD,), (100,))  # nobody heard from it in this cycle: it has to answer
    sends = made.receive(m.Ring(1, peer(8), m.Mentions(), told), 8, DRAWS)
    [probe] = [send for send in sends if isinstance(send.message, m.Probe)]
    assert made.ring.asking == {OLD.id}
    made.receive(m.Changed(probe.message.exchange, NEW), OLD.id, DRAWS)
    assert not made.ring.asking
    assert NEW.id in made.ring.view


def test_a_changed_subscription_gets_the_new_events_and_soon_no_others() -> None:
    network, heard = Network(5, Conditions(latency=(0.01, 0.02), jitter=0.0)), list[float]()
    left = Descriptor.of(0, [0.0], [0.5]), Descriptor.of(0, [0.5], [1.0])

    async def live() -> None:
        nodes: list[tuple[Machine, Node]] = []
        for number in range(12):
            machine = network.machine(f"127.0.0.{number}")
            node = Node(1, nodes[0][1].address if nodes else None, (machine.host, 7000), seed=number + 1)
            nodes.append((machine, node))
            box = left[number % 2]

            async def begin(node: Node = node, box: Descriptor = box, number: int = number) -> None:
                await node.__aenter__()
                note = (lambda event: heard.append(event.point[0])) if number == 4 else (lambda event: None)
                await node.subscribe(box.low, box.high, note)

            await machine.start(begin())
        await asyncio.sleep(12.0)
        machine, node = nodes[4]
        subscription = next(iter(node.subscriptions.values()))
        old = subscription.own.id
        for wanted in (left[1], left[0], left[1]):  # there, back, and there again
            await machine.start(node.change(subscription, wanted.low, wanted.high))
        await asyncio.sleep(2.5)
        cores = [core for _, each in nodes for core in each.cores.values()]
        assert not any(old in core.ring.view for core in cores)
        before = node.counts["spam"]
        for point in (0.2, 0.8):
            await nodes[1][0].start(nodes[1][1].publish([point]))
        await asyncio.sleep(1.0)
        assert heard == [0.8]
        assert node.counts["spam"] == before
        with pytest.raises(InputError, match="attributes"):
            await node.change(subscription, [0.0, 0.0], [1.0, 1.0])
        assert list(node.subscriptions.values()) == [subscription]

    VirtualLoop(network).run(live())
