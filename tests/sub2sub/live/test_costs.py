"""What strangers can cost a node: each attack was found with a real attacker, and is bounded by a limit."""

from __future__ import annotations

import asyncio
import random
import struct
from collections import Counter
from contextlib import closing
from functools import partial
from unittest.mock import Mock

import pytest

from sub2sub.errors import InputError
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.peer import Forwarder, Views
from sub2sub.kernels.dice import Dice
from sub2sub.live import Core, CoreSettings, Limits, Node, run
from sub2sub.live.core import messages as m
from sub2sub.live.net.connections import Channel, Connections
from sub2sub.live.wire.format import MAX_FRAME, PROTOCOL, Frame, WireError, decode, encode
from sub2sub.overlay.descriptors import Descriptor
from tests.sub2sub.live.loopback import live, live_virtually, until


def frame(message: m.Message, to: int = 0, sender: int = 1) -> bytes:
    return encode(Frame(to, sender, message))


def nodes_without_rates(**limits: float) -> Node:
    return Node(attributes=1, period=5.0, limits=Limits(rate=1e9, burst=10**9, byte_burst=1e9, **limits))


def test_between_two_frames_of_a_flood_others_have_their_turn() -> None:
    async def test() -> None:
        async with nodes_without_rates(processor=1e9) as node:
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


def test_processor_time_is_paid_for_by_address() -> None:
    async def test() -> None:
        async with nodes_without_rates(processor=0.05) as node:
            loop = asyncio.get_running_loop()

            def slow(frame: Frame, channel: object) -> None:
                until = loop.time() + 0.01
                while loop.time() < until:
                    pass

            node.connections.handle = slow
            writers = [(await asyncio.open_connection(*node.address))[1] for _ in range(4)]
            for writer in writers:
                writer.write(frame(m.Probe(1)) * 500)
            await asyncio.sleep(1.0)
            assert node.connections.counts["frames in"] < 40  # 200 without a budget, 10 s for all
            for writer in writers:
                writer.close()

    live(test)


def test_frames_that_are_refused_are_paid_for_by_address_through_any_number_of_connections() -> None:
    async def test() -> None:
        async with nodes_without_rates(processor=0.05) as node:
            loop = asyncio.get_running_loop()

            class Slow:
                size_of = staticmethod(PROTOCOL.size_of)

                def decode(self, body: bytes) -> Frame:
                    until = loop.time() + 0.01
                    while loop.time() < until:
                        pass
                    raise ValueError("no frame")

            async def attack() -> None:
                while True:
                    reader, writer = await asyncio.open_connection(*node.address)
                    with closing(writer):
                        writer.write(frame(m.Probe(1)))
                        await reader.read()

            node.connections.format = Slow()
            attackers = [asyncio.create_task(attack()) for _ in range(4)]
            await asyncio.sleep(1.0)
            assert 0 < node.connections.counts["malformed"] < 40  # 100 without a budget
            for each in attackers:
                each.cancel()
            await asyncio.wait(attackers)

    live(test)


def test_a_host_with_many_connections_delays_others_by_few_frames() -> None:
    """It was by one dear frame for each of its connections: four hosts kept a process busy for 2.9 s."""

    async def test() -> None:
        connections = Connections(PROTOCOL, lambda frame, channel: cost.append(0.02), Limits(processor=0.5))
        cost = list[float]()
        connections.spent = lambda: sum(cost)
        for k in range(100):
            channel = Channel(connections)
            channel.connection_made(Mock(get_extra_info=lambda name: ("192.0.2.1", 1)))
            channel.data_received(frame(m.Probe(k)) * 2)
        assert len(cost) <= 4
        for _ in range(20):
            before = len(cost)
            await asyncio.sleep(0.0)
            assert len(cost) <= before + 1
        await until(lambda: len(cost) >= 30)  # all in turn, as its allowance is refilled
        for channel in list(connections._incoming):
            channel.close()

    live_virtually(test)


def test_a_frame_of_a_million_lists_or_maps_is_refused_before_they_are_made() -> None:
    """They took half a second of processor, most of it the garbage collector's."""
    for empty, what in ((b"\x90", "lists"), (b"\x80", "map")):
        body = b"\xdc\x07\xd0" + (b"\xdc\x02\x00" + empty * 512) * 2000
        assert len(body) < MAX_FRAME
        with pytest.raises(WireError, match=what):
            decode(body)


def test_a_frame_in_many_pieces_is_paid_for() -> None:
    async def test() -> None:
        connections = Connections(PROTOCOL, print, Limits(processor=0.01))
        transport = Mock(get_extra_info=lambda name: ("192.0.2.1", 1))
        channel = Channel(connections)
        channel.connection_made(transport)
        channel.data_received(struct.pack(">I", 60_000))
        for _ in range(2000):
            channel.data_received(b"x")
        transport.pause_reading.assert_called()
        assert isinstance(channel._unread, bytearray)  # which grows in place
        channel.close()

    live(test)


def test_what_arrives_while_a_host_has_to_wait_is_not_kept() -> None:
    """uvloop forgets a pause where a connection has just been made: 360 strangers cost 2 GB in 12 s."""

    async def test() -> None:
        async with Node(attributes=1, period=5.0) as node:
            connections, loop = node.connections, asyncio.get_running_loop()
            connections.charge("127.0.0.1", 1e6, 0, loop.time())
            _, writer = await asyncio.open_connection(*node.address)
            writer.write(frame(m.Probe(1)) * (1 << 20))
            await asyncio.sleep(0.5)
            (channel,) = connections._incoming
            assert 0 < len(channel._unread) <= 1 << 17
            writer.transport.abort()

    run(test())


