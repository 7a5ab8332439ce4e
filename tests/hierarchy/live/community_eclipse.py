"""An attack on the tables of live communities: a stranger tells of members and super-contacts of its own.

Half of the processes are in a community and half in the one above. `python -m
tests.hierarchy.live.community_eclipse 20 3` prints which share of the wanted deliveries takes place before,
during and after each attack (20 processes, means of three seeds; a third and a fourth argument are a part of
the attack's name and the first seed).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hierarchy.live import Process
from hierarchy.live import messages as m
from hierarchy.live.wire import PROTOCOL
from sub2sub.live.virtual.attackers import Attacker
from sub2sub.live.virtual.machine import Machine
from sub2sub.live.wire.framing import Frame
from tests.sub2sub.live.virtual import attacked
from tests.sub2sub.live.virtual.attacked import NOWHERE, PORT, Attacked, Hits, report

TOPIC, SUPER = ".a.x", ".a"
GATEWAYS = {TOPIC: [("10.0.0.0", PORT)], SUPER: [("10.0.0.1", PORT)], "*": [("10.0.0.0", PORT)]}


@dataclass(frozen=True)
class Attack(attacked.Attack):
    """What an attacker does.

    Attributes
    ----------
    supers, members : bool
        Whether it tells of members of the topic above, and subscribes members of both topics.
    feigns : bool
        Whether it also says that it has served and taken everybody, sends heartbeats, and answers weights so
        that all requests walk to it.
    turns_to : bool
        Whether it also subscribes through everybody that may be a gateway, and asks it to be handed events.
    invents : bool
        Whether it also subscribes members at any number of hosts, which do not exist.
    brings : int
        Events that it passes on to everybody at first, so that others rely on it.
    """

    supers: bool = True
    members: bool = False
    feigns: bool = False
    turns_to: bool = False
    invents: bool = False
    brings: int = 0


class CommunityEclipse(Attacked):
    """Two communities and their attacker."""

    protocol = PROTOCOL
    settles = 40.0
    membership = "unstructured"

    def __init__(self, nodes: int, attack: Attack, seed: int = 1) -> None:
        super().__init__(nodes, attack, seed)
        self._brought: dict[bytes, m.Event] = {}

    async def join(self) -> None:
        if self.attack.early:
            await self.begin_attack()
        for number in range(self.size):
            machine = self.network.machine(f"10.0.0.{number}")
            self.nodes.append((machine, await machine.start(self.enter(machine, number))))
            await asyncio.sleep(0.5)

    async def enter(self, machine: Machine, number: int) -> Process:
        process = Process(GATEWAYS, (machine.host, PORT), seed=number + 1, membership=self.membership)
        await process.__aenter__()
        await process.community(SUPER if number % 2 else TOPIC).subscribe(self._note)
        return process

    def _note(self, event: Any) -> None:
        self.heard.append(event.id)

    async def publish(self) -> int:
        machine, process = self.dice.choice(self.nodes[::2])
        return await machine.start(process.community(TOPIC).publish(b"", upward=1.0))

    async def begin_attack(self) -> None:
        """Speak from all hosts: each is believed as if it were alone."""
        is_first = self._attacking is None
        await super().begin_attack()
        for machine in self._attackers[1:] if is_first else ():
            machine.start(self._attack())

    def _invented(self, topic: str, count: int) -> tuple[m.Contact, ...]:
        hosts = self.attacking_hosts()

        def address(k: int) -> tuple[str, int]:
            return (hosts[k % len(hosts)], PORT) if self.attack.listens else NOWHERE

        return tuple(m.Contact(self.dice.getrandbits(63) + 1, *address(k), topic) for k in range(count))

    async def lie(self, attacker: Attacker, number: int) -> None:
        for victim in list(self.nodes[number][1].cores.values() if number < len(self.nodes) else ()):
            topic, id = victim.own.topic, victim.own.id  # which it has read in what others tell
            if self.attack.supers:
                attacker.say(m.Supers(self._invented(SUPER, 8)), id)
            members = self._invented(topic, max(2, self.attack.hosts)) if self.attack.members else ()
            for member in members:
                attacker.say(m.Copy(member, 100, 1000), id, member.id)
                if self.attack.feigns:
                    for claim in (m.Served(member, 100), m.Kept(member), m.Beat()):
                        attacker.say(claim, id, member.id)
                if self.attack.turns_to:
                    attacker.say(m.Depend(member, True), id, member.id)
                    attacker.say(m.Subscribe(member, 100, 1, 0), id, member.id)
            for _ in range(4 if self.attack.invents else 0):
                host = f"10.{self.dice.randrange(64, 256)}.{self.dice.randrange(256)}.9"
                nobody = m.Contact(self.dice.getrandbits(63) + 1, host, PORT, topic)
                for lie in (m.Copy(nobody, 100, 1000), m.Depend(nobody, True)):
                    attacker.say(lie, id, nobody.id)
            for event in list(self._brought.values()) if self.attack.brings else ():
                attacker.say(event, id)

    def answer(self, frame: Frame) -> Iterable[object]:
        """Answer what keeps it in tables, tell of inventions only, and swallow events."""
        match frame.message:
            case m.Event() if len(self._brought) < self.attack.brings:
                self._brought[frame.message.name] = frame.message
            case m.Check(exchange):
                yield m.Checked(exchange)
            case m.Beat():
                yield m.Beaten()
            case m.Find(exchange, topics):
                yield m.Found(exchange, self._invented(topics[0], 8))
            case m.Weigh(_, weight) if self.attack.feigns:
                yield m.Weighed(weight, 1e-9)


ATTACKS = {
    "super-contacts that lead nowhere": Attack(listens=False),
    "super-contacts that lead nowhere, there first": Attack(listens=False, early=True),
    "members that lead nowhere": Attack(supers=False, members=True, listens=False),
    "both that feign and invent hosts, 3 hosts, there first": Attack(
        early=True, hosts=3, members=True, feigns=True, turns_to=True, invents=True
    ),
    "both that feign and bring ten events first, 3 hosts, there first": Attack(
        early=True, hosts=3, members=True, feigns=True, turns_to=True, brings=10
    ),
    **{
        f"{what}, {hosts} hosts{when}": Attack(early=bool(when), hosts=hosts, **does)
        for what, does in {
            "super-contacts": {},
            "members": {"supers": False, "members": True},
            "both": {"members": True},
            "both that feign": {"members": True, "feigns": True},
            "both that feign and turn to gateways": {"members": True, "feigns": True, "turns_to": True},
        }.items()
        for when in ("", ", there first")
        for hosts in (1, 3, 5, 10)
    },
}


def run(nodes: int, attack: Attack, seed: int) -> Hits:
    return CommunityEclipse(nodes, attack, seed).run()


if __name__ == "__main__":
    report(ATTACKS, run, sys.argv[1:])
