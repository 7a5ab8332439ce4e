"""Nodes under virtual time and an attacker: which share of the wanted deliveries takes place.

What the scripts of eclipses have in common: everybody joins, an attacker visits all nodes again and again,
listens at its hosts, swallows events, and ends. Subclasses say who joins, which lies are told and how the
attacker answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from sub2sub.live.virtual.attackers import Attacker
from sub2sub.live.virtual.conditions import Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.live.wire.framing import Frame, Protocol, size_of

PORT = 7000
NOWHERE = ("10.9.9.9", 9)
EVENTS = 20


@dataclass
class Hits:
    """Shares of wanted deliveries that took place, and connections that failed after the attack."""

    before: float
    during: float
    after: float
    dials: int = 0


@dataclass(frozen=True)
class Attack:
    """What every attacker does.

    Attributes
    ----------
    listens : bool
        Whether those that it invents lead to the attacker, which takes events and passes none on; otherwise
        they lead nowhere.
    early : bool
        Whether it begins before the nodes know one another, and before any event.
    hosts : int
        Hosts that the attacker has.
    """

    listens: bool = True
    early: bool = False
    hosts: int = 1


class Attacked(ABC):
    """Nodes and their attacker.

    Attributes
    ----------
    nodes : list
        Each with the machine that it runs on.
    heard : list
        The name of each event that was delivered, once for each delivery.
    """

    protocol: ClassVar[Protocol]
    settles: ClassVar[float] = 25.0
    """Seconds until everybody knows everybody that it needs."""
    lasts: float = 30.0
    """Seconds that an attack lasts before events are counted."""

    def __init__(self, nodes: int, attack: Any, seed: int = 1) -> None:
        self.size, self.attack = nodes, attack
        self.network, self.dice = Network(seed), random.Random(seed)
        self.nodes: list[tuple[Machine, Any]] = []
        self.heard: list[Any] = []
        self._attackers: list[Machine] = []
        self._attacking: asyncio.Task[None] | None = None

    @abstractmethod
    async def enter(self, machine: Machine, number: int) -> Any:
        """A node that has joined, and notes what it hears."""

    @abstractmethod
    async def publish(self) -> Any:
        """Publish an event somewhere; returns its name."""

    @abstractmethod
    async def lie(self, attacker: Attacker, number: int) -> None:
        """Tell a victim lies."""

    @abstractmethod
    def answer(self, frame: Frame) -> Iterable[Any]:
        """What the attacker says to one that turns to it."""

    def run(self) -> Hits:
        return VirtualLoop(self.network).run(self._live())

    async def join(self) -> None:
        """Have everybody join."""
        for number in range(self.size):
            machine = self.network.machine(f"10.0.0.{number}")
            self.nodes.append((machine, await machine.start(self.enter(machine, number))))

    async def begin_attack(self) -> None:
        if self._attacking is None:
            self._attackers = [self.network.machine(host) for host in self.attacking_hosts()]
            for attacker in self._attackers if self.attack.listens else ():
                await attacker.start(asyncio.start_server(self._take, attacker.host, PORT))
            self._attacking = self._attackers[0].start(self._attack())

    def attacking_hosts(self) -> list[str]:
        return [f"10.8.0.{k}" for k in range(self.attack.hosts)]

    async def _live(self) -> Hits:
        await self.join()
        before = 1.0
        if not self.attack.early:
            await asyncio.sleep(self.settles)
            before = await self._hits()
        await self.begin_attack()
        await asyncio.sleep(self.lasts)
        during = await self._hits()
        assert self._attacking
        assert not self._attacking.done(), "the attack ended by itself"
        self._attacking.cancel()
        for attacker in self._attackers:
            attacker.crash()
        failed = self._failed_dials()
        await asyncio.sleep(30.0)
        return Hits(before, during, await self._hits(), self._failed_dials() - failed)

    def _failed_dials(self) -> int:
        return sum(node.connections.counts["unreachable"] for _, node in self.nodes)

    async def _hits(self) -> float:
        names = []
        for _ in range(EVENTS):
            names.append(await self.publish())
            await asyncio.sleep(0.2)
        await asyncio.sleep(8.0)
        return sum(self.heard.count(name) for name in names) / (len(names) * self.size)

    async def _attack(self) -> None:
        while True:
            for number in range(self.size):
                with contextlib.suppress(OSError, EOFError, TimeoutError):
                    async with asyncio.timeout(1.0):
                        reader, writer = await asyncio.open_connection(f"10.0.0.{number}", PORT)
                        await self.lie(Attacker(reader, writer, self.protocol), number)
                        await asyncio.sleep(0.05)
                        writer.close()
            await asyncio.sleep(0.5)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read all that comes, and answer some of it."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                frame = self.protocol.decode(await reader.readexactly(size_of(await reader.readexactly(4))))
                for message in self.answer(frame):
                    writer.write(self.protocol.encode(Frame(frame.sender, frame.to, message)))


def report(attacks: dict[str, Any], run: Callable[[int, Any, int], Hits], arguments: list[str]) -> None:
    """Print what attacks do: arguments are nodes, seeds, a part of the names, and the first seed."""
    nodes, seeds, part, first = (*arguments, *("", "1", "", "1")[len(arguments) :])[:4]
    if len(arguments) > 4 or not all(text.isdigit() and int(text) for text in (nodes, seeds, first)):
        sys.exit(
            "expected: a number of nodes from 1 on, a number of seeds from 1 on, part of an attack's name, "
            "a first seed"
        )
    if not any(part in name for name in attacks):
        sys.exit(f"no attack has {part!r} in its name")
    for name, attack in attacks.items():
        if part in name:
            hits = [run(int(nodes), attack, int(first) + k) for k in range(int(seeds))]
            before, during, after, dials = (
                sum(getattr(each, what) for each in hits) / len(hits)
                for what in ("before", "during", "after", "dials")
            )
            shares = f"before {before:.1%}, during {during:.1%}, 30 s after {after:.1%}"
            least = f"least during {min(each.during for each in hits):.1%}"
            print(f"{name}: {shares}, {least}, {dials:.0f} failed connections", flush=True)
