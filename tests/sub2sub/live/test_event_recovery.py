"""Live peers recover the events that they missed, if they are set to."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sub2sub.live import CoreSettings, Node
from sub2sub.live.core import messages as m
from sub2sub.live.core.event_recovery import ASKED
from sub2sub.live.core.live_peer import Core
from sub2sub.live.virtual.conditions import Conditions, Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.peers.settings import RecoverySettings
from tests.sub2sub.live.test_core import OWN, draws, peer

EVENT = m.Event(b"e" * 16, (0.5,), 0, b"data")
A, B = peer(9), peer(8)
DRAWS = draws()


def settings(history: int) -> CoreSettings:
    overlay = CoreSettings().overlay
    return CoreSettings(replace(overlay, recovery=RecoverySettings(history=history)))


def core(history: int = 10) -> Core:
    made = Core(OWN, lambda event: None, settings(history), unit=100)
    made.clock.tick()
    for each in (A, B):
        made.receive(m.Hello(each), each.id, DRAWS)
    return made


def digests(sends: list[m.Send]) -> dict[int, m.Digest]:
    return {send.to.id: send.message for send in sends if send.to and isinstance(send.message, m.Digest)}


def tick(made: Core) -> dict[int, m.Digest]:
    return digests(made.tick(DRAWS))


def test_digests_go_to_neighbours_that_may_lack_an_event() -> None:
    made = core()
    made.receive(EVENT, A.id, DRAWS)  # A has it; B is sent it, and does not say that it has it
    told = tick(made)
    assert {id: digest.names for id, digest in told.items()} == {B.id: (EVENT.name,)}
    assert told[B.id].ages == (100,)
    [send] = made.receive(m.Lacking(told[B.id].exchange, (EVENT.name,)), B.id, DRAWS)
    assert send.to == B
    assert isinstance(send.message, m.Event)
    assert send.message.data == EVENT.data
    made.receive(m.Taken(EVENT.name, took=True), B.id, DRAWS)
    assert tick(made) == {}


def test_events_that_were_not_in_a_digest_are_not_sent() -> None:
    made = core()
    made.receive(EVENT, A.id, DRAWS)
    told = tick(made)
    assert made.receive(m.Lacking(told[B.id].exchange, (b"x" * 16,)), B.id, DRAWS) == []


def test_an_event_is_asked_for_once_and_announced_at_once() -> None:
    made = core()
    for number, wanted in ((1, (EVENT.name,)), (2, ())):
        [send] = made.receive(m.Digest(number, (EVENT.name,), (300,)), A.id, DRAWS)
        assert send.message == m.Lacking(number, wanted)
    sends = made.receive(EVENT, A.id, DRAWS)
    assert [type(send.message) for send in sends] == [m.Taken, m.Digest]  # not forwarded: most have it
    assert digests(sends)[B.id].ages == (300,), "its age is that since its publication"


def test_an_event_that_was_asked_for_and_does_not_come_is_asked_for_again_after_patience_cycles() -> None:
    made, digest = core(), m.Digest(1, (EVENT.name,), (0,))
    made.receive(digest, A.id, DRAWS)
    for cycle in range(1, made.settings.patience + 2):
        tick(made)
        [send] = made.receive(digest, B.id, DRAWS)
        assert send.message.names == ((EVENT.name,) if cycle > made.settings.patience else ())


def test_old_events_are_forgotten_although_neighbours_announce_them() -> None:
    made = core(history=4)
    made.receive(m.Digest(1, (EVENT.name,), (300,)), A.id, DRAWS)
    made.receive(EVENT, A.id, DRAWS)
    assert made.recovery.events
    for _ in range(2):
        tick(made)
    assert not made.recovery.events
    [send] = made.receive(m.Digest(2, (b"x" * 16,), (401,)), A.id, DRAWS)
    assert send.message == m.Lacking(2, ())


def test_the_digest_of_a_silent_neighbour_goes_to_the_next_one() -> None:
    made = core()
    made.receive(EVENT, A.id, DRAWS)
    exchange = tick(made)[B.id].exchange
    sends = made.unreachable(B, m.Digest(exchange, (EVENT.name,), (0,)))
    assert B.id not in digests(sends)


def test_invented_names_are_limited_and_data_too() -> None:
    made = core()
    for first in range(0, 2 * ASKED, m.MAX_NAMES):
        names = tuple((first + k).to_bytes(16, "big") for k in range(m.MAX_NAMES))
        made.receive(m.Digest(1, names, (0,) * m.MAX_NAMES), A.id, DRAWS)
    assert len(made.recovery.asked) == ASKED
    for k in range(100):
        made.receive(m.Event(k.to_bytes(16, "little"), (0.5,), 0, bytes(60_000)), A.id, DRAWS)
    assert sum(len(event.data) for event in made.recovery.events.values()) <= 4 << 20
    assert set(made.recovery.events) == set(made.recovery.history.events)


@pytest.mark.parametrize("history", [0, 10])
def test_a_node_that_was_cut_off_recovers_the_events_it_missed(history: int) -> None:
    network, heard = Network(3, Conditions(latency=(0.01, 0.01), jitter=0.0)), list[int]()

    async def live() -> None:
        nodes: list[tuple[Machine, Node]] = []
        for number in range(8):
            machine = network.machine(f"127.0.0.{number}")
            contact = nodes[0][1].address if nodes else None
            node = Node(1, contact, (machine.host, 7000), settings=settings(history), seed=number + 1)
            nodes.append((machine, node))

            async def begin(node: Node = node, number: int = number) -> None:
                await node.__aenter__()
                await node.subscribe([0.0], [1.0], lambda event: heard.append(number))

            await machine.start(begin())
        await asyncio.sleep(10.0)
        nodes[5][0].stop()  # for three cycles: others take it for dead
        await asyncio.sleep(1.0)
        await nodes[1][0].start(nodes[1][1].publish([0.5]))
        await asyncio.sleep(4.0)  # an event whose connection ends sooner is sent once more
        assert 5 not in heard
        nodes[5][0].crash(silent=True)
        machine = network.machine("127.0.0.5")
        node = Node(1, nodes[0][1].address, (machine.host, 7000), settings=settings(history), seed=99)

        async def again() -> None:
            await node.__aenter__()
            await node.subscribe([0.0], [1.0], lambda event: heard.append(5))

        await machine.start(again())
        await asyncio.sleep(5.0)

    VirtualLoop(network).run(live())
    assert sorted(set(heard) - {5}) == [0, 1, 2, 3, 4, 6, 7]
    assert len(heard) == len(set(heard))
    assert (5 in heard) is (history > 0)
