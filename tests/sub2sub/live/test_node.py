"""Live nodes over loopback TCP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from sub2sub.errors import InputError
from sub2sub.live import Node, Received
from sub2sub.live.wire.format import UNIT
from sub2sub.peers.descriptors import Descriptor, Link
from tests.sub2sub.live.loopback import live, live_virtually, until


def test_a_callback_is_called_with_what_matches_and_nothing_else() -> None:
    async def test() -> None:
        heard: list[Received] = []
        async with Node(attributes=2, period=0.05) as alice:
            await alice.subscribe([0.0, 0.0], [1.0, 0.5], heard.append)
            async with Node(attributes=2, contact=alice.address, period=0.05) as bob:
                assert (await bob.publish([0.5, 0.9])).entry is None
                published = await bob.publish([0.5, 0.5], b"x")
                assert published.entry is not None
                await until(lambda: bool(heard))
        assert [(each.name, each.point, each.data) for each in heard] == [(published.name, (0.5, 0.5), b"x")]

    live(test)


def test_peers_that_join_one_contact_deliver_to_exactly_the_matches() -> None:
    async def test() -> None:
        async with AsyncExitStack() as stack:
            first = await stack.enter_async_context(Node(attributes=1, period=0.05, seed=1))
            nodes = [first]
            heard: list[tuple[int, bytes]] = []
            for k in range(12):
                if k:
                    node = Node(attributes=1, period=0.05, contact=first.address, seed=k + 1)
                    nodes.append(await stack.enter_async_context(node))
                await nodes[k].subscribe([k / 12], [k / 12 + 0.5], _note(heard, k))
            cores = [each.core for node in nodes for each in node.subscriptions.values()]
            await until(lambda: all(len(each.ring.view) >= 2 for each in cores))
            await asyncio.sleep(1.0)
            for x in (0.2, 0.6, 1.2):
                heard.clear()
                published = await nodes[0].publish([x], b"")
                want = {(k, published.name) for k in range(12) if k / 12 <= x <= k / 12 + 0.5}
                await until(lambda want=want: set(heard) >= want)
                assert sorted(heard) == sorted(want)

    live_virtually(test)


def test_one_node_may_have_several_subscriptions_and_end_them() -> None:
    async def test() -> None:
        async with Node(attributes=1, period=0.05) as alice:
            low, high = await alice.subscribe([0.0], [0.4]), await alice.subscribe([0.3], [1.0])
            await until(lambda: bool(low.core.ring.view) and bool(high.core.ring.view))
            async with Node(attributes=1, contact=alice.address) as bob:
                await bob.publish([0.35], b"both")
                assert (await anext(low)).data == b"both"
                assert (await anext(high)).data == b"both"
                await alice.unsubscribe(low)
                assert [event async for event in low] == []
                assert (await bob.publish([0.1])).entry is None
            with pytest.raises(InputError):
                await alice.unsubscribe(low)

    live(test)


def test_a_contact_that_is_not_there_is_an_error_and_leaves_nothing_open() -> None:
    async def test() -> None:
        async with Node(attributes=1) as gone:
            address = gone.address
        with pytest.raises(ConnectionError, match="nobody answers"):
            async with Node(attributes=1, contact=address, reply=2.0):
                pass

    live_virtually(test)


def test_a_failing_callback_keeps_the_event_from_nobody() -> None:
    async def test() -> None:
        def fail(event: Received) -> None:
            raise RuntimeError("an application's mistake")

        async with Node(attributes=1, period=0.05) as alice:
            failing = await alice.subscribe([0.0], [1.0], fail)
            async with Node(attributes=1, contact=alice.address, period=0.05) as bob:
                events = await bob.subscribe([0.0], [1.0])
                await until(lambda: bool(events.core.ring.view) and bool(failing.core.ring.view))
                await alice.publish([0.5], b"x")
                assert (await anext(events)).data == b"x"

    live(test)


def test_a_publisher_that_has_just_lost_its_only_neighbour_hands_its_event_to_others() -> None:
    async def test() -> None:
        async with Node(attributes=1, period=0.05) as alice:
            lonely = await alice.subscribe([0.0], [1.0])
            async with Node(attributes=1, contact=alice.address, period=0.05) as bob:
                events = await bob.subscribe([0.0], [1.0])
                await until(lambda: bool(events.core.ring.view) and bool(lonely.core.ring.view))
                core = lonely.core
                for id in list(core.ring.view):
                    core.ring.remove(id, core.now)
                for view in (core.near.view, core.random.view):  # links too old for shortcuts
                    view[:] = [Link(events.own, core.now - 10 * UNIT)]
                published = await alice.publish([0.5], b"x")
                assert published.entry == lonely.own.id
                assert (await anext(events)).data == b"x"

    live_virtually(test)


def _note(heard: list[tuple[int, bytes]], k: int) -> Callable[[Received], None]:
    return lambda event: heard.append((k, event.name))


def test_a_tick_that_fails_is_counted_and_does_not_stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with Node(attributes=1, period=0.02) as node:
            broken, whole = await node.subscribe([0.0], [1.0]), await node.subscribe([0.0], [1.0])
            monkeypatch.setattr(broken.core, "tick", lambda draws: 1 / 0)
            before = whole.core.turn
            await until(lambda: node.counts["broken ticks"] > 1 and whole.core.turn > before + 1)

    live(test)


def test_contacts_of_a_new_peer_do_not_pass_for_peers_that_were_just_heard_from() -> None:
    """A peer that had changed told neighbours of the dead as if it had heard from them."""

    async def test() -> None:
        async with Node(attributes=1, period=1000.0) as node:
            node.contacts = [Descriptor.of(7, [0.0], [1.0], ("127.0.0.1", 9))]
            core = (await node.subscribe([0.0], [1.0])).core
            assert [core.now - link.stamp for link in core.random.view] == [UNIT]

    live(test)
