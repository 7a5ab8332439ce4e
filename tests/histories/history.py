"""One history of live nodes: they join, faults begin and end, and then the overlay must recover.

The seed of a history determines the number of nodes, the behaviour of the network, and the time and kind of
each fault. Rules that hold at any time: no node delivers an event twice, or one that it did not subscribe to;
no node exceeds its limits; no task fails. Rules that hold after the faults: the overlay is whole again within
`HEAL` cycles, and then every event reaches all its subscribers within `SPREAD` cycles.

`History` has what all protocols share; each protocol adds its nodes and defines when its overlay is whole.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from sub2sub.live.virtual.conditions import Conditions, Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine

PERIOD = 1.0  # virtual seconds of a cycle
HEAL = 40  # cycles after the faults within which the overlay has to be whole again
SPREAD = 6  # cycles within which an event has to reach all its subscribers
PORT = 7000
MOST_DRIFT = 0.1  # greatest relative error of a clock


@dataclass(frozen=True)
class Plan:
    """The size of a history.

    Attributes
    ----------
    nodes : (int, int)
        Least and greatest number of nodes.
    calm, faulty : int
        Cycles between joining and the first fault; cycles in which faults begin.
    faults : (int, int)
        Least and greatest number of faults.
    events : int
        Events published during the faults; as many are published after them.
    further : (int, int)
        Least and greatest number of faults of further kinds: participants that leave, return or change their
        subscription, and long absences.
    """

    nodes: tuple[int, int] = (4, 7)
    calm: int = 5
    faulty: int = 10
    faults: tuple[int, int] = (1, 4)
    events: int = 4
    further: tuple[int, int] = (0, 2)


@dataclass
class HistoryReport:
    """The result of a history.

    Attributes
    ----------
    seed : int
    violations : list of str
        The rules that were broken.
    digest : str
        Digest of all messages and their times of arrival: the same for the same seed.
    seconds : float
        Virtual seconds.
    faults : Counter
        Number of faults, by kind.
    healed : int
        Cycles after the faults until the overlay was whole.
    """

    seed: int
    violations: list[str] = field(default_factory=list)
    digest: str = ""
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    healed: int = -1


class Participant(ABC):
    """A node of a history, through crashes and restarts at the same address.

    Attributes
    ----------
    host : str
    machine : Machine
        The machine that it runs on now.
    drift : float
        Length of its seconds, in true ones.
    lives : int
        The number of times it was started.
    """

    def __init__(self, history: History, number: int) -> None:
        self.history, self.number = history, number
        self.host = f"127.0.{number // 256}.{number % 256}"
        self.drift = 1.0 + history.dice.uniform(-MOST_DRIFT, MOST_DRIFT)
        self.machine: Machine
        self.lives = 0
        self.joined = False

    def start(self) -> None:
        """Start a node on a new machine at the same address; it tries to join until it succeeds."""
        self.lives, self.joined = self.lives + 1, False
        self.machine = self.history.network.machine(self.host)
        self._joining = self.machine.start(self._keep_joining())

    def crash(self, silent: bool) -> None:
        """Crash its machine."""
        self.joined = False
        self.machine.crash(silent)

    async def leave(self) -> None:
        """End in good order, as far as that is possible within some cycles."""
        self.joined = False
        leaving = self.machine.start(self.say_goodbye())
        await asyncio.wait([leaving], timeout=SPREAD * PERIOD)
        self.machine.crash()

    @property
    def is_live(self) -> bool:
        """Whether it has joined, and its machine runs."""
        return self.joined and not (self.machine.crashed or self.machine.stopped)

    @abstractmethod
    async def join(self, contact: Participant | None) -> None:
        """Make a node and join through a contact; raises a ConnectionError if that does not answer."""

    @abstractmethod
    async def say_goodbye(self) -> None:
        """Leave the overlay."""

    @abstractmethod
    def excesses(self) -> list[str]:
        """The limits that it exceeds."""

    async def _keep_joining(self) -> None:
        while not self.joined:
            contact = self.history.contact_for(self)
            if contact is None and (self.number or self.lives > 1):
                await asyncio.sleep(PERIOD)
                continue
            try:
                await self.join(contact)
                self.joined = True
            except ConnectionError:
                await asyncio.sleep(PERIOD)

    def seed(self) -> int:
        """Random seed of the node; a new one after each restart."""
        return self.history.seed * 1_000_003 + self.number * 1009 + self.lives


Fault = Callable[["History"], Awaitable[None]]


class History(ABC):
    """A history, which can be run once.

    Parameters
    ----------
    seed : int
    plan : Plan

    Attributes
    ----------
    dice : random.Random
        Random numbers of the history itself; the network has its own.
    faults_are_over : bool
        Whether the last fault has ended, and the overlay is whole or ought to be.
    calm : Conditions
        The network's usual behaviour.
    """

    def __init__(self, seed: int, plan: Plan | None = None) -> None:
        self.seed, self.plan = seed, plan or Plan()
        self.dice = random.Random(f"history {seed}")
        self.calm = self.draw_conditions()
        self.network = Network(seed, self.calm)
        self.outcome = HistoryReport(seed)
        self.participants: list[Any] = []
        self.faults_are_over = False

    def run(self) -> HistoryReport:
        """Run the history."""
        loop = VirtualLoop(self.network)
        try:
            loop.run(self._live())
        except Exception as error:
            self.violate(f"the history failed: {error!r}")
        for reason in loop.broken:
            self.violate(f"a task failed: {reason}")
        self.outcome.seconds, self.outcome.digest = loop.time(), self.network.digest()
        for name in ("lost", "doubled", "overtaking", "refused", "reset", "cut off"):
            if self.network.counts[name]:
                self.outcome.faults[name] += self.network.counts[name]
        return self.outcome

    def violate(self, what: str) -> None:
        """Note that a rule was broken."""
        self.outcome.violations.append(what)

    def draw_conditions(self) -> Conditions:
        """The network's usual behaviour."""
        return Conditions(
            latency=(0.001, self.dice.choice([0.01, 0.1, 0.4])), jitter=self.dice.choice([0.001, 0.05])
        )

    def contact_for(self, newcomer: Participant) -> Any | None:
        """A participant that has joined, as contact of a newcomer."""
        there = [each for each in self.participants if each.is_live and each is not newcomer]
        return self.dice.choice(there) if there else None

    def may_crash(self, participant: Any) -> bool:
        """Whether a participant may crash for good, as the others can do without it."""
        return True

    @abstractmethod
    def faults(self) -> list[Fault]:
        """The kinds of faults that may occur."""

    @abstractmethod
    def further_faults(self) -> list[Fault]:
        """Further kinds (`Plan.further`), drawn apart: with none of them, the others are what they were."""

    @abstractmethod
    def new_participant(self, number: int) -> Participant:
        """A participant."""

    @abstractmethod
    def is_whole(self) -> bool:
        """Whether all participants have the links that they need."""

    @abstractmethod
    async def publish(self) -> None:
        """Publish an event from any participant."""

    async def _finish(self, publishing: asyncio.Task[Any], cycles: float) -> Any | None:
        """Wait until somebody has published; None if it crashed in the meantime, or takes too long."""
        await asyncio.wait([publishing], timeout=cycles * PERIOD)
        if publishing.done() and not publishing.cancelled():
            return publishing.result()
        if self.faults_are_over:
            self.violate(f"publishing takes more than {cycles} cycles")
        return None

    @abstractmethod
    def missing(self) -> list[str]:
        """Which participant did not get which event published since `forget_events`."""

    @abstractmethod
    def forget_events(self) -> None:
        """Expect no deliveries of the events so far."""

    async def _live(self) -> None:
        plan, dice = self.plan, self.dice
        for number in range(dice.randint(*plan.nodes)):
            self.participants.append(self.new_participant(number))
        for each in self.participants:
            each.start()
            await asyncio.sleep(dice.choice([0.0, 0.3 * PERIOD]))
        watching = asyncio.create_task(self._watch())
        await asyncio.sleep(plan.calm * PERIOD)
        await self._inject_faults()
        self.forget_events()
        await self._heal()
        self.faults_are_over = True
        for _ in range(plan.events):
            await self.publish()
        await asyncio.sleep(SPREAD * PERIOD)
        for line in self.missing():
            self.violate(line)
        watching.cancel()

    async def _inject_faults(self) -> None:
        """Let faults happen, and publish events meanwhile."""
        plan, dice = self.plan, self.dice
        kinds = self.faults()
        under_way = []
        for _ in range(dice.randint(*plan.faults)):
            under_way.append(
                asyncio.create_task(self._inject(dice.choice(kinds), dice.uniform(0, plan.faulty)))
            )
        apart, kinds = random.Random(f"further faults {self.seed}"), self.further_faults()
        for _ in range(apart.randint(*plan.further)):
            under_way.append(
                asyncio.create_task(self._inject(apart.choice(kinds), apart.uniform(0, plan.faulty)))
            )
        for _ in range(plan.events):
            await asyncio.sleep(plan.faulty * PERIOD / plan.events)
            await self.publish()
        for task in under_way:
            await task
        self.network.cut.clear()

    async def _inject(self, fault: Fault, after: float) -> None:
        await asyncio.sleep(after * PERIOD)
        self.outcome.faults[fault.__name__.replace("_", " ")] += 1
        await fault(self)

    async def _heal(self) -> None:
        for cycle in range(HEAL + 1):
            if all(each.joined for each in self.participants if not each.machine.crashed) and self.is_whole():
                self.outcome.healed = cycle
                return
            await asyncio.sleep(PERIOD)
        self.violate(f"the overlay is not whole {HEAL} cycles after the last fault")

    async def _watch(self) -> None:
        """Check the limits of all participants once a cycle."""
        while True:
            await asyncio.sleep(PERIOD)
            for each in self.participants:
                if each.joined:
                    for line in each.excesses():
                        self.violate(f"node {each.number}: {line}")
