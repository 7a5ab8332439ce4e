"""Strangers: each connects to nodes from a machine of its own, and says nothing that a node takes.

On a loopback address anything may connect, if only by mistake; with TLS all of these end at the handshake.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from sub2sub.live.wire.framing import LENGTH, MAX_FRAME
from tests.histories.history import PERIOD, PORT, History

CONNECTIONS = 40  # to each participant, of strangers that say nothing
MANY = b"\xdc\x08\x00"  # the head of a list of 2,048 items
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def visit(history: History, visitor: Callable[[Any, Streams], Awaitable[None]], count: int = 1) -> None:
    """Connect to all participants several times over, from a stranger's machine."""
    machine = history.network.machine(f"10.8.0.{history.dice.randint(1, 200)}")
    rounds = history.dice.randint(1, 5)

    async def program() -> None:
        for _ in range(rounds):
            for host in [each.host for each in history.participants]:
                with contextlib.suppress(OSError, EOFError, TimeoutError):
                    async with asyncio.timeout(PERIOD), contextlib.AsyncExitStack() as stack:
                        for _ in range(count):
                            streams = await asyncio.open_connection(host, PORT)
                            stack.callback(streams[1].close)
                            await visitor(host, streams)
                        await asyncio.sleep(0.1 * PERIOD)
            await asyncio.sleep(0.5 * PERIOD)

    await asyncio.wait([machine.start(program())])


async def malformed_frames(history: History) -> None:
    """Send bytes that are no frame: of another protocol, of a wrong length, random, deep, cut short."""
    noise = history.dice.randbytes(64)

    def framed(body: bytes) -> bytes:
        return LENGTH.pack(len(body)) + body

    sent = [
        b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise, noise,
        framed(noise), framed(b"\x91" * 60_000), framed(MANY + b"\x90" * 2048), LENGTH.pack(MAX_FRAME + 1),
        LENGTH.pack(MAX_FRAME) + noise, LENGTH.pack(0),
    ]  # fmt: skip

    async def visitor(host: str, streams: Streams) -> None:
        streams[1].write(history.dice.choice(sent))

    await visit(history, visitor, count=4)


async def refused_strangers(history: History) -> None:
    """Open more connections than a participant may have, and say nothing."""

    async def visitor(host: str, streams: Streams) -> None:
        """Say nothing."""

    await visit(history, visitor, CONNECTIONS)


STRANGERS = [malformed_frames, refused_strangers]
