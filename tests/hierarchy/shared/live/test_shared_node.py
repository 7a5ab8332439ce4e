"""Live nodes of the shared overlay: topics and ranges, either way of publishing, topics that change."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from hierarchy.peers.route_choice import STRANGER
from hierarchy.shared import CamcastRoute
from hierarchy.shared.live import SharedNode
from hierarchy.shared.live import table_messages as t
from hierarchy.shared.live.table_wire import PROTOCOL
from hierarchy.topics import NestedRanges, TopicTree
from sub2sub.errors import InputError
from sub2sub.live import Limits, Tls
from sub2sub.live.authority import Authority
from sub2sub.live.core.messages import Mentions, Send
from sub2sub.live.core.suspects import Suspects
from sub2sub.live.net.identity import is_bound
from sub2sub.live.virtual.conditions import Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.wire.framing import Frame, WireError
from sub2sub.peers.descriptors import Descriptor
from tests.sub2sub.live.loopback import live_virtually
from tests.sub2sub.live.strategies import mention, mentioned

PERIOD = 0.05
ITALY = ".soccer.italy"
TO_ALL = CamcastRoute(c=16.0, g=1000.0)


def topics() -> NestedRanges:
    return NestedRanges(TopicTree.from_paths([".soccer.italy", ".tennis"]), span=4096)


async def heard(events, count: int) -> list[bytes]:
    return sorted([(await asyncio.wait_for(anext(events), 10)).data for _ in range(count)])


def test_one_overlay_carries_topics_and_ranges_and_each_publication_chooses_its_way() -> None:
    async def story() -> None:
        async with SharedNode(topics(), period=PERIOD, seed=1) as alice:
            soccer = await alice.subscribe_topic(".soccer")
            low, high = topics().range(".soccer.italy")
            some = await alice.subscribe([float(low)], [float(low + 1)])
            async with SharedNode(topics(), contact=alice.address, period=PERIOD, seed=2) as bob:
                italy = await bob.subscribe_topic(".soccer.italy")
                await asyncio.sleep(12 * PERIOD)
                await bob.publish_topic(".soccer.italy", b"tables", TO_ALL)
                await bob.publish_topic(".soccer.italy", b"rings")
                await bob.publish_topic(".tennis", b"nobody")
                for events in (soccer, some, italy):
                    assert await heard(events, 2) == [b"rings", b"tables"]
                assert bob.counts["spam"] + alice.counts["spam"] == 0
                assert high > low + 1

    live_virtually(story)


def test_a_publisher_chooses_a_route_by_what_it_asks_the_communities_above() -> None:
    async def story() -> None:
        async with AsyncExitStack() as stack:
            nodes: list[SharedNode] = []
            for k in range(10):
                contact = nodes[0].address if nodes else None
                node = SharedNode(topics(), contact=contact, period=PERIOD, seed=k)
                nodes.append(await stack.enter_async_context(node))
                await node.subscribe_topic(".soccer" if k < 4 else ITALY)
            await asyncio.sleep(20 * PERIOD)
            published = await nodes[-1].publish_topic(ITALY, b"tables", "auto")
            sizes = "communities of 6, 4, 0% ranges: 7 copies besides their rings, 10 along the rings of all"
            assert (published.route, published.why) == ("camcast", sizes)
            for node in nodes[6:8]:  # two of twelve that match are range subscribers
                low, _ = topics().range(ITALY)
                await node.subscribe([float(low)], [float(low + 1)])
            await asyncio.sleep(20 * PERIOD)
            published = await nodes[-1].publish_topic(ITALY, b"rings", "auto")
            sizes = sizes.replace("0%", "18%").replace("7 copies", "11 copies")
            assert (published.route, published.why) == ("rings", sizes)
            nodes[-1].request = silence
            published = await nodes[-1].publish_topic(ITALY, b"unanswered", "auto")
            alone = "nobody answered in the community above that of 6"
            assert (published.route, published.why) == ("rings", alone)
            stranger = await nodes[0].publish_topic(ITALY, b"stranger", "auto")
            assert (stranger.route, stranger.why) == ("rings", STRANGER)
            for node in nodes:
                assert await heard(node.followed[0], 4) == [b"rings", b"stranger", b"tables", b"unanswered"]

    live_virtually(story)


async def silence(to: object, message: object) -> None:
    """In the place of a node's requests: nobody answers."""


