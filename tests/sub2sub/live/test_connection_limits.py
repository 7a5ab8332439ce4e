"""How many connections others may have to a node, and which of its own it keeps."""

from __future__ import annotations

import asyncio
from contextlib import closing
from unittest.mock import Mock

import pytest

from sub2sub.live import Limits, Node
from sub2sub.live.core import messages as m
from sub2sub.live.net.connections import Channel, Connections
from sub2sub.live.wire.format import PROTOCOL, Frame, encode
from sub2sub.overlay.descriptors import Descriptor
from tests.sub2sub.live.loopback import live, live_virtually, until


def test_one_address_gets_only_so_many_connections_and_strangers_leave_room() -> None:
    async def test() -> None:
        for limits, most in ((Limits(per_address=3), 3), (Limits(incoming=8, reserved=3), 5)):
            async with Node(attributes=1, limits=limits) as node:
                both = [await asyncio.open_connection(*node.address) for _ in range(10)]
                await until(lambda node=node, most=most: node.connections.counts["refused"] == 10 - most)
                assert len(node.connections._incoming) == most
                node._known_hosts = {"127.0.0.1"}
                one = (await asyncio.open_connection(*node.address))[1]
                if limits.per_address > 3:
                    await until(lambda node=node, most=most: len(node.connections._incoming) == most + 1)
                for _, writer in [*both, (None, one)]:
                    writer.close()

    live(test)


def test_connections_leave_descriptors_for_newcomers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a process may open 300 files, silent strangers took all of them, and newcomers were kept out."""
    monkeypatch.setattr("sub2sub.live.net.connections.open_files", lambda: 300)

    async def test() -> None:
        async with Node(attributes=1, period=5.0) as node:
            silent = [Mock(get_extra_info=lambda name, k=k: (f"192.0.2.{k % 4}", 1)) for k in range(400)]
            for transport in silent:
                Channel(node.connections).connection_made(transport)
            assert node.connections.open <= 300 - 64
            _, newcomer = await asyncio.open_connection(*node.address)
            await asyncio.sleep(0.1)
            assert "127.0.0.1" in {channel.host for channel in node.connections._incoming}
            newcomer.close()

    live(test)


def test_who_has_more_connections_than_others_makes_room() -> None:
    async def test() -> None:
        async with Node(attributes=1, limits=Limits(incoming=8, reserved=2)) as node:
            places = node.connections._from

            async def connect(host: str) -> asyncio.StreamWriter:
                return (await asyncio.open_connection(*node.address, local_addr=(host, 0)))[1]

            writers = [await connect("127.0.0.2") for _ in range(10)]
            await until(lambda: node.connections.counts["refused"] == 4)
            for _ in range(5):
                writers.append(await connect("127.0.0.3"))
            await until(lambda: places == {"127.0.0.2": 3, "127.0.0.3": 3})
            node._known_hosts = {"127.0.0.2"}
            writers += [
                await connect("127.0.0.4") for _ in range(3)
            ]  # not at the expense of one that is known
            await until(lambda: places == {"127.0.0.2": 3, "127.0.0.3": 2, "127.0.0.4": 1})
            for writer in writers:
                writer.close()

    live(test)


def test_all_addresses_of_an_ipv6_network_are_one_host() -> None:
    async def test() -> None:
        connections = Connections(PROTOCOL, print, Limits(per_address=3))
        for k in range(9):
            address = f"2001:db8::{k:x}:1"
            Channel(connections).connection_made(Mock(get_extra_info=lambda name, at=address: (at, 1, 0, 0)))
        assert connections._from.total() == 3
        Channel(connections).connection_made(Mock(get_extra_info=lambda name: ("2001:db8:0:1::1", 1, 0, 0)))
        assert connections._from.total() == 4
        await connections.close()

    live(test)


def test_a_connection_is_kept_while_an_answer_is_on_its_way() -> None:
    """Of six peers asked at once all are heard, though only two connections are kept afterwards."""

    async def test() -> None:
        async def answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer):
                size = PROTOCOL.size_of(await reader.readexactly(4))
                frame = PROTOCOL.decode(await reader.readexactly(size))
                await asyncio.sleep(0.2)
                writer.write(encode(Frame(frame.sender, frame.to, m.Probed(frame.message.exchange))))
                await reader.read()

        servers = [await asyncio.start_server(answer_late, "127.0.0.1", 0) for _ in range(6)]
        peers = [Descriptor.of(7, [0.0], [1.0], each.sockets[0].getsockname()) for each in servers]
        async with Node(attributes=1, limits=Limits(outgoing=2, answer=0.8)) as node:
            asked = (node.request(peer, m.Probe(1 + k)) for k, peer in enumerate(peers))
            assert None not in await asyncio.gather(*asked)
            await until(lambda: node.connections.open == 2)
        for each in servers:
            each.close()

    live_virtually(test)
