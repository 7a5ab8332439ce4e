"""An eclipse: a stranger puts peers of its own beside every node, on both sides, again and again.

`python -m tests.sub2sub.live.virtual.eclipse 20` prints what several attackers do to the deliveries of 20
nodes that all want everything, without TLS and, where IDs are bound to certificates, with it; `20 3 hosts`
runs three seeds, and only the attacks in whose names "hosts" occurs.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from dataclasses import dataclass, replace

from sub2sub.live import CoreSettings, Node, Received
from sub2sub.live.core import messages as m
from sub2sub.live.net.identity import bound_id
from sub2sub.live.virtual.attackers import Attacker
from sub2sub.live.virtual.conditions import Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.live.wire import format as wire
from sub2sub.overlay.descriptors import Descriptor

PORT = 7000
NOWHERE = ("10.9.9.9", 9)


@dataclass
class Hits:
    """Shares of wanted deliveries that took place, and connections that failed after the attack."""

    before: float
    during: float
    after: float
    dials: int = 0


@dataclass(frozen=True)
class Attack:
    """What an attacker does.

    Attributes
    ----------
    listens : bool
        Whether the invented peers lead to the attacker, which takes part in all exchanges, takes events and
        passes none on; otherwise they lead nowhere.
    beside : int
        Invented peers on either side of each node.
    anew : bool
        Whether it invents others in every round.
    early : bool
        Whether it begins before the nodes know one another, and before any event.
    hosts : int
        Hosts that the attacker has.
    bound : bool
        Whether IDs are bound to certificates, of which each of its hosts has one (TLS).
    scattered : bool
        Whether it also tells of peers at as many hosts as it likes, where nobody is.
    publishes : bool
        Whether its peers also publish events, and so bring something new.
    """

    listens: bool = True
    beside: int = 1
    anew: bool = False
    early: bool = False
    hosts: int = 1
    bound: bool = False
    scattered: bool = False
    publishes: bool = False


class Eclipse:
    """Nodes that all want everything, and their attacker."""

    def __init__(self, nodes: int, attack: Attack, seed: int = 1, wary: bool = True) -> None:
        self.size, self.attack, self.settings = nodes, attack, CoreSettings(wary=wary)
        self.network, self.dice = Network(seed), random.Random(seed)
        self.nodes: list[tuple[Machine, Node]] = []
        self.heard: list[bytes] = []
        self.invented: list[Descriptor] = []

    def run(self) -> Hits:
        return VirtualLoop(self.network).run(self._live())

    async def _live(self) -> Hits:
        for number in range(self.size):
            machine = self.network.machine(f"10.0.0.{number}")
            self.nodes.append((machine, await machine.start(self._enter(machine, number))))
        before = 1.0
        if not self.attack.early:
            await asyncio.sleep(25.0)
            before = await self._hits()
        attackers = [self.network.machine(f"10.8.0.{k}") for k in range(self.attack.hosts)]
        for attacker in attackers if self.attack.listens else ():
            await attacker.start(asyncio.start_server(self._swallow, attacker.host, PORT))
        attack = attackers[0].start(self._attack())
        await asyncio.sleep(30.0)
        during = await self._hits()
        assert not attack.done(), "the attack ended by itself"
        attack.cancel()
        for attacker in attackers:
            attacker.crash()
        failed = self._failed_dials()
        await asyncio.sleep(30.0)
        return Hits(before, during, await self._hits(), self._failed_dials() - failed)

    def _failed_dials(self) -> int:
        return sum(node.connections.counts["unreachable"] for _, node in self.nodes)

    async def _enter(self, machine: Machine, number: int) -> Node:
        contact = ("10.0.0.0", PORT) if number else None
        node = Node(1, contact, (machine.host, PORT), seed=number + 1, reply=2.0, settings=self.settings)
        if self.attack.bound:  # as under TLS: every host has a certificate of its own
            node.identity = machine.host.encode()
            node.identity_of = lambda channel: channel.host.encode()
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

    def _beside(self, victim: Descriptor) -> list[Descriptor]:
        """Peers to invent: right beside a victim, or at the IDs that the attacker may have."""
        hosts = [f"10.8.0.{k}" for k in range(self.attack.hosts)]
        if self.attack.bound:
            places = [(bound_id(host.encode(), number), host) for host in hosts for number in range(16)]
        else:
            shift = self.dice.randrange(1 << 20) if self.attack.anew else 0
            steps = [sign * (shift + k + 1) for sign in (-1, 1) for k in range(self.attack.beside)]
            ids = [(victim.id + step) % 2**64 for step in steps]
            places = [(id, hosts[k % self.attack.beside % len(hosts)]) for k, id in enumerate(ids)]
        return [
            Descriptor(id, (0.0,), (1.0,), (host, PORT) if self.attack.listens else NOWHERE)
            for id, host in places
        ]

    def _nowhere(self) -> Descriptor:
        """A peer at a host of its own, where nobody is."""
        bits = self.dice.getrandbits
        return Descriptor(bits(64), (0.0,), (1.0,), (f"10.{100 + bits(6)}.{bits(8)}.{bits(8)}", PORT))

    async def _attack(self) -> None:
        while True:
            for number in range(self.size):
                with contextlib.suppress(OSError, EOFError, TimeoutError):
                    async with asyncio.timeout(1.0):
                        reader, writer = await asyncio.open_connection(f"10.0.0.{number}", PORT)
                        attacker = Attacker(reader, writer)
                        victim = (await attacker.ask(m.Join(1), m.Welcome)).links.peers[0]
                        invented = self._beside(victim)
                        self.invented = [*self.invented, *invented][-400:]
                        for other in invented:
                            attacker.say(m.Hello(other), victim.id, other.id)
                            attacker.say(m.Near(7, m.Mentions((other,), (0,))), victim.id, other.id)
                            attacker.say(m.Shuffle(8, m.Mentions((other,), (0,))), victim.id, other.id)
                            if self.attack.publishes:
                                spam = m.Event(self.dice.randbytes(16), (self.dice.random(),), 0, b"")
                                attacker.say(spam, victim.id, other.id)
                        if self.attack.scattered:
                            nowhere = m.Mentions(tuple(self._nowhere() for _ in range(20)), (0,) * 20)
                            attacker.say(m.Near(7, nowhere), victim.id, nowhere.peers[-1].id)
                            attacker.say(m.Shuffle(8, nowhere), victim.id, nowhere.peers[-1].id)
                        await asyncio.sleep(0.05)
                        writer.close()
            await asyncio.sleep(0.5)

    async def _swallow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take part in everything, tell of inventions only, and swallow events."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                frame = wire.decode(await reader.readexactly(wire.size_of(await reader.readexactly(4))))
                lies = m.Mentions.of(*(m.Mention(each, 0) for each in self.invented[-20:]))
                match frame.message:
                    case m.Event(name):
                        answer: m.Message = m.Taken(name, took=True)
                    case m.Probe(exchange):
                        answer = m.Probed(exchange)
                    case m.Shuffle(exchange):
                        answer = m.Shuffled(exchange, lies)
                    case m.Near(exchange):
                        answer = m.NearBack(exchange, lies)
                    case m.Ring(exchange) | m.Seek(exchange):
                        answer = m.RingBack(exchange, lies, lies)
                    case _:
                        continue
                writer.write(wire.encode(wire.Frame(frame.sender, frame.to, answer)))


ATTACKS = {
    "inventions that lead nowhere": Attack(listens=False),
    "one that swallows on either side": Attack(),
    "five on either side": Attack(beside=5),
    "others in every round": Attack(anew=True),
    "five others in every round": Attack(beside=5, anew=True),
    "two on either side before anybody knows anybody": Attack(beside=2, early=True),
    "five hosts, five others in every round": Attack(beside=5, anew=True, hosts=5),
    "five hosts, five before anybody knows anybody": Attack(beside=5, early=True, hosts=5),
    "ten hosts, ten before anybody knows anybody": Attack(beside=10, early=True, hosts=10),
    "twenty hosts, twenty before anybody knows anybody": Attack(beside=20, early=True, hosts=20),
    "two on either side, and inventions at any host": Attack(beside=2, early=True, scattered=True),
    "one on either side that publishes": Attack(publishes=True),
    "two hosts that publish, on either side": Attack(publishes=True, beside=2, hosts=2),
}


def main(nodes: int, seeds: int, named: str) -> None:
    for name, attack in ATTACKS.items():
        for label, kind in ((name, attack), (f"{name}, with TLS", replace(attack, bound=True))):
            if named in label:
                hits = [Eclipse(nodes, kind, seed).run() for seed in range(1, seeds + 1)]
                during, after, dials = (
                    sum(getattr(each, what) for each in hits) / seeds for what in ("during", "after", "dials")
                )
                print(f"{label}: during {during:.1%}, 30 s after {after:.1%}, {dials:.0f} failed connections")
                sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:] or [1])[0]), "".join(sys.argv[3:4]))
