"""How a publisher finds its way among silent and lying peers, and whom it begins with."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from sub2sub.errors import InputError
from sub2sub.events.publishing import PublisherSettings
from sub2sub.events.walk import Walk
from sub2sub.live import Node
from sub2sub.live.core import messages as m
from sub2sub.live.net.entry import MOST, EntrySearch
from sub2sub.live.wire.format import PROTOCOL, Frame, encode
from sub2sub.overlay.descriptors import Descriptor
from tests.sub2sub.live.loopback import live, live_virtually, until


def test_an_idle_publisher_asks_its_contact_again() -> None:
    async def test() -> None:
        async with Node(attributes=1, period=0.05) as contact:
            first = Node(attributes=1, period=0.05, contact=contact.address)
            await first.__aenter__()
            await contact.subscribe([5.0], [6.0])
            await first.subscribe([0.0], [1.0])
            async with Node(attributes=1, contact=contact.address, reply=0.5) as publisher:
                await publisher.publish([0.5])
                await first.leave()  # all it knows by now is gone
                publisher.contacts = [each for each in publisher.contacts if each.address == first.address]
                async with Node(attributes=1, period=0.05, contact=contact.address) as second:
                    events = await second.subscribe([0.0], [1.0])
                    await until(lambda: bool(events.core.random.view or events.core.near.view))
                    await asyncio.sleep(0.5)
                    published = await publisher.publish([0.5], b"late")
                    assert published.outcome == "taken"
                    assert (await anext(events)).data == b"late"

    live_virtually(test)


def test_a_publisher_does_not_wait_for_silent_entries_and_says_when_it_does_not_know() -> None:
    async def test() -> None:
        silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)  # never answers
        at = silent.sockets[0].getsockname()
        peers = [Descriptor.of(k, [0.0], [1.0], at) for k in range(1, 5)]
        async with Node(attributes=1, period=0.05) as alice:
            own = (await alice.subscribe([0.0], [1.0])).own
            async with Node(attributes=1, reply=5.0) as publisher:
                publisher.contacts = [*peers, own]
                began = asyncio.get_running_loop().time()
                assert (await publisher.publish([0.5])).entry == own.id
                assert asyncio.get_running_loop().time() - began < 20.0  # one after the other: 20 s and more
                publisher.reply = 0.5
                publisher.contacts = peers[:2]
                unknown = await publisher.publish([0.5])
                assert (unknown.outcome, unknown.entry) == ("unknown", None)
                publisher.contacts = [own]
                assert (await publisher.publish([3.0])).outcome == "nobody"
        silent.close()

    live_virtually(test)


def test_a_publisher_that_begins_anew_asks_nobody_again() -> None:
    """Publishing what nobody wanted took six cycles and more, as others still knew one that had crashed."""

    async def test() -> None:
        silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)  # never answers
        gone = Descriptor.of(1, [2.0], [2.5], silent.sockets[0].getsockname())
        async with Node(attributes=1, period=1000.0) as contact:
            core = (await contact.subscribe([0.0], [1.0])).core
            core.join([gone])
            async with Node(attributes=1, reply=5.0, contact=contact.address) as publisher:
                began = asyncio.get_running_loop().time()
                assert (await publisher.publish([3.0])).outcome == "unknown"
                assert 5.0 <= asyncio.get_running_loop().time() - began < 6.0
                assert contact.connections.counts["frames in"] == 3  # two Joins and a question
        silent.close()

    live_virtually(test)


def test_after_an_event_was_not_answered_nobody_is_handed_it_at_that_address() -> None:
    """Two subscribers of a node that had crashed were each waited for twice: more than six cycles."""

    async def test() -> None:
        silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)  # never answers
        gone = [Descriptor.of(id, [0.0], [1.0], silent.sockets[0].getsockname()) for id in (1, 2)]
        async with Node(attributes=1, period=1000.0) as contact:
            (await contact.subscribe([2.0], [3.0])).core.join(gone)
            async with Node(attributes=1, reply=5.0, contact=contact.address) as publisher:
                began = asyncio.get_running_loop().time()
                assert (await publisher.publish([0.5])).outcome == "unknown"
                assert 5.0 <= asyncio.get_running_loop().time() - began < 8.0
        silent.close()

    live_virtually(test)


def test_an_event_is_handed_to_two_entries_so_that_one_cannot_swallow_it() -> None:
    """One of two peers takes it and passes nothing on; whichever is asked first, both get it."""

    async def test() -> None:
        swallowed: list[bytes] = []

        async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer):
                while prefix := await reader.read(4):
                    frame = PROTOCOL.decode(await reader.readexactly(PROTOCOL.size_of(prefix)))
                    name = frame.message.name
                    swallowed.append(name)
                    writer.write(encode(Frame(frame.sender, frame.to, m.Taken(name, took=True))))

        server = await asyncio.start_server(swallow, "127.0.0.1", 0)
        liar = Descriptor.of(7, [0.0], [1.0], server.sockets[0].getsockname())
        heard: list[bytes] = []
        async with Node(attributes=1, period=0.05) as alice:
            own = (await alice.subscribe([0.0], [1.0], lambda event: heard.append(event.name))).own
            async with Node(attributes=1) as publisher:
                for contacts in ([liar, own], [own, liar]):
                    publisher.contacts = contacts
                    name = (await publisher.publish([0.5])).name
                    await until(lambda name=name: name in heard and name in swallowed)
        server.close()

    live(test)


def test_the_two_entries_are_at_different_hosts_where_there_are_any() -> None:
    async def search(hosts: list[str]) -> list[str]:
        event, handed = m.Event(bytes(16), (0.5,), 0, b""), list[str]()

        async def take(peer: Descriptor, event: m.Event | None) -> m.Taken:
            handed.append(peer.address[0])
            return m.Taken(bytes(16), took=True)

        walk = Walk((0.5,), PublisherSettings())
        walk.learn(Descriptor.of(1 + k, [0.0], [1.0], (host, 1)) for k, host in enumerate(hosts))
        await EntrySearch(event, walk, take, hedge=5.0).run()
        return handed

    async def test() -> None:
        liar, honest = "192.0.2.1", "192.0.2.2"
        assert await search([liar, liar, liar, honest]) == [liar, honest]
        assert await search([liar] * 9) == [liar] * MOST

    live(test)


def test_several_contacts_are_asked_and_one_has_to_answer() -> None:
    async def test() -> None:
        async with Node(attributes=1) as one, Node(attributes=1) as two:
            known = {(await node.subscribe([0.0], [1.0])).own.id for node in (one, two)}
            nobody = ("127.0.0.9", 9)
            async with Node(attributes=1, contact=[nobody, one.address, two.address]) as node:
                assert {peer.id for peer in node.contacts} == known
            with pytest.raises(ConnectionError, match=r"127\.0\.0\.9"):
                await Node(attributes=1, contact=[nobody, nobody]).__aenter__()
        for wrong in ("here", [("h", 1), "there"], 5):
            with pytest.raises(InputError, match=r"contact: expected \(host, port\)"):
                Node(attributes=1, contact=wrong)  # type: ignore[arg-type]

    live(test)


def test_contacts_are_of_several_hosts() -> None:
    node = Node(attributes=1)
    honest = [Descriptor.of(k, [0.0], [1.0], (f"192.0.2.{k}", 1)) for k in range(1, 9)]
    lies = [Descriptor.of(100 + k, [0.0], [1.0], ("198.51.100.1", k)) for k in range(1, 100)]
    node._keep([*honest, *lies])
    assert {peer.id for peer in honest} < {peer.id for peer in node.contacts}
