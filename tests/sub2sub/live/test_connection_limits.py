"""How many connections others may have to a node, and which of its own it keeps."""

from __future__ import annotations

import asyncio
from contextlib import closing

from sub2sub.live import Limits, Node
from sub2sub.live.core import messages as m
from sub2sub.live.wire.format import PROTOCOL, encode
from sub2sub.live.wire.framing import Frame, size_of
from sub2sub.peers.descriptors import Descriptor
from tests.sub2sub.live.loopback import live_virtually, until


def test_the_connection_that_was_silent_for_longest_makes_room() -> None:
    async def test() -> None:
        async with Node(attributes=1, period=5.0, limits=Limits(incoming=3)) as node:
            incoming = node.connections._incoming
            both = []
            for _ in range(3):
                both.append(await asyncio.open_connection(*node.address))
                await asyncio.sleep(0.1)
            first, second = list(incoming)[:2]
            both[0][1].write(encode(Frame(0, 1, m.Leave())))
            await asyncio.sleep(0.1)
            both.append(await asyncio.open_connection(*node.address))
            await until(lambda: node.connections.counts["closed for room"] == 1)
            assert len(incoming) == 3
            assert second not in incoming
            assert first in incoming
            for _, writer in both:
                writer.close()

    live_virtually(test)


def test_a_connection_is_kept_while_an_answer_is_on_its_way() -> None:
    """Of six peers asked at once all are heard, though only two connections are kept afterwards."""

    async def test() -> None:
        async def answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer):
                size = size_of(await reader.readexactly(4))
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