def test_what_arrives_before_a_handshake_is_paid_for_waits_and_is_read_afterwards() -> None:
    async def test() -> None:
        frames = list[Frame]()
        connections = Connections(PROTOCOL, lambda frame, channel: frames.append(frame))
        channel, plain, secure = Channel(connections), Mock(), Mock()
        channel.transport = plain
        channel.data_received(frame(m.Probe(1)))
        plain.pause_reading.assert_called_once()
        channel.begin(secure)
        plain.resume_reading.assert_called_once()
        assert len(frames) == 1
        channel.close()

    live(test)


def test_bytes_are_counted_by_address() -> None:
    async def test() -> None:
        limits = Limits(rate=1e9, burst=10**9, byte_rate=1e5, byte_burst=1e5)
        async with Node(attributes=1, period=5.0, limits=limits) as node:
            writers = [(await asyncio.open_connection(*node.address))[1] for _ in range(8)]
            for writer in writers:
                writer.write(frame(m.Event(bytes(16), (9.0,), 0, bytes(50_000))) * 4)
            await asyncio.sleep(0.5)
            assert node.connections.counts["bytes in"] < 8 * 1e5  # each connection has one frame handled
            for writer in writers:
                writer.close()

    live(test)


def test_events_that_nobody_acknowledges_are_bounded_in_bytes() -> None:
    own, silent = (Descriptor.of(k, [0.0], [1.0], ("192.0.2.1", k)) for k in (1, 2))
    forwarder = Forwarder[m.Event](DisseminationSettings(), space=1000)
    for k in range(100):
        event = m.Event(k.to_bytes(16, "big"), (0.5,), 0, bytes(300))
        forwarder.begin(event, own.id, Views([], [], [silent]), now=0, dice=Dice(k))
        assert forwarder.held == sum(len(each.event.data) for each in forwarder.open.values()) <= 1000
    assert len(forwarder.open) == 3


def test_replies_that_wait_are_bounded_in_bytes_and_in_frames() -> None:
    async def test() -> None:
        for limits in (Limits(queue=10_000, queue_bytes=50_000), Limits(queue=10, queue_bytes=1 << 30)):
            channel, failed = Channel(Connections(PROTOCOL, print, limits)), Counter[str]()
            note = partial(failed.update, ["failed"])
            for _ in range(10):
                assert channel.post(bytes(5_000), note)
            assert channel.held == 50_000
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


def test_frames_that_are_announced_and_never_sent_keep_no_large_frame_out() -> None:
    """80 bytes of a stranger kept events of 65 kB from a node, and closed connections of its peers."""

    async def test() -> None:
        frames = list[Frame]()
        connections = Connections(PROTOCOL, lambda frame, channel: frames.append(frame), Limits())

        def channel_from(host: str) -> Channel:
            channel = Channel(connections)
            channel.connection_made(Mock(get_extra_info=lambda name: (host, 1)))
            return channel

        idle = [channel_from(f"192.0.2.{k % 4}") for k in range(60)]
        for each in idle:
            each.data_received(struct.pack(">I", MAX_FRAME))
        assert connections.unfinished.total <= Limits().unfinished
        large, honest = frame(m.Event(bytes(16), (0.5,), 0, bytes(65_536))), channel_from("192.0.2.9")
        honest.data_received(large[:-1])
        honest.data_received(large[-1:])
        assert len(frames) == 1
        assert not honest.closed
        for each in [*idle, honest]:
            each.close()
        assert connections.unfinished.total == 0

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
        async with Node(attributes=1, listen=("0.0.0.0", 0), advertise=("127.0.0.1", 0)) as alice:
            assert alice.address[0] == "127.0.0.1"
            events = await alice.subscribe([0.0], [1.0])
            async with Node(attributes=1, contact=alice.address) as bob:
                assert (await bob.publish([0.5], b"x")).entry == events.own.id

    live(test)


def test_of_many_neighbours_in_a_message_only_the_nearest_are_considered() -> None:
    own = Descriptor.of(1 << 63, [0.0] * 16, [1.0] * 16, ("127.0.0.1", 1))
    offered = []
    core = Core(own, lambda event: None, CoreSettings(wary=False))
    true = core.ring.consider

    def note(links: list[object], *rest: object, **options: object) -> object:
        offered.append(len(links))
        return true(links, *rest, **options)  # type: ignore[arg-type]

    core.ring.consider = note  # type: ignore[method-assign, assignment]
    dice = random.Random(1)
    peers = [Descriptor.of(dice.getrandbits(64), [0.0] * 16, [1.0] * 16, ("h", 1)) for _ in range(2000)]
    message = m.Ring(1, peers[0], m.Mentions(), m.Mentions(tuple(peers), (0,) * len(peers)))
    core.receive(message, peers[0].id, lambda stream: Dice(stream))
    assert max(offered) <= 130
    nearest = min(peers, key=lambda peer: (peer.id - own.id) % 2**64)
    assert nearest.id in core.ring.view


def test_many_neighbours_make_questions_end_sooner() -> None:
    """A message about 128 candidates to a view of 511 took a third of a second of processor."""
    need = Core(Descriptor.of(1, [0.0] * 16, [1.0] * 16), lambda event: None).ring.need
    usual, most = need._steps(14, 30), need._steps(511, 511)
    assert usual == need.max_steps == 250
    assert 511 * 511 * 16 * most <= need.work < 511 * 511 * 16 * (most + 1)
    assert Core(need.own, print, CoreSettings(wary=False)).ring.need._steps(511, 511) == 250
