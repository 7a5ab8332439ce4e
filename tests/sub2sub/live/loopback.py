"""Running a test of live nodes: over loopback, or in virtual time, whatever the speed of the machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from sub2sub.live.virtual.conditions import Conditions, Network
from sub2sub.live.virtual.loop import VirtualLoop

HARD_LIMIT = 60.0
LOOPBACK = Conditions(latency=(0.0001, 0.0001), jitter=0.0)


def live(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test that stops by itself, whatever happens."""

    async def bounded() -> None:
        async with asyncio.timeout(HARD_LIMIT):
            await test()

    asyncio.run(bounded())


def live_virtually(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test on a simulated machine in virtual time: however busy the real one is, seconds are exact."""
    network = Network(1, LOOPBACK)

    async def bounded() -> None:
        async with asyncio.timeout(HARD_LIMIT):
            await network.machine("127.0.0.1").start(test())

    loop = VirtualLoop(network)
    loop.run(bounded())
    assert not loop.broken


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.02)
