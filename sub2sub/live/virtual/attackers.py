"""Attackers: each connects to nodes as any newcomer may, and sends false messages for a while.

An attacker knows only what nodes tell every newcomer: each names itself and a few other peers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from sub2sub.live.core import messages as m
from sub2sub.live.virtual.history import PERIOD, PORT, History
from sub2sub.live.wire import format as wire
from sub2sub.live.wire.framing import Protocol
from sub2sub.overlay.descriptors import Descriptor

NOWHERE = ("10.9.9.9", 9)


class Attacker:
    """An attacker's connection to a victim, with the messages of any protocol."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: Protocol = wire.PROTOCOL
    ) -> None:
        self.reader, self.writer, self.protocol = reader, writer, protocol

    @classmethod
    @contextlib.asynccontextmanager
    async def connected(
        cls, to: tuple[str, int], protocol: Protocol = wire.PROTOCOL
    ) -> AsyncIterator[Attacker]:
        """Connect to a victim; the connection ends here, not when Python collects garbage."""
        reader, writer = await asyncio.open_connection(*to)
        with contextlib.closing(writer):
            yield cls(reader, writer, protocol)

    def say(self, message: Any, to: int = 0, sender: int = 1) -> None:
        """Send a frame with any sender."""
        self.writer.write(self.protocol.encode(wire.Frame(to, sender, message)))

    async def ask(self, request: Any, reply: type[Any]) -> Any:
        """Send a request, and wait for a reply of the given kind."""
        self.say(request)
        while True:
            size = wire.size_of(await self.reader.readexactly(4))
            message = self.protocol.decode(await self.reader.readexactly(size)).message
            if isinstance(message, reply):
                return message


async def visit(
    history: History, attack: Callable[[Attacker, Any], Awaitable[None]], protocol: Protocol = wire.PROTOCOL
) -> None:
    """Attack all participants from a machine of the attacker's own, in several rounds."""
    machine = history.network.machine(f"10.8.0.{history.dice.randint(1, 200)}")
    rounds = history.dice.randint(1, 5)

    async def program() -> None:
        for _ in range(rounds):
            for victim in history.participants:
                with contextlib.suppress(OSError, EOFError, TimeoutError):
                    async with asyncio.timeout(PERIOD):
                        async with Attacker.connected((victim.host, PORT), protocol) as attacker:
                            await attack(attacker, victim)
                            await asyncio.sleep(0.1 * PERIOD)
            await asyncio.sleep(0.5 * PERIOD)

    await asyncio.wait([machine.start(program())])


async def _attack(history: History, attack: Callable[[Attacker, list[Descriptor]], None]) -> None:
    """Ask each victim for the peers that it names to newcomers, itself first, and attack with these."""

    async def ask_and_attack(attacker: Attacker, victim: Any) -> None:
        known = [each.peer for each in (await attacker.ask(m.Join(1), m.Welcome)).links]
        if known:
            attack(attacker, known)

    await visit(history, ask_and_attack)


async def invented_peers(history: History) -> None:
    """Announce peers that do not exist, with IDs next to those of each victim."""

    def attack(attacker: Attacker, known: list[Descriptor]) -> None:
        victim = known[0]
        for step in (-2, -1, 1, 2):
            other = Descriptor((victim.id + step) % 2**64, victim.low, victim.high, NOWHERE)
            attacker.say(m.Hello(other), victim.id, other.id)
            attacker.say(m.Near(7, m.Mentions((other,), (0,))), victim.id, other.id)
            attacker.say(m.Shuffle(8, m.Mentions((other,), (0,))), victim.id, other.id)

    await _attack(history, attack)


async def forged_goodbyes(history: History) -> None:
    """Send each victim goodbyes and refusals of events in the names of the peers that it knows."""

    def attack(attacker: Attacker, known: list[Descriptor]) -> None:
        for other in known[1:]:
            attacker.say(m.Leave(), known[0].id, other.id)
            attacker.say(m.Taken(bytes(16), took=False), known[0].id, other.id)

    await _attack(history, attack)


async def malformed_frames(history: History) -> None:
    """Send bytes that are no frame, frames at the limits of their fields, and replies without a request."""
    salt = history.dice.randbytes(64)

    def attack(attacker: Attacker, known: list[Descriptor]) -> None:
        own = known[0]
        middle = tuple((low + high) / 2 for low, high in zip(own.low, own.high, strict=True))
        attacker.say(m.Event(salt[:16], middle, m.MAX_HOPS, b"far"), own.id)
        attacker.say(m.Event(salt[16:32], middle, m.MAX_HOPS - 1, b"nearly as far"), own.id)
        attacker.say(m.Event(salt[32:48], tuple(x + 5.0 for x in own.high), 0, b"unwanted"), own.id)
        for kind in (m.Shuffled, m.NearBack):
            attacker.say(kind(5, m.Mentions((own,), (wire.MAX_AGE,))), own.id)
        attacker.say(m.RingBack(6, m.Mentions(), m.Mentions((own,), (0,), (wire.MAX_AGE,))), own.id)
        attacker.say(m.Ask(1, (0.5,) * 16), own.id)
        attacker.writer.write(salt)

    await _attack(history, attack)


ATTACKS = [invented_peers, forged_goodbyes, malformed_frames]