def test_an_event_by_tables_into_a_connection_that_is_reset_is_sent_once_more() -> None:
    """Its other end has returned with the network cut; nobody acknowledges such an event."""
    network, here, there = Network(1), ("127.0.0.1", 7000), ("127.0.0.2", 7000)

    async def begin(at: tuple[str, int], contact: tuple[str, int] | None = None) -> SharedNode:
        node = SharedNode(topics(), contact=contact, listen=at, seed=1)
        await node.open()
        await node.subscribe_topic(".soccer")
        return node

    async def story() -> None:
        one, other = network.machine(here[0]), network.machine(there[0])
        node = await one.start(begin(here))
        (own,) = node.cores.values()
        await other.start(begin(there))

        async def send(number: int) -> None:
            event = t.Routed(bytes([number]) * 16, own.own.low, 0, 16.0, 1000.0, 1.0, b"")
            node.dispatch(own, [Send(replace(own.own, id=9, address=there), event)])
            await asyncio.sleep(4.0)

        await one.start(send(1))
        other.crash(silent=True)
        returned = await network.machine(there[0]).start(begin(there))
        heard = returned.counts["frames in"]
        await one.start(send(2))
        assert returned.counts["frames in"] == heard + 1
        assert own._tries == {}

    VirtualLoop(network).run(story())


def test_topics_are_added_given_a_second_parent_moved_and_removed_while_running() -> None:
    async def story() -> None:
        async with SharedNode(topics(), period=PERIOD, seed=1) as alice:
            tennis = await alice.subscribe_topic(".tennis")
            async with SharedNode(topics(), contact=alice.address, period=PERIOD, seed=2) as bob:
                for node in (alice, bob):
                    await node.add_topic(".soccer.italy.roma")
                    await node.add_parent(".soccer.italy", ".tennis")
                roma = await bob.subscribe_topic(".soccer.italy.roma")
                assert len(tennis.parts) == 2  # its own range, and that of its new subtopic
                await asyncio.sleep(12 * PERIOD)
                await bob.publish_topic(".soccer.italy.roma", b"by rings")
                assert await heard(tennis, 1) == [b"by rings"]
                before = bob.topics.range(".soccer.italy.roma")
                added = 0
                while bob.topics.range(".soccer.italy.roma") == before:  # until ranges have to move
                    for node in (alice, bob):
                        await node.add_topic(f".soccer.italy.roma.t{added}")
                    added += 1
                assert roma.parts[0].own.low == (float(bob.topics.range(".soccer.italy.roma")[0]),)
                await asyncio.sleep(12 * PERIOD)
                await bob.publish_topic(".soccer.italy.roma", b"moved", TO_ALL)
                assert b"moved" in await heard(roma, 2)
                for node in (alice, bob):
                    await node.remove_topic(".soccer.italy.roma.t0")
                with pytest.raises(InputError, match=r"roma\.t0"):
                    await bob.publish_topic(".soccer.italy.roma.t0", b"")

    live_virtually(story)


def test_live_topics_are_moved_below_another_and_renamed_while_running() -> None:
    async def story() -> None:
        async with SharedNode(topics(), period=PERIOD, seed=1) as alice:
            soccer, tennis = [await alice.subscribe_topic(topic) for topic in (".soccer", ".tennis")]
            async with SharedNode(topics(), contact=alice.address, period=PERIOD, seed=2) as bob:
                italy = await bob.subscribe_topic(ITALY)
                for node in (alice, bob):
                    await node.move_topic(ITALY, ".tennis")
                    await node.rename_topic(ITALY, ".tennis.rome")
                await asyncio.sleep(12 * PERIOD)
                await bob.publish_topic(".tennis.rome", b"rome", TO_ALL)
                await bob.publish_topic(".soccer", b"cup")
                assert await heard(tennis, 1) == await heard(italy, 1) == [b"rome"]
                assert await heard(soccer, 1) == [b"cup"]  # and nothing of what is elsewhere now
                with pytest.raises(InputError, match=r"soccer\.italy"):
                    await bob.publish_topic(ITALY)

    live_virtually(story)


