"""An eclipse: a stranger puts peers of its own beside every node, on both sides, again and again.

`python -m tests.sub2sub.live.virtual.eclipse 20` prints what several attackers do to the deliveries of 20
nodes that all want everything, without TLS and, where IDs are bound to certificates, with it; `20 3 hosts`
runs three seeds, and only the attacks in whose names "hosts" occurs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sub2sub.live import CoreSettings, Node, Received
from sub2sub.live.core import messages as m
from sub2sub.live.net.identity import bound_id
from sub2sub.live.virtual.attackers import Attacker
from sub2sub.live.virtual.machine import Machine
from sub2sub.live.wire import format as wire
from sub2sub.live.wire.framing import Frame
from sub2sub.overlay.descriptors import Descriptor
from tests.sub2sub.live.virtual import attacked
from tests.sub2sub.live.virtual.attacked import NOWHERE, PORT, Attacked, Hits, report


@dataclass(frozen=True)
class Attack(attacked.Attack):
    """What an attacker does, that may take part in all exchanges.

    Attributes
    ----------
    beside : int
        Invented peers on either side of each node.
    anew : bool
        Whether it invents others in every round.
    bound : bool
        Whether IDs are bound to certificates, of which each of its hosts has one (TLS).
    scattered : bool
        Whether it also tells of peers at as many hosts as it likes, where nobody is.
    publishes : bool
        Whether its peers also publish events, and so bring something new.
    """

    beside: int = 1
    anew: bool = False
    bound: bool = False
    scattered: bool = False
    publishes: bool = False


class Eclipse(Attacked):
    """Nodes that all want everything, and their attacker."""

    protocol = wire.PROTOCOL

    def __init__(self, nodes: int, attack: Attack, seed: int = 1, wary: bool = True) -> None:
        super().__init__(nodes, attack, seed)
        self.settings = CoreSettings(wary=wary)
        self.invented: list[Descriptor] = []

    async def enter(self, machine: Machine, number: int) -> Node:
        contact = ("10.0.0.0", PORT) if number else None
        node = Node(1, contact, (machine.host, PORT), seed=number + 1, reply=2.0, settings=self.settings)
        if self.attack.bound:  # as under TLS: every host has a certificate of its own
            node.identity = machine.host.encode()
            node.identity_of = lambda channel: channel.host.encode()
        await node.__aenter__()
        await node.subscribe([0.0], [1.0], self.note)
        return node

    def note(self, event: Received) -> None:
        self.heard.append(event.name)

    async def publish(self) -> bytes:
        machine, node = self.dice.choice(self.nodes)
        return (await machine.start(node.publish([self.dice.random()]))).name

    def _beside(self, victim: Descriptor) -> list[Descriptor]:
        """Peers to invent: right beside a victim, or at the IDs that the attacker may have."""
        hosts = self.attacking_hosts()
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

    async def lie(self, attacker: Attacker, number: int) -> None:
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

    def lies(self) -> m.Mentions:
        """The peers invented last."""
        return m.Mentions.of(*(m.Mention(each, 0) for each in self.invented[-20:]))

    def answer(self, frame: Frame) -> Iterable[object]:
        """Take part in everything, tell of inventions only, and swallow events."""
        lies = self.lies()
        match frame.message:
            case m.Event(name):
                yield m.Taken(name, took=True)
            case m.Probe(exchange):
                yield m.Probed(exchange)
            case m.Shuffle(exchange):
                yield m.Shuffled(exchange, lies)
            case m.Near(exchange):
                yield m.NearBack(exchange, lies)
            case m.Ring(exchange) | m.Seek(exchange):
                yield m.RingBack(exchange, lies, lies)


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


WITH_TLS = {f"{name}, with TLS": replace(attack, bound=True) for name, attack in ATTACKS.items()}


def run(nodes: int, attack: Attack, seed: int) -> Hits:
    return Eclipse(nodes, attack, seed).run()


if __name__ == "__main__":
    report(
        {name: each for pair in zip(ATTACKS.items(), WITH_TLS.items(), strict=True) for name, each in pair},
        run,
        sys.argv[1:],
    )
