"""Processes in several communities: what one membership leaves behind when it ends."""

from __future__ import annotations

import asyncio

import pytest

from hierarchy.live import Process
from sub2sub.live.virtual.conditions import Network
from sub2sub.live.virtual.loop import VirtualLoop


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("membership", ["semi-structured", "structured"])
def test_a_member_enters_the_overlay_though_the_one_it_would_enter_through_has_left(
    membership: str, others: int
) -> None:
    """It asked the other member of its process for a place, which had left its community, and nobody else."""
    network, known = Network(1), [("127.0.0.1", 7000)]

    async def begin(host: str, *topics: str) -> Process:
        process = Process({"*": known[:others]}, (host, 7000), seed=1, membership=membership)
        await process.open()
        for topic in topics:
            await process.community(topic).subscribe(lambda event: None)
        return process

    async def test() -> None:
        if others:
            await network.machine("127.0.0.1").start(begin("127.0.0.1", "."))
            await asyncio.sleep(10.0)
        here = network.machine("127.0.0.2")
        process = await here.start(begin("127.0.0.2", ".a", ".b"))
        await here.start(process.community(".a").leave())
        await asyncio.sleep(10.0)
        (member,) = process.cores.values()
        assert member.own.topic == ".b"
        assert member.grid.placed
        assert bool(member.grid.peer.buddies[0]) == bool(others)

    VirtualLoop(network).run(test())
