"""How a publisher finds its way among silent peers, and whom it begins with."""

from __future__ import annotations

import asyncio

import pytest

from sub2sub.errors import InputError
from sub2sub.live import Node
from sub2sub.peers.descriptors import Descriptor
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
