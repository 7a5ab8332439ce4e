"""Hostile machines: each connects to nodes as a stranger would, and lies for a while.

What a liar knows it has asked for, as anybody may: a node names itself and a few others to newcomers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from sub2sub.live.core import messages as m
from sub2sub.live.virtual.history import PERIOD, PORT, History
from sub2sub.live.wire import format as wire
from sub2sub.live.wire.framing import Protocol
from sub2sub.overlay.descriptors import Descriptor

NOWHERE = ("10.9.9.9", 9)


class Liar:
    """A stranger's connection to a victim, over any protocol."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: Protocol = wire.PROTOCOL
    ) -> None:
        self.reader, self.writer, self.protocol = reader, writer, protocol

    def say(self, message: Any, to: int = 0, sender: int = 1) -> None:
        """Send a frame in anybody's name."""
        self.writer.write(self.protocol.encode(wire.Frame(to, sender, message)))

    async def ask(self, request: Any, reply: type[Any]) -> Any:
        """Ask, and wait for a reply of a kind."""
        self.say(request)
        while True:
            size = wire.size_of(await self.reader.readexactly(4))
            message = self.protocol.decode(await self.reader.readexactly(size)).message
            if isinstance(message, reply):
                return message


async def visit(
    history: History, lie: Callable[[Liar, Any], Awaitable[None]], protocol: Protocol = wire.PROTOCOL
) -> None:
    """Visit all participants again and again from a machine of one's own."""
    machine = history.network.machine(f"10.8.0.{history.dice.randint(1, 200)}")
    rounds = history.dice.randint(1, 5)

    async def program() -> None:
        for _ in range(rounds):
            for victim in history.participants:
                with contextlib.suppress(OSError, EOFError, TimeoutError):
                    async with asyncio.timeout(PERIOD):
                        reader, writer = await asyncio.open_connection(victim.host, PORT)
                        try:
                            await lie(Liar(reader, writer, protocol), victim)
                            await asyncio.sleep(0.1 * PERIOD)
                        finally:  # otherwise it would be closed when Python collects garbage
                            writer.close()
            await asyncio.sleep(0.5 * PERIOD)

    await asyncio.wait([machine.start(program())])


async def _lie(history: History, lie: Callable[[Liar, list[Descriptor]], None]) -> None:
    """Tell each victim a lie about those it names to a newcomer, itself first."""

    async def spy_and_lie(liar: Liar, victim: Any) -> None:
        known = [each.peer for each in (await liar.ask(m.Join(1), m.Welcome)).links]
        if known:
            lie(liar, known)

    await visit(history, spy_and_lie)


async def inventor(history: History) -> None:
    """Invents peers right beside everybody, where nobody is."""

    def lie(liar: Liar, known: list[Descriptor]) -> None:
        victim = known[0]
        for step in (-2, -1, 1, 2):
            other = Descriptor((victim.id + step) % 2**64, victim.low, victim.high, NOWHERE)
            liar.say(m.Hello(other), victim.id, other.id)
            liar.say(m.Near(7, m.Mentions((other,), (0,))), victim.id, other.id)
            liar.say(m.Shuffle(8, m.Mentions((other,), (0,))), victim.id, other.id)

    await _lie(history, lie)


async def forger_of_goodbyes(history: History) -> None:
    """Says goodbye to everybody in everybody else's name, and that events were not taken."""

    def lie(liar: Liar, known: list[Descriptor]) -> None:
        for other in known[1:]:
            liar.say(m.Leave(), known[0].id, other.id)
            liar.say(m.Taken(bytes(16), took=False), known[0].id, other.id)

    await _lie(history, lie)


async def rubbish(history: History) -> None:
    """Sends what is no frame, frames at the limit of every field, and replies nobody waits for."""
    salt = history.dice.randbytes(64)

    def lie(liar: Liar, known: list[Descriptor]) -> None:
        own = known[0]
        middle = tuple((low + high) / 2 for low, high in zip(own.low, own.high, strict=True))
        liar.say(m.Event(salt[:16], middle, m.MAX_HOPS, b"far"), own.id)
        liar.say(m.Event(salt[16:32], middle, m.MAX_HOPS - 1, b"nearly as far"), own.id)
        liar.say(m.Event(salt[32:48], tuple(x + 5.0 for x in own.high), 0, b"unwanted"), own.id)
        for kind in (m.Shuffled, m.NearBack):
            liar.say(kind(5, m.Mentions((own,), (wire.MAX_AGE,))), own.id)
        liar.say(m.RingBack(6, m.Mentions(), m.Mentions((own,), (0,), (wire.MAX_AGE,))), own.id)
        liar.say(m.Ask(1, (0.5,) * 16), own.id)
        liar.writer.write(salt)

    await _lie(history, lie)


LIARS = [inventor, forger_of_goodbyes, rubbish]
