"""An attack on the tables of the shared overlay: a stranger fills them with peers of its own.

Half of the nodes subscribe to a topic and half to its supertopic; events of the topic go by CAMCAST's
routing. `python -m tests.hierarchy.shared.live.table_eclipse 20 3` prints which share of the wanted
deliveries takes place before, during and after each attack (20 nodes, means of three seeds).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from hierarchy.shared.live import SharedCoreSettings, SharedNode
from hierarchy.shared.live import table_messages as t
from hierarchy.shared.live.table_wire import PROTOCOL
from hierarchy.shared.settings import CamcastRoute
from hierarchy.topics import NestedRanges, TopicTree
from sub2sub.live.core import messages as m
from sub2sub.live.virtual.attackers import Attacker
from sub2sub.live.virtual.machine import Machine
from sub2sub.live.wire.framing import Frame
from sub2sub.overlay.descriptors import Descriptor
from tests.sub2sub.live.virtual.attacked import NOWHERE, PORT, Hits, report
from tests.sub2sub.live.virtual.eclipse import Attack, Eclipse

TOPIC, SUPER = ".a.x", ".a"
ROUTE = CamcastRoute(c=4.0, g=10.0, a=2.0)


@dataclass(frozen=True)
class TableAttack(Attack):
    """What an attacker of tables does.

    Attributes
    ----------
    tighter : bool
        Whether it invents supertopics that are tighter than any there are.
    """

    tighter: bool = False


def topics() -> NestedRanges:
    return NestedRanges(TopicTree.from_paths([TOPIC, ".b"]), span=4096)


class TableEclipse(Eclipse):
    """Nodes that subscribe to a topic or its supertopic, and their attacker."""

    protocol = PROTOCOL

    def __init__(self, nodes: int, attack: TableAttack, seed: int = 1, wary: bool = True) -> None:
        super().__init__(nodes, attack, seed)
        self.shared_settings = SharedCoreSettings(wary=wary)

    async def enter(self, machine: Machine, number: int) -> SharedNode:
        contact = ("10.0.0.0", PORT) if number else None
        node = SharedNode(
            topics(), 1, contact, (machine.host, PORT), seed=number + 1, reply=2.0,
            settings=self.shared_settings,
        )  # fmt: skip
        await node.__aenter__()
        await node.subscribe_topic(SUPER if number % 2 else TOPIC, self.note)
        return node

    async def publish(self) -> bytes:
        machine, node = self.dice.choice(self.nodes[::2])
        return (await machine.start(node.publish_topic(TOPIC, b"", ROUTE))).name

    def _tables_of_lies(self, victim: Descriptor) -> tuple[list[Descriptor], list[Descriptor]]:
        """Equals right beside a victim, and peers of its supertopic, at the attacker's hosts or nowhere."""
        (low, high) = topics().closed_ranges(SUPER)[0].tolist()
        above = ((low,), (high,))
        if self.attack.tighter:
            above = ((victim.low[0] - 0.5,), (victim.high[0] + 0.5,))
        hosts = self.attacking_hosts()

        def at(k: int) -> tuple[str, int]:
            return (hosts[k % len(hosts)], PORT) if self.attack.listens else NOWHERE

        count = 8 * self.attack.beside
        steps = [2 * (k // 2 + 1) * (-1) ** k for k in range(count)]
        equals = [
            Descriptor((victim.id + step) % 2**64, victim.low, victim.high, at(k // 2))
            for k, step in enumerate(steps)
        ]
        bits = self.dice.getrandbits
        return equals, [Descriptor(bits(64) | 1, *above, at(k)) for k in range(count)]

    async def lie(self, attacker: Attacker, number: int) -> None:
        victim = (await attacker.ask(m.Join(1), m.Welcome)).links.peers[0]
        equals, above = self._tables_of_lies(victim)
        self.invented = [*self.invented, *equals, *above][-400:]
        told = [m.Mentions(tuple(peers), (0,) * len(peers)) for peers in (equals, above)]
        for other in (*equals, *above):
            attacker.say(t.Greet(7, other), victim.id, other.id)
        attacker.say(t.Tables(8, equals[0], *told, m.Mentions()), victim.id, equals[0].id)

    def answer(self, frame: Frame) -> Iterable[object]:
        """Take part in what concerns tables, tell of inventions only, and swallow events."""
        lies = self.lies()
        match frame.message:
            case t.Greet(exchange):
                yield t.Greeted(exchange)
            case t.Inquire(exchange):
                yield t.Ways(exchange, lies)
            case t.Tables(exchange):
                yield t.TablesBack(exchange, lies, lies, lies)
            case t.Alike(exchange):
                yield t.AlikeBack(exchange, lies)
            case m.Probe(exchange):
                yield m.Probed(exchange)


ATTACKS = {
    "inventions that lead nowhere": TableAttack(listens=False),
    "invented supertopics that lead nowhere": TableAttack(listens=False, tighter=True),
    "one host that swallows": TableAttack(),
    "one host that swallows, invented supertopics": TableAttack(tighter=True),
    "one host that is there first, invented supertopics": TableAttack(tighter=True, early=True),
    "one host that is there first": TableAttack(early=True),
    "five hosts": TableAttack(hosts=5),
    "five hosts that are there first": TableAttack(hosts=5, early=True),
}


def run(nodes: int, attack: TableAttack, seed: int) -> Hits:
    return TableEclipse(nodes, attack, seed).run()


if __name__ == "__main__":
    report(ATTACKS, run, sys.argv[1:])
