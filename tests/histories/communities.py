"""Histories of CAMCAST processes under virtual time (`sub2sub.live.virtual`).

Whole, for communities, is what an event needs: everybody is in its community and may publish, and there is
a way from every member along topic tables to all members of its community, and along super-topic tables to
all members of the communities above.

Two kinds: processes in one community each, and `SeveralHistory` with members of several communities at once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

from hierarchy.camcast.manager import CommunityEvent
from hierarchy.live.failures import MOST_UNSENT, SPACE
from hierarchy.live.member import Member
from hierarchy.live.member_settings import MemberSettings
from hierarchy.live.process import MEMBERSHIPS, Events, Process
from hierarchy.peers.settings import ScampSettings, TopicSettings
from tests.histories.faults import FAULTS, FURTHER
from tests.histories.history import PERIOD, PORT, SPREAD, Fault, History, Participant, Plan
from tests.histories.invariants import beyond, host_excesses
from tests.histories.rings import LIMITS
from tests.histories.strangers import STRANGERS

Place = tuple[int, str]  # a process, and one of its topics
TOPICS = (".", ".a", ".a.b")
LEASE = 16  # cycles; parts of a community grow together within two
ENTERING = 30  # cycles that a subscription may take while there are faults
AWAY = (1.0, 30.0)  # cycles between leaving a community and entering it again
GATEWAYS = 2  # well-known members of each community


class Participating(Participant):
    """A process that is a member of one community, or of several.

    Attributes
    ----------
    home : str
        The topic by which others may know it as a gateway.
    topics : list of str
        The topics that it subscribes to now.
    """

    history: CommunityHistory

    def __init__(self, history: CommunityHistory, number: int) -> None:
        super().__init__(history, number)
        self.home = TOPICS[number % history.depth]
        self.topics = [self.home, *history.further_topics(self.home)]
        self.process: Process

    @property
    def topic(self) -> str:
        """One of its topics."""
        return self.topics[0]

    async def join(self, contact: Participant | None) -> None:
        """Enter the community through its gateways."""
        process = Process(
            self.history.gateways(),
            (self.host, PORT),
            PERIOD * self.drift,
            MemberSettings(TopicSettings(a=3.0, z=3), ScampSettings(lease=LEASE)),
            LIMITS,
            seed=self.seed(),
            reply=2.0,
            membership=self.history.membership,
        )
        await process.__aenter__()
        self.process = process
        for topic in self.topics:
            await self.subscribe(topic)

    async def subscribe(self, topic: str) -> Events:
        """Enter the community of a topic."""
        heard: set[int] = set()

        def note(event: CommunityEvent) -> None:
            if event.id in heard:
                self.history.violate(f"process {self.number} delivered an event twice")
            heard.add(event.id)
            if not self.process.graph.includes(topic, event.topic):
                self.history.violate(f"process {self.number} of {topic} delivered one of {event.topic}")
            self.history.had.setdefault(event.id, set()).add((self.number, topic))

        return await self.process.community(topic).subscribe(note)

    async def say_goodbye(self) -> None:
        """Leave the community."""
        await self.process.leave()

    @property
    def members(self) -> list[Member]:
        """Its memberships."""
        return [core for core in self.process.cores.values() if core.own.topic in self.topics]

    def excesses(self) -> list[str]:
        """What is beyond its limits."""
        return host_excesses(self.process) + [line for each in self.members for line in _excesses_of(each)]


def _excesses_of(member: Member) -> list[str]:
    return beyond(
        ("entries of a view", len(member.scamp.view), member.scamp.most),
        ("holders", len(member.scamp.inward), member.scamp.most),
        ("super-contacts", len(member.supers.entries), member.supers.z),
        ("events seen", len(member.seen), member.settings.memory),
        ("events to send again", len(member.unsent), MOST_UNSENT),
        ("bytes of events to send again", member.unsent.held, SPACE),
    )


class CommunityHistory(History):
    """A history of CAMCAST processes in two or three communities, one below the other."""

    participants: list[Participating]

    def __init__(self, seed: int, plan: Plan | None = None, membership: str = "unstructured") -> None:
        super().__init__(seed, plan)
        self.membership = membership
        self.depth = self.dice.choice([2, 2, 3])
        self.had: dict[int, set[Place]] = {}
        self._wanted: dict[int, set[Place]] = {}

    def further_topics(self, home: str) -> list[str]:
        """What else a process subscribes to."""
        return []

    def faults(self) -> list[Fault]:
        """Faults of machines and of the network, and strangers."""
        return [*FAULTS, *STRANGERS]

    def further_faults(self) -> list[Fault]:
        """Leaving, and long absences."""
        return FURTHER

    def new_participant(self, number: int) -> Participating:
        """A process."""
        return Participating(self, number)

    def gateways(self) -> dict[str, list[tuple[str, int]]]:
        """The first of each community."""
        found: dict[str, list[tuple[str, int]]] = {}
        for each in self.participants:
            known = found.setdefault(each.home, [])
            if len(known) < GATEWAYS:
                known.append((each.host, PORT))
        found["*"] = [(each.host, PORT) for each in self.participants[:GATEWAYS]]
        return found

    def may_crash(self, participant: Participant) -> bool:
        """Whether there is another gateway of its community or, where all ask it, of the P-Grid."""
        topic = self.participants[participant.number].home if self.membership == "unstructured" else "*"
        there = {each.host for each in self.participants if not each.machine.crashed}
        return bool(there.intersection(host for host, _ in self.gateways()[topic]) - {participant.host})

    def is_whole(self) -> bool:
        """Whether an event of any member can reach all that want it.

        A way alone does not say so: others may know a process that has returned before it has its place.
        """
        running = [each for each in self.participants if each.is_live]
        live = {member.own.id: (each.number, member) for each in running for member in each.members}
        return all(
            member.is_ready and _reached(number, member, live) >= self._wants(member.own.topic)
            for number, member in live.values()
        )

    def _wants(self, topic: str) -> set[Place]:
        return {
            (each.number, wanted)
            for each in self.participants
            if each.is_live
            for wanted in each.topics
            if each.process.graph.includes(wanted, topic)
        }

    async def publish(self) -> None:
        """Publish from any member; everybody passes it upwards."""
        live = [each for each in self.participants if each.is_live]
        if live:
            publisher = self.dice.choice(live)
            topic = self.dice.choice(publisher.topics) if len(publisher.topics) > 1 else publisher.topic
            community = publisher.process.community(topic)
            task = publisher.machine.start(community.publish(upward=1.0))
            event = await self._finish(task, SPREAD)
            if event is not None:
                self._wanted[event] = self._wants(topic)

    def missing(self) -> list[str]:
        """Which process did not get an event."""
        return [
            f"process {number} did not get an event"
            for event, wanted in self._wanted.items()
            for number, _ in sorted(wanted - self.had.get(event, set()))
        ]

    def forget_events(self) -> None:
        """Expect no deliveries of the events so far."""
        self._wanted.clear()

    def contact_for(self, newcomer: Participant) -> Any | None:
        """Gateways are known to everybody; nobody has to wait for somebody to be in."""
        return self.participants[0]


def _reached(number: int, start: Member, live: dict[int, tuple[int, Member]]) -> set[Place]:
    """Where an event of a member can get to."""
    found, queue = {(number, start.own.topic)}, [start]
    while queue:
        for contact in queue.pop().known():
            at, other = live.get(contact.id, (0, None))
            if other and (at, other.own.topic) not in found:
                found.add((at, other.own.topic))
                queue.append(other)
    return found


class SeveralHistory(CommunityHistory):
    """A history of CAMCAST processes, more than half of which are in two communities.

    The members of one process share its address, its connections and its clock, and in a P-Grid a further
    member enters through the first. Each history has one of the three memberships.
    """

    def __init__(self, seed: int, plan: Plan | None = None) -> None:
        self._apart = random.Random(f"several {seed}")
        super().__init__(seed, plan, self._apart.choice(MEMBERSHIPS))

    def further_topics(self, home: str) -> list[str]:
        """Often another of the topics."""
        others = [topic for topic in TOPICS[: self.depth] if topic != home]
        return [self._apart.choice(others)] if self._apart.random() < 0.6 else []

    def further_faults(self) -> list[Fault]:
        """Leaving, long absences, and a community that is left and entered again."""
        return [*FURTHER, left_and_entered_again, left_and_entered_again]


async def left_and_entered_again(history: History) -> None:
    """A process leaves one of its communities and, unless it has crashed, enters it again.

    Gateways have to be members of the community that others ask them for.
    """
    assert isinstance(history, SeveralHistory)
    is_gateway = history.membership == "unstructured"
    running = [each for each in history.participants if each.is_live and len(each.topics) > 1]
    if not running:
        return
    who = history.dice.choice(running)
    topic = history.dice.choice([each for each in who.topics if not is_gateway or each != who.home])
    machine = who.machine
    who.topics.remove(topic)
    await _within(who, who.process.community(topic).leave())
    await asyncio.sleep(history.dice.uniform(*AWAY) * PERIOD)
    if who.machine is machine and who.joined and await _within(who, who.subscribe(topic)):
        who.topics.append(topic)


async def _within(who: Participating, program: Coroutine[Any, Any, Any]) -> bool:
    """Run something on a process's machine, unless that crashes; whether it was done in time."""
    task = who.machine.start(program)
    await asyncio.wait([task], timeout=ENTERING * PERIOD)
    return task.done() and not task.cancelled() and who.joined
