"""Connections that a node opens because of what others tell it: invented addresses cost few of them."""

from __future__ import annotations

import asyncio
import random
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from sub2sub.live import Limits, Node
from sub2sub.live.core import messages as m
from sub2sub.live.core.ring_exchanges import SILENT
from sub2sub.live.net.connections import Connections
from sub2sub.live.virtual.conditions import Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.wire.format import PROTOCOL
from sub2sub.overlay.descriptors import Descriptor
from tests.sub2sub.live.loopback import live, live_virtually, until
from tests.sub2sub.live.test_costs import frame

UNLIMITED = Limits(dials=1e6, dials_at_once=1e6, strange_dials=1e6, strange_dials_at_once=1e6)


def test_addresses_that_others_invent_do_not_keep_a_node_from_those_it_knows() -> None:
    async def test() -> None:
        async with (
            Node(attributes=1) as friend,
            Node(attributes=1, limits=Limits(dials=0.5, dials_at_once=1)) as node,
        ):
            connections, failed = node.connections, list[int]()
            connections.dials.note_answer(friend.address)
            for k in range(1, 9):
                connections.post(("127.0.0.9", k), frame(m.Probe(1)), partial(failed.append, k))
            connections.post(friend.address, frame(m.Join(1)), partial(failed.append, 0))
            await until(lambda: friend.connections.counts["frames in"] == 1)
            await until(lambda: connections.counts["not dialled"] == 6)  # the second waits, the others do not
            assert not {("127.0.0.9", k) for k in range(3, 9)} & connections._failures.keys()
            await until(lambda: set(failed) >= {*range(3, 9)})
            assert 0 not in failed

    live_virtually(test)


def test_one_host_cannot_use_up_the_connections_that_a_node_opens() -> None:
    async def test() -> None:
        connections = Connections(PROTOCOL, print, Limits(dials=8.0, dials_at_once=8.0, connect=0.1))
        dialled = list[tuple[str, int]]()
        loop = asyncio.get_running_loop()

        async def note(factory: object, host: str, port: int, **options: object) -> None:
            dialled.append((host, port))
            raise OSError

        loop.create_connection = note  # type: ignore[method-assign, assignment]
        for teller, port in [("192.0.2.1", k) for k in range(100)] + [("192.0.2.2", 100), ("", 101)]:
            connections.post(("127.0.0.9", port), frame(m.Probe(1)), lambda: None, teller)
        await asyncio.sleep(0.05)
        assert [port for _, port in dialled] == [0, 1, 100, 101], "a quarter, another host's, the node's own"

    live_virtually(test)


def test_what_messages_tell_takes_no_place_of_a_connection_whose_answer_is_on_its_way() -> None:
    async def test() -> None:
        limits = replace(UNLIMITED, outgoing_at_once=8)
        async with Node(attributes=1) as friend, Node(attributes=1, limits=limits) as node:
            connections, failed = node.connections, list[int]()
            connections.post(friend.address, frame(m.Leave()), partial(failed.append, 0))  # has no answer
            await until(lambda: friend.connections.counts["frames in"] == 1)
            for k in range(1, 99):
                connections.post(("127.0.0.9", k), frame(m.Probe(1)), partial(failed.append, k), "192.0.2.1")
            assert len(connections._outgoing) == 8
            assert friend.address in connections._outgoing
            await until(lambda: set(failed) == {*range(1, 99)})

    live_virtually(test)


def test_frames_make_a_node_dial_only_so_fast() -> None:
    dialled = 0

    async def test() -> None:
        nonlocal dialled

        async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal dialled
            dialled += 1
            with closing(writer):
                await reader.read()

        third_party = [await asyncio.start_server(count, "127.0.0.1", 0) for _ in range(60)]
        ports = [server.sockets[0].getsockname()[1] for server in third_party]
        async with Node(attributes=1, limits=Limits(dials=5.0, dials_at_once=4.0)) as node:
            own = (await node.subscribe([0.0], [1.0])).own.id
            _, writer = await asyncio.open_connection(*node.address)
            dice = random.Random(1)
            for port in ports:
                peer = Descriptor.of(dice.getrandbits(64), [0.0], [1.0], ("127.0.0.1", port))
                writer.write(frame(m.Ring(1, peer, m.Mentions(), m.Mentions((peer,), (0,))), own))
            await asyncio.sleep(1.0)
            assert dialled <= 4 + 5 * 1.5
            writer.close()
        for server in third_party:
            server.close()

    live_virtually(test)


