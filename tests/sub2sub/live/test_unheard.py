"""Frames into a connection whose other end is gone: events are sent once more."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from sub2sub.live import Node
from sub2sub.live.core import messages as m
from sub2sub.live.virtual.conditions import Network
from sub2sub.live.virtual.loop import VirtualLoop
from tests.sub2sub.live.test_costs import frame

HERE, THERE = ("127.0.0.1", 7000), ("127.0.0.2", 7000)


@pytest.mark.parametrize(("later", "arrives"), [(1.0, True), (4.0, False)])
def test_an_event_is_sent_once_more_when_its_connection_is_reset_soon_after(
    later: float, arrives: bool
) -> None:
    """Nodes that had returned during a partition did not get events: the first was lost unnoticed.

    What comes back soon after a frame may have been on its way before: an answer says nothing of others.
    """
    network, failed = Network(1), list[str]()

    async def test() -> None:
        here, there = network.machine(HERE[0]), network.machine(THERE[0])
        node, other = Node(attributes=1, listen=HERE), Node(attributes=1, listen=THERE)
        await here.start(node.open())
        await there.start(other.open())

        async def post(message: m.Message, name: str, again: bool) -> None:
            node.connections.post(THERE, frame(message), partial(failed.append, name), again)
            await asyncio.sleep(1.0)

        await here.start(post(m.Leave(), "event", again=True))
        await here.start(post(m.Join(1), "question", again=False))  # it is answered
        await asyncio.sleep(later)
        there.crash(silent=True)
        returned = Node(attributes=1, listen=THERE)
        await network.machine(THERE[0]).start(returned.open())
        await here.start(post(m.Leave(), "heartbeat", again=False))
        assert returned.counts["frames in"] == arrives
        await here.start(post(m.Leave(), "event", again=True))
        assert returned.counts["frames in"] == 1 + arrives
        assert failed == []

    VirtualLoop(network).run(test())