def test_ids_are_bound_to_certificates_and_say_whether_a_subscription_is_a_topics(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "swarm")
    ours, theirs = (Tls(authority.issue(name)) for name in ("ours", "theirs"))

    async def story() -> None:
        limits = Limits(subscriptions=4)
        async with SharedNode(topics(), period=PERIOD, tls=ours, limits=limits) as alice:
            parts = [(await alice.subscribe_topic(topic)).parts[0] for topic in (".soccer", ".tennis")]
            some = await alice.subscribe([0.0], [1.0])
            assert [each.own.id & 0xFF for each in (*parts, some)] == [1, 3, 0]
            assert all(is_bound(each.own.id, alice.identity or b"", 4) for each in parts)
            with pytest.raises(InputError, match=r"limits\.subscriptions: .* to a topic"):
                await alice.subscribe_topic(".soccer.italy")
            async with SharedNode(
                topics(), contact=alice.address, period=PERIOD, tls=theirs, limits=limits
            ) as bob:
                await bob.subscribe_topic(".soccer.italy")
                await bob.publish_topic(".soccer.italy", b"goal", TO_ALL)
                while not alice.counts["delivered"]:
                    await asyncio.sleep(PERIOD)
                assert alice.counts["forged"] + bob.counts["forged"] == 0
                chosen = Descriptor.of(parts[0].own.id + 2, [0.0], [1.0], ("127.0.0.1", 9))
                links = Mentions((chosen,), (0,))
                lies = [
                    t.Greet(1, chosen), t.Inquire(2, chosen), t.Alike(3, links),
                    t.Tables(4, chosen, links, links, links), t.Greeted(5),
                ]  # fmt: skip
                for lie in lies:
                    bob.post(parts[0].own, chosen.id, lie, lambda: None)
                while alice.counts["forged"] < len(lies):
                    await asyncio.sleep(PERIOD)

    asyncio.run(asyncio.wait_for(story(), 30))


def test_peers_that_were_silent_once_are_remembered_within_bounds() -> None:
    suspects = Suspects()
    for id in range(5000):
        assert not suspects.is_silent_again(id, now=1)
    assert not suspects.is_silent_again(9999, now=1)
    assert suspects.is_silent_again(9999, now=2)
    assert len(suspects) <= 1024


def test_mistakes_are_one_line() -> None:
    async def story() -> None:
        async with SharedNode(topics(), period=PERIOD) as node:
            with pytest.raises(InputError, match="golf"):
                await node.subscribe_topic(".golf")
            with pytest.raises(InputError, match="callback: expected a function"):
                await node.subscribe_topic(".tennis", callback=3)
            with pytest.raises(InputError, match=r"expected one this node subscribes to, got '\.tennis'"):
                await node.publish_topic(".tennis", b"", CamcastRoute())
            with pytest.raises(InputError, match="data: expected bytes, got str"):
                await node.publish_topic(".tennis", "text")
            with pytest.raises(InputError, match="route: expected a CamcastRoute, 'auto', or none"):
                await node.publish_topic(".tennis", b"", "rings")
        with pytest.raises(InputError, match="topics: expected NestedRanges, got None"):
            SharedNode(None)

    asyncio.run(story())


def test_a_publisher_waits_until_it_knows_who_is_above() -> None:
    async def story() -> None:
        async with SharedNode(topics(), period=PERIOD, seed=5) as alice:
            root = await alice.subscribe_topic(".")
            async with SharedNode(topics(), contact=alice.address, period=PERIOD, seed=6) as bob:
                await bob.subscribe_topic(".soccer.italy")
                await bob.publish_topic(".soccer.italy", b"at once", CamcastRoute())
                assert await heard(root, 1) == [b"at once"]

    live_virtually(story)


def test_messages_survive_the_wire_and_wrong_ones_are_refused() -> None:
    peer = Descriptor.of(7, [1.0], [2.0], ("127.0.0.1", 9))
    links = mentioned(mention(peer, 3))
    for message in (
        t.Alike(1, links), t.Greet(2, peer), t.Greeted(2), t.Inquire(3, peer), t.Ways(3, links),
        t.Tables(4, peer, links, Mentions(), links), t.TablesBack(4, Mentions(), links, Mentions()),
        t.Routed(bytes(16), (1.5,), 2, 1.0, 10.0, 1.0, b"x"),
    ):  # fmt: skip
        assert PROTOCOL.decode(PROTOCOL.encode(Frame(1, 2, message))[4:]).message == message
    for wrong in (
        t.Routed(bytes(16), (1.5,), 2, -1.0, 10.0, 1.0, b""),
        t.Routed(bytes(3), (1.5,), 2, 1.0, 10.0, 1.0, b""),
    ):
        with pytest.raises(WireError, match="Routed"):
            PROTOCOL.decode(PROTOCOL.encode(Frame(1, 2, wrong))[4:])