def test_a_host_that_has_never_answered_is_dialled_a_few_times_a_minute() -> None:
    """Five nodes dialled a third party 228 times in a minute because of 136 frames.

    The third party accepts connections at many ports, and says nothing.
    """
    network, dialled = Network(1), list[float]()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dialled.append(asyncio.get_running_loop().time())
        with closing(writer):
            await reader.read()

    async def attack(node: Node, own: int, host: str) -> None:
        dice = random.Random(host)
        _, writer = await asyncio.open_connection(*node.address)
        while True:
            peers = [
                Descriptor.of(dice.getrandbits(64), [0.0], [1.0], ("10.0.9.9", dice.randrange(1, 99)))
                for _ in range(16)
            ]
            links = m.Mentions(tuple(peers), (0,) * len(peers))
            for told in (m.Ring(1, peers[0], links, links), m.Shuffle(2, links), m.Near(3, links)):
                writer.write(frame(told, own))
            await asyncio.sleep(0.5)

    async def test() -> None:
        here, third = network.machine("10.0.0.1"), network.machine("10.0.9.9")
        for port in range(1, 99):
            await third.start(asyncio.start_server(accept, "10.0.9.9", port))
        node = Node(attributes=1, listen=("10.0.0.1", 7000))
        await here.start(node.open())
        own = (await here.start(node.subscribe([0.0], [1.0]))).own.id
        hosts = [f"10.0.1.{k}" for k in range(4)]
        attacks = [network.machine(host).start(attack(node, own, host)) for host in hosts]
        await asyncio.sleep(180.0)
        for each in attacks:
            each.cancel()
        minutes = [sum(60 * k <= at - dialled[0] < 60 * k + 60 for at in dialled) for k in range(3)]
        assert 0 < minutes[0] <= 15, "4 at once in its own turns, 4 because of messages, and 6 a minute"
        assert max(minutes[1:]) <= 7

    VirtualLoop(network).run(test())


def test_one_message_of_many_peers_that_are_not_there_causes_few_connections() -> None:
    async def test() -> None:
        async with Node(attributes=1, period=0.05, limits=UNLIMITED) as node:
            own = (await node.subscribe([0.0], [1.0])).own
            gone = [Descriptor.of(own.id ^ k, [0.0], [1.0], ("127.0.0.9", k)) for k in range(1, 129)]
            told = m.Ring(1, gone[0], m.Mentions(), m.Mentions(tuple(gone), (0,) * len(gone)))
            _, writer = await asyncio.open_connection(*node.address)
            writer.write(frame(told, own.id))
            await until(lambda: node.connections.counts["unreachable"] >= SILENT)
            await asyncio.sleep(0.5)
            assert node.connections.counts["unreachable"] <= 2 * SILENT
            writer.close()

    live_virtually(test)


def test_names_of_hosts_that_others_tell_are_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        asked: list[str] = []
        true = asyncio.get_running_loop().getaddrinfo

        async def note(host: str, *rest: object, **options: object) -> object:
            asked.append(host)
            return await true(host, *rest, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", note)
        async with Node(attributes=1, period=0.05) as node:
            own = (await node.subscribe([0.0], [1.0])).own.id
            _, writer = await asyncio.open_connection(*node.address)
            peer = Descriptor.of(5, [0.0], [1.0], ("victim.example", 80))
            writer.write(frame(m.Ring(1, peer, m.Mentions(), m.Mentions((peer,), (0,))), own))
            await until(lambda: node.connections.counts["unreachable"] > 0)
            assert "victim.example" not in asked
            writer.close()

    live(test)


def test_a_host_that_is_connected_to_a_node_is_tried_again_soon() -> None:
    """After a long partition a process did not send for half a minute to another that it had just heard."""
    network, arrived = Network(1), list[bytes]()

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            arrived.append(await reader.read(1))

    async def test() -> None:
        here, there = network.machine("10.0.0.1"), network.machine("10.0.0.2")
        node = Node(attributes=1, listen=("10.0.0.1", 7000))
        await here.start(node.open())

        async def post() -> None:
            node.connections.post(("10.0.0.2", 7000), frame(m.Leave()), lambda: None)
            await asyncio.sleep(1.0)

        for _ in range(100):  # nobody listens there yet; by now pauses are of 30 s
            await here.start(post())
        await there.start(asyncio.start_server(note, "10.0.0.2", 7000))
        await here.start(post())
        assert not arrived
        _, writer = await there.start(asyncio.open_connection("10.0.0.1", 7000))
        writer.write(frame(m.Leave()))
        await asyncio.sleep(1.0)
        await here.start(post())
        assert arrived
        writer.close()

    VirtualLoop(network).run(test())
