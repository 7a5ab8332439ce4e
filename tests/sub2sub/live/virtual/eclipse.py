"""An eclipse: a stranger puts two peers of its own beside every node, on both sides, again and again."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from dataclasses import dataclass

from sub2sub.live import Node, Received
from sub2sub.live.core import messages as m
from sub2sub.live.virtual.liars import Liar
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.live.virtual.weather import Network
from sub2sub.live.wire import format as wire
from sub2sub.overlay.descriptors import Descriptor

PORT = 7000
NOWHERE, ATTACKER = ("10.9.9.9", 9), ("10.8.0.1", PORT)


@dataclass
class Hits:
    """Shares of wanted deliveries that took place."""

    before: float
    during: float
    after: float


class Eclipse:
    """Nodes that all want everything, and their attacker.

    With `listens` the invented peers lead to the attacker, which answers probes, takes events and passes none
    on; without, they lead nowhere.
    """

    def __init__(self, nodes: int, listens: bool, seed: int = 1) -> None:
        self.size, self.address, self.listens = nodes, ATTACKER if listens else NOWHERE, listens
        self.network, self.dice = Network(seed), random.Random(seed)
        self.nodes: list[tuple[Machine, Node]] = []
        self.heard: list[bytes] = []

    def run(self) -> Hits:
        return VirtualLoop(self.network).run(self._live())

    async def _live(self) -> Hits:
        for number in range(self.size):
            machine = self.network.machine(f"10.0.0.{number}")
            self.nodes.append((machine, await machine.start(self._enter(machine, number))))
        await asyncio.sleep(25.0)
        before = await self._hits()
        attacker = self.network.machine(ATTACKER[0])
        if self.listens:
            await attacker.start(asyncio.start_server(self._swallow, *ATTACKER))
        attack = attacker.start(self._attack())
        await asyncio.sleep(30.0)
        during = await self._hits()
        attack.cancel()
        attacker.crash()
        await asyncio.sleep(30.0)
        return Hits(before, during, await self._hits())

    async def _enter(self, machine: Machine, number: int) -> Node:
        contact = ("10.0.0.0", PORT) if number else None
        node = Node(1, contact, (machine.host, PORT), seed=number + 1, reply=2.0)
        await node.__aenter__()
        await node.subscribe([0.0], [1.0], self._note)
        return node

    def _note(self, event: Received) -> None:
        self.heard.append(event.name)

    async def _hits(self) -> float:
        names = []
        for _ in range(20):
            machine, node = self.dice.choice(self.nodes)
            names.append((await machine.start(node.publish([self.dice.random()]))).name)
            await asyncio.sleep(0.2)
        await asyncio.sleep(8.0)
        return sum(self.heard.count(name) for name in names) / (len(names) * self.size)

    async def _attack(self) -> None:
        while True:
            for number in range(self.size):
                with contextlib.suppress(OSError, EOFError, TimeoutError):
                    async with asyncio.timeout(1.0):
                        reader, writer = await asyncio.open_connection(f"10.0.0.{number}", PORT)
                        liar = Liar(reader, writer)
                        victim = (await liar.ask(m.Join(1), m.Welcome)).links[0].peer
                        for step in (-1, 1):
                            other = Descriptor((victim.id + step) % 2**64, (0.0,), (1.0,), self.address)
                            liar.say(m.Hello(other), victim.id, other.id)
                            liar.say(m.Near(7, (m.Mention(other, 0),)), victim.id, other.id)
                        await asyncio.sleep(0.05)
                        writer.close()
            await asyncio.sleep(0.5)

    async def _swallow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                frame = wire.decode(await reader.readexactly(wire.size_of(await reader.readexactly(4))))
                if isinstance(frame.message, m.Event):
                    answer: m.Message = m.Taken(frame.message.name, took=True)
                elif isinstance(frame.message, m.Probe):
                    answer = m.Probed(frame.message.exchange)
                else:
                    continue
                writer.write(wire.encode(wire.Frame(frame.sender, frame.to, answer)))


if __name__ == "__main__":
    for listens in (False, True):
        print("answering" if listens else "nowhere", Eclipse(int(sys.argv[1]), listens).run())
