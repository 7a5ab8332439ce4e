"""What connections can cost a node is bounded by limits of frames, bytes and connections."""

from __future__ import annotations

import asyncio
import random
import struct
from collections import Counter
from functools import partial
from unittest.mock import Mock

import pytest

from sub2sub.errors import InputError
from sub2sub.live import Limits, Node, run
from sub2sub.live.core import messages as m
from sub2sub.live.net.connections import Channel, Connections
from sub2sub.live.wire.format import PROTOCOL, decode, encode
from sub2sub.live.wire.framing import MAX_FRAME, Frame, WireError
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.draws import Dice
from sub2sub.peers.forwarding import Forwarder, PeerLinks
from sub2sub.peers.settings import DisseminationSettings
from tests.sub2sub.live.loopback import live, live_virtually, until


def frame(message: m.Message, to: int = 0, sender: int = 1) -> bytes:
    return encode(Frame(to, sender, message))


def nodes_without_rates(**limits: float) -> Node:
    return Node(attributes=1, period=5.0, limits=Limits(rate=1e9, burst=10**9, **limits))


def test_between_two_frames_of_a_flood_others_have_their_turn() -> None:
    async def test() -> None:
        async with nodes_without_rates() as node:
            done: list[str] = []

            def handle(frame: Frame, channel: object) -> None:
                if not done:
                    asyncio.get_running_loop().call_soon(done.append, "somebody else")
                done.append("frame")

            node.connections.handle = handle
            _, flood = await asyncio.open_connection(*node.address)
            flood.write(frame(m.Probe(1)) * 2000)
            await until(lambda: done.count("frame") == 2000)
            assert done.index("somebody else") <= 2
            flood.close()

    live(test)


def test_a_frame_of_a_million_lists_or_maps_is_refused_before_they_are_made() -> None:
    """They took half a second of processor, most of it the garbage collector's."""
    for empty, what in ((b"\x90", "lists"), (b"\x80", "map")):
        body = b"\xdc\x07\xd0" + (b"\xdc\x02\x00" + empty * 512) * 2000
        assert len(body) < MAX_FRAME
        with pytest.raises(WireError, match=what):
            decode(body)


def test_a_frame_in_many_pieces_is_put_together_in_place() -> None:
    async def test() -> None:
        frames = list[Frame]()
        connections = Connections(PROTOCOL, lambda frame, channel: frames.append(frame))
        channel = Channel(connections)
        channel.connection_made(Mock(get_extra_info=lambda name: ("192.0.2.1", 1)))
        whole = frame(m.Event(bytes(16), (0.5,), 0, bytes(60_000)))
        for k in range(len(whole)):
            channel.data_received(whole[k : k + 1])
            assert k + 1 == len(whole) or channel.begun
        assert [each.message.data for each in frames] == [bytes(60_000)]
        assert not len(channel.arrived)
        assert not channel.begun
        channel.close()

    live(test)


def test_what_arrives_while_a_sender_has_to_wait_is_not_kept() -> None:
    """uvloop forgets a pause where a connection has just been made: 360 strangers cost 2 GB in 12 s."""

    async def test() -> None:
        async with Node(attributes=1, period=5.0, limits=Limits(rate=0.1, burst=1)) as node:
            _, writer = await asyncio.open_connection(*node.address)
            writer.write(frame(m.Probe(1)) * (1 << 20))
            await asyncio.sleep(0.5)
            (channel,) = node.connections._incoming
            assert 0 < len(channel.arrived) <= 1 << 17
            writer.transport.abort()

    run(test())


def test_connections_are_opened_only_so_fast() -> None:
    async def test() -> None:
        limits = Limits(dials=5.0, dials_at_once=4.0, connect=1.0)
        connections, dialled = Connections(PROTOCOL, print, limits), list[float]()
        loop, failed = asyncio.get_running_loop(), Counter[str]()

        async def note(factory: object, host: str, port: int, **options: object) -> None:
            dialled.append(loop.time())
            raise OSError

        loop.create_connection = note  # type: ignore[method-assign, assignment]
        for port in range(100):
            connections.post(("127.0.0.9", port), frame(m.Probe(1)), partial(failed.update, ["failed"]))
        await asyncio.sleep(0.05)
        assert len(dialled) == 4, "at once"
        await asyncio.sleep(10.0)
        assert len(dialled) == 4 + 5, "which waited for a second, as long as opening a connection may take"
        assert failed.total() == 100
        assert connections.counts["not dialled"] == 91
        assert len(connections._failures) == 9, "nothing is held against the others"

    live_virtually(test)


def test_events_that_nobody_acknowledges_are_bounded_in_bytes() -> None:
    own, silent = (Descriptor.of(k, [0.0], [1.0], ("192.0.2.1", k)) for k in (1, 2))
    forwarder = Forwarder[m.Event](DisseminationSettings(), space=1000)
    for k in range(100):
        event = m.Event(k.to_bytes(16, "big"), (0.5,), 0, bytes(300))
        forwarder.begin(event, own.id, PeerLinks([], [], [silent]), now=0, dice=Dice(k))
        assert forwarder.held == sum(len(each.event.data) for each in forwarder.open.values()) <= 1000
    assert len(forwarder.open) == 3


def test_replies_that_wait_are_bounded_in_bytes_and_in_frames() -> None:
    async def test() -> None:
        for limits in (Limits(queue=10_000, queue_bytes=50_000), Limits(queue=10, queue_bytes=1 << 30)):
            channel, failed = Channel(Connections(PROTOCOL, print, limits)), Counter[str]()
            note = partial(failed.update, ["failed"])
            for _ in range(10):
                assert channel.post(bytes(5_000), note)
            assert channel.waiting.held == 50_000
            assert not channel.post(b"x")
            assert channel.closed
            await asyncio.sleep(0)
            assert failed.total() == 10
        small = Connections(PROTOCOL, print, Limits(queue_bytes=10))
        assert Channel(small).post(bytes(100))  # one frame may be larger

    live(test)


def test_unfinished_frames_are_bounded_in_bytes() -> None:
    async def test() -> None:
        async with nodes_without_rates(unfinished=2_500_000) as node:
            both = [await asyncio.open_connection(*node.address) for _ in range(4)]
            for _, writer in both:
                writer.write(struct.pack(">I", 1_000_000) + b"\x95")
            await until(lambda: node.connections.counts["malformed"] == 2)
            assert len(node.connections._incoming) == 2
            for _, writer in both:
                writer.close()

    live(test)


def test_without_a_seed_numbers_come_from_the_operating_system() -> None:
    node = Node(attributes=1)
    assert isinstance(node.dice, random.SystemRandom)
    assert node.fresh_seed() != node.fresh_seed()
    seeded = Node(attributes=1, seed=3)
    assert seeded.fresh_seed() == seeded.fresh_seed() != Node(attributes=1, seed=4).fresh_seed()


def test_an_address_is_advertised_apart_from_the_one_listened_on() -> None:
    async def test() -> None:
        with pytest.raises(InputError, match="advertise"):
            Node(attributes=1, listen=("0.0.0.0", 0))
        async with Node(
            attributes=1, listen=("0.0.0.0", 0), advertise=("127.0.0.1", 0), insecure=True
        ) as alice:
            assert alice.address[0] == "127.0.0.1"
            events = await alice.subscribe([0.0], [1.0])
            async with Node(attributes=1, contact=alice.address) as bob:
                assert (await bob.publish([0.5], b"x")).entry == events.own.id

    live(test)
