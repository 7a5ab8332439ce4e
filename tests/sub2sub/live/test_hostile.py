"""Nodes among misbehaving and slow peers: nothing crashes, what others can cost is bounded."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from sub2sub.live import Limits, Node
from sub2sub.live.core.messages import Ask, Event, Join, Mentions, Message, Probe, Ring, Taken
from sub2sub.live.wire.format import decode, encode
from sub2sub.live.wire.framing import Frame, size_of
from sub2sub.peers.descriptors import Descriptor
from tests.sub2sub.live.loopback import live, live_virtually, until

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def read(reader: asyncio.StreamReader) -> Frame:
    return decode(await reader.readexactly(size_of(await reader.readexactly(4))))


def against(
    attack: Callable[[Node, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    limits: Limits | None = None,
    run: Callable[[Callable[[], Coroutine[Any, Any, None]]], None] = live,
) -> None:
    """Let somebody do harm to a node, then see that the node still serves others."""

    async def test() -> None:
        async with Node(attributes=1, period=0.05, limits=limits) as node:
            events = await node.subscribe([0.0], [1.0])
            reader, writer = await asyncio.open_connection(*node.address)
            await attack(node, reader, writer)
            writer.close()
            async with Node(attributes=1, contact=node.address) as honest:
                assert (await honest.publish([0.5], b"still there")).entry == events.own.id
            async for event in events:
                if event.data == b"still there":
                    break

    run(test)


def frame(message: Message, to: int = 0, sender: int = 1) -> bytes:
    return encode(Frame(to, sender, message))


GOOD = frame(Probe(1))


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack(">I", 2**32 - 1),
        struct.pack(">I", 0),
        struct.pack(">I", 3) + b"\xc1\xc1\xc1",
        struct.pack(">I", len(GOOD) - 4) + GOOD[4:5] + b"\x7f" + GOOD[6:],
        struct.pack(">I", 60_000) + b"\x91" * 60_000,
    ],
    ids=["another protocol", "oversized", "empty", "malformed", "another version", "nested"],
)
def test_what_is_no_frame_ends_its_connection(data: bytes) -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await read(reader)
        assert node.connections.counts["malformed"] == 1

    against(attack)


def test_a_frame_cut_short_does_no_harm() -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD[:-1])
        writer.close()

    against(attack)


def test_a_frame_that_never_ends_is_not_waited_for() -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD[:-1])
        assert await reader.read() == b""

    against(attack, Limits(frame=0.2), live_virtually)


def test_silence_ends_a_connection() -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.read() == b""

    against(attack, Limits(idle=0.3), live_virtually)


def test_connections_beyond_the_limit_are_closed() -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        more = [await asyncio.open_connection(*node.address) for _ in range(8)]
        await until(lambda: node.connections.counts["closed for room"] >= 5)
        for _, other in more:
            other.close()
        await until(lambda: len(node.connections._incoming) <= 1)

    against(attack, Limits(incoming=4))


def test_a_flood_is_read_slowly_and_others_are_served() -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (own,) = node.subscriptions
        writer.write(frame(Probe(1), own) * 20_000)
        await asyncio.sleep(0.5)
        assert node.connections.counts["frames in"] < 2_000

    against(attack, Limits(rate=500, burst=100), live_virtually)


def test_who_does_not_read_its_replies_loses_its_connection() -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (own,) = node.subscriptions
        peers = tuple(Descriptor.of(10 + k, [k / 100], [(k + 1) / 100], ("h" * 200, 9)) for k in range(100))
        links = Mentions(peers, (0,) * 100)
        writer.write(frame(Ring(1, peers[0], links, links), own))
        try:
            for _ in range(200):  # replies of some 10 kB each, unread
                writer.write(frame(Ask(1, (0.5,)), own) * 50)
                await asyncio.wait_for(writer.drain(), 0.2)
        except (OSError, TimeoutError):
            pass
        await until(lambda: not node.connections._incoming)

    against(attack, Limits(rate=1e6, burst=1_000_000, queue=16, idle=1.0))


def test_a_replayed_event_is_delivered_once() -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (own,) = node.subscriptions
        event = Event(b"e" * 16, (0.5,), 3, b"again and again")
        for _ in range(5):
            writer.write(frame(event, own))
            assert (await read(reader)).message == Taken(event.name, took=True)
        assert node.counts["delivered"] == 1
        assert node.counts["duplicates"] == 4

    against(attack)


def test_frames_for_nobody_are_ignored_and_events_for_nobody_refused() -> None:
    async def attack(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for k in range(20):
            writer.write(frame(Probe(k), to=12345))
        writer.write(frame(Event(bytes(16), (7.0,), 0, b""), to=12345))
        assert (await read(reader)).message == Taken(bytes(16), took=False)
        writer.write(frame(Join(9)))
        assert getattr((await read(reader)).message, "exchange", None) == 9

    against(attack)
