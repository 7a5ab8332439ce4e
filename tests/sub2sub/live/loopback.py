"""Running a test over loopback that stops by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sub2sub.live.net.warmup import warm_up

HARD_LIMIT = 60.0


def live(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test that stops by itself, whatever happens."""

    async def bounded() -> None:
        async with asyncio.timeout(HARD_LIMIT):
            await test()

    warm_up()
    asyncio.run(bounded())


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.02)
