"""An attack on the tables of live communities: a stranger tells of members and super-contacts of its own.

Half of the processes are in a community and half in the one above. `python -m
tests.hierarchy.live.community_eclipse 20 3` prints which share of the wanted deliveries takes place before,
during and after each attack (20 processes, means of three seeds).
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from dataclasses import dataclass
from typing import Any

from hierarchy.live import Process
from hierarchy.live import messages as m
from hierarchy.live.wire import PROTOCOL
from sub2sub.live.virtual.attackers import Attacker
from sub2sub.live.virtual.conditions import Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.live.wire.framing import Frame, size_of

PORT = 7000
TOPIC, SUPER = ".a.x", ".a"
NOWHERE = ("10.9.9.9", 9)


@dataclass
class Hits:
    """Shares of wanted deliveries that took place."""

    before: float
    during: float
    after: float


@dataclass(frozen=True)
class Attack:
    """What an attacker does.

    Attributes
    ----------
    supers, members : bool
        Whether it tells of members of the topic above, and subscribes members of the topic itself.
    listens : bool
        Whether they lead to the attacker, which answers, takes events and passes none on.
    early : bool
        Whether it begins before anybody joins.
    hosts : int
        Hosts that the attacker has.
    """

    supers: bool = True
    members: bool = False
    listens: bool = True
    early: bool = False
    hosts: int = 1


class CommunityEclipse:
    """Two communities and their attacker."""

    def __init__(self, size: int, attack: Attack, seed: int = 1) -> None:
        self.size, self.attack = size, attack
        self.network, self.dice = Network(seed), random.Random(seed)
        self.processes: list[tuple[Machine, Process]] = []
        self.heard: list[int] = []

    def run(self) -> Hits:
        return VirtualLoop(self.network).run(self._live())

    async def _live(self) -> Hits:
        attackers = [self.network.machine(f"10.8.0.{k}") for k in range(self.attack.hosts)]
        for attacker in attackers if self.attack.listens else ():
            await attacker.start(asyncio.start_server(self._swallow, attacker.host, PORT))
        attack = attackers[0].start(self._attack()) if self.attack.early else None
        gateways = {TOPIC: [("10.0.0.0", PORT)], SUPER: [("10.0.0.1", PORT)]}
        for number in range(self.size):
            machine = self.network.machine(f"10.0.0.{number}")
            process = await machine.start(self._enter(machine, number, gateways))
            self.processes.append((machine, process))
            await asyncio.sleep(0.5)
        before = 1.0
        if attack is None:
            await asyncio.sleep(40.0)
            before = await self._hits()
            attack = attackers[0].start(self._attack())
        await asyncio.sleep(40.0)
        during = await self._hits()
        assert not attack.done(), "the attack ended by itself"
        attack.cancel()
        for attacker in attackers:
            attacker.crash()
        await asyncio.sleep(40.0)
        return Hits(before, during, await self._hits())

    async def _enter(self, machine: Machine, number: int, gateways: Any) -> Process:
        process = Process(gateways, (machine.host, PORT), seed=number + 1)
        await process.__aenter__()
        await process.community(SUPER if number % 2 else TOPIC).subscribe(self._note)
        return process

    def _note(self, event: Any) -> None:
        self.heard.append(event.id)

    async def _hits(self) -> float:
        names = []
        for _ in range(20):
            machine, process = self.dice.choice(self.processes[::2])
            names.append(await machine.start(process.community(TOPIC).publish(b"", upward=1.0)))
            await asyncio.sleep(0.2)
        await asyncio.sleep(8.0)
        return sum(self.heard.count(name) for name in names) / (len(names) * self.size)

    def _invented(self, topic: str, count: int) -> tuple[m.Contact, ...]:
        def address(k: int) -> tuple[str, int]:
            return (f"10.8.0.{k % self.attack.hosts}", PORT) if self.attack.listens else NOWHERE

        return tuple(m.Contact(self.dice.getrandbits(63) + 1, *address(k), topic) for k in range(count))

    async def _attack(self) -> None:
        while True:
            for machine, process in self.processes:
                with contextlib.suppress(OSError, EOFError, TimeoutError):
                    async with asyncio.timeout(1.0):
                        reader, writer = await asyncio.open_connection(machine.host, PORT)
                        attacker = Attacker(reader, writer, PROTOCOL)
                        for id in list(process.cores):  # it has read them in events and in what others tell
                            self._mislead(attacker, id)
                        await asyncio.sleep(0.05)
                        writer.close()
            await asyncio.sleep(0.5)

    def _mislead(self, attacker: Attacker, victim: int) -> None:
        if self.attack.supers:
            attacker.say(m.Supers(self._invented(SUPER, 8)), victim)
        for member in self._invented(TOPIC, 2) if self.attack.members else ():
            attacker.say(m.Copy(member, 100, 1000), victim, member.id)

    async def _swallow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what keeps it in tables, tell of inventions only, and swallow events."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                frame = PROTOCOL.decode(await reader.readexactly(size_of(await reader.readexactly(4))))
                answer: Any = None
                match frame.message:
                    case m.Check(exchange):
                        answer = m.Checked(exchange)
                    case m.Beat():
                        answer = m.Beaten()
                    case m.Find(exchange, topics):
                        answer = m.Found(exchange, self._invented(topics[0], 8))
                if answer is not None:
                    writer.write(PROTOCOL.encode(Frame(frame.sender, frame.to, answer)))


ATTACKS = {
    "super-contacts that lead nowhere": Attack(listens=False),
    "super-contacts that lead nowhere, there first": Attack(listens=False, early=True),
    "super-contacts that swallow": Attack(),
    "super-contacts that swallow, there first": Attack(early=True),
    "super-contacts of five hosts, there first": Attack(early=True, hosts=5),
    "members that lead nowhere": Attack(supers=False, members=True, listens=False),
    "members that swallow": Attack(supers=False, members=True),
    "members that swallow, there first": Attack(supers=False, members=True, early=True),
    "both, there first": Attack(members=True, early=True),
    "both of five hosts, there first": Attack(members=True, early=True, hosts=5),
}


def main(size: int, seeds: int, named: str) -> None:
    for name, attack in ATTACKS.items():
        if named in name:
            hits = [CommunityEclipse(size, attack, seed).run() for seed in range(1, seeds + 1)]
            before, during, after = (
                sum(getattr(each, what) for each in hits) / seeds for what in ("before", "during", "after")
            )
            print(f"{name}: before {before:.1%}, during {during:.1%}, 40 s after {after:.1%}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:] or [1])[0]), "".join(sys.argv[3:4]))
