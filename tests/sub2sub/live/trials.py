"""Histories of Sub-2-Sub nodes in which one thing goes wrong at a time.

In the histories of `tests.histories.rings` whatever is lost is soon found again: in small overlays
gossip, probes and contacts all lead to everybody. So a defect of one mechanism may go unnoticed. Here each
has a trial of its own, with a bound that follows from its rule: within so few ticks nothing else can help.

All nodes subscribe to ranges from 0 on, so that at one point they are all one ring, and most know more
neighbours there than the next ones. Half of the histories send events along the ring only, and some of these
recover missed events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from sub2sub.live.core.settings import CoreSettings
from sub2sub.live.net.node import Node
from sub2sub.live.virtual.conditions import Conditions
from sub2sub.peers.settings import DisseminationSettings, RecoverySettings
from tests.histories.history import HEAL, PERIOD, SPREAD
from tests.histories.rings import REPLY, Box, RingHistory, Subscriber

TICK = 1.1  # cycles between two ticks of a node, at most
MOMENT = 0.3  # cycles; messages take some thousandths
LOOK = 0.05  # cycles between two looks
LONGEST = 6  # times `CALM` that a trial is put off while links to peers that are gone are left
CALM = 12  # cycles after which peers are at rest, and know all that they can know
HISTORY = 20  # cycles for which events are recovered, in histories that do so
EVERYBODY = [0.1]  # a point in all ranges
NOWHERE = ("10.9.9.9", 9)
LATENCY = 1.7  # cycles, of a slow network: twice that is more than the usual timeout


class TrialSubscriber(Subscriber):
    """A node with one range from 0 on, and a clock that is right: bounds are in its ticks."""

    history: TrialRings

    def __init__(self, history: TrialRings, number: int) -> None:
        super().__init__(history, number)
        self.drift = 1.0
        self.boxes = [self._draw_box()]
        self.also: list[tuple[str, int]] = []  # contacts in front of the one that is there

    def _draw_box(self) -> Box:
        return [0.0], [self.history.dice.choice([0.2, 0.4, 0.6, 0.8, 1.0])]

    def new_node(self, contact: Any) -> Node:
        """A node at this participant's address."""
        return super().new_node([*self.also, contact] if self.also else contact)

    async def unsubscribe(self) -> None:
        """End its subscription."""
        self.boxes = []
        await self.node.unsubscribe(*self.node.subscriptions.values())

    async def subscribe(self) -> None:
        """Subscribe anew."""
        self.boxes = [self._draw_box()]
        self.subscribed[0] = await self.node.subscribe(*self.boxes[0], self._note(0))

    @property
    def core(self) -> Any:
        """Its one peer."""
        (core,) = self.node.cores.values()
        return core


class TrialRings(RingHistory):
    """A history of Sub-2-Sub nodes with half of the trials, in any order."""

    def __init__(self, seed: int, plan: Any = None) -> None:
        super().__init__(seed, plan)
        self.attributes = 1
        has_shortcuts, self.recovers = self.dice.choice([(True, False), (False, False), (False, True)])
        settings = CoreSettings()
        if self.recovers:
            settings = replace(
                settings, overlay=replace(settings.overlay, recovery=RecoverySettings(history=HISTORY))
            )
        if not has_shortcuts:
            settings = replace(settings, dissemination=DisseminationSettings(shortcuts=0))
        self.settings: CoreSettings = settings

    def draw_conditions(self) -> Conditions:
        """A fast network: what is lost is lost by a trial."""
        return Conditions(latency=(0.001, 0.003), jitter=0.0005)

    def new_participant(self, number: int) -> TrialSubscriber:
        """A subscriber."""
        return TrialSubscriber(self, number)

    async def _inject_faults(self) -> None:
        trials: list[Callable[[], Awaitable[None]]] = [
            self.silent_neighbours, self.refusing_neighbours, self.indifferent_neighbours, self.newcomer,
            self.dead_contact, self.goodbye, self.changed_range, self.restart,
            self.refused_connections, self.stopped, self.slow_answers, self.missed_event,
            self.idle_publisher, self.long_absence,
        ]  # fmt: skip
        for trial in self.dice.sample(trials, len(trials) // 2):
            await self._heal()
            await self._settle()
            self.outcome.faults[trial.__name__.replace("_", " ")] += 1
            await trial()
        await self._heal()
        await self._settle()  # until connections are tried again that could not be opened during a trial

    async def _settle(self) -> None:
        """Wait until peers are at rest and nobody knows one that is gone, but not for ever."""
        for _ in range(LONGEST):
            await asyncio.sleep(CALM * PERIOD)
            if self._all_known_are_there():
                return

    def _all_known_are_there(self) -> bool:
        there = {each.core.own.id for each in self.live}
        return all(peer.id in there for each in self.live for peer in each.core.known())

    @property
    def live(self) -> list[TrialSubscriber]:
        """Those that have joined, and run."""
        return [each for each in self.participants if each.is_live]

    @property
    def patience(self) -> float:
        """Cycles after which a question is given up: at the first tick that is later than `patience`."""
        return (self.settings.patience + 1) * TICK

    async def silent_neighbours(self) -> None:
        """Both neighbours of a publisher crash: after `patience` its event goes to the next (`retries`)."""
        await self._lose_neighbours(silent=True, cycles=self.patience + MOMENT)

    async def refusing_neighbours(self) -> None:
        """Both neighbours refuse connections: its event goes to the next at once (`unreachable`)."""
        await self._lose_neighbours(silent=False, cycles=MOMENT)

    async def _lose_neighbours(self, silent: bool, cycles: float) -> None:
        publisher, lost = self._surrounded()
        for each in lost:
            each.crash(silent)
        await asyncio.sleep(0.01 * PERIOD)  # until connections are reset
        await self._publish(publisher, EVERYBODY, cycles, "though its neighbours are gone")
        for each in lost:
            each.start()

    async def indifferent_neighbours(self) -> None:
        """Both neighbours do not want the event any more: they refuse it, and it goes to the next at once."""
        publisher, lost = self._surrounded()
        for each in lost:
            await each.machine.start(each.unsubscribe())
        await self._publish(publisher, EVERYBODY, MOMENT, "that its neighbours refuse")
        for each in lost:
            await each.machine.start(each.subscribe())

    def _surrounded(self) -> tuple[TrialSubscriber, list[TrialSubscriber]]:
        """One that knows more ring neighbours than the adjacent ones, and these; else anybody and nobody."""
        for one in self.dice.sample(self.live, len(self.live)):
            ring = [each.peer for each in one.core.ring.in_order()]
            if len(ring) > 2:
                return one, [each for each in self.live if each.core.own in (ring[0], ring[-1])]
        return one, []

    async def newcomer(self) -> None:
        """It asks for its neighbours when it joins (`Seek`): all is whole before its first tick."""
        await self._join(self._new(), cycles=0.8)

    async def dead_contact(self) -> None:
        """The first of two contacts is not there: a newcomer waits for that no longer than `reply`."""
        newcomer = self._new()
        newcomer.also = [NOWHERE]
        await self._join(newcomer, cycles=REPLY + 0.8)

    async def goodbye(self) -> None:
        """Neighbours probe a leaving peer at their next tick, drop it, and find others at the one after."""
        victim = self.dice.choice(self.live)
        gone = victim.core.own.id
        cycles = self._if_settled(2 * TICK)
        await victim.leave()
        await self._soon(TICK + MOMENT, "forgets one that said goodbye", lambda: self._nobody_has(gone))
        await self._soon(cycles, "is whole after a goodbye", self.is_whole)
        victim.start()

    async def changed_range(self) -> None:
        """Neighbours probe the old peer at their next tick, and are told of the new one (`Changed`).

        Where the new peer is not needed instead of the old one, others are found at the tick after.
        """
        victim = self.dice.choice(self.live)
        old = victim.core.own.id
        cycles = self._if_settled(2 * TICK)
        victim.change(0)
        await asyncio.sleep(MOMENT * PERIOD)
        await self._soon(TICK, "forgets a peer that has changed", lambda: self._nobody_has(old))
        await self._soon(cycles, "is whole after a change", self.is_whole)

    async def restart(self) -> None:
        """A node returns under another ID: links to the old one are probed when they are `suspect_age` old.

        Others may have heard from it one tick before, and a probe is given up after `patience`; then
        neighbours are found at the next tick.
        """
        victim = self.dice.choice(self.live)
        old = victim.core.own.id
        found = self._if_settled(2 * TICK)
        victim.crash(silent=False)
        victim.start()
        age = self.settings.overlay.suspect_age
        cycles = TICK * (age + 1) + self.patience
        await self._soon(cycles, "forgets the ID before a restart", lambda: self._nobody_has(old))
        await self._soon(found, "is whole after a restart", self.is_whole)

    async def refused_connections(self) -> None:
        """All connections end, and none can be opened for a cycle; back-off is a cycle, too, then.

        Peers that look dead have to be heard from again, one tick later, and be considered, at the next.
        """
        self.network.conditions = replace(self.calm, refused=1.0)
        for end in [end for machine in self.network.machines for end in machine.ends]:
            end.reset()
        await asyncio.sleep(PERIOD)
        self.network.conditions = self.calm
        await self._soon(1.0 + 4 * TICK, "is whole after a storm", self.is_whole)

    async def stopped(self) -> None:
        """Everybody drops a node that stands still; when it runs again, it turns to its neighbours."""
        victim = self.dice.choice(self.live)
        machine = victim.machine
        machine.stop()
        await asyncio.sleep((self.settings.overlay.suspect_age + 2 * self.patience) * PERIOD)
        machine.resume()
        await self._soon(self.patience + 3 * TICK, "is whole after somebody stood still", self.is_whole)

    async def slow_answers(self) -> None:
        """Answers take longer than `patience`: peers measure that and wait, up to 5 times as long."""
        self._change_conditions(Conditions(latency=(LATENCY, LATENCY), jitter=0.0))
        await asyncio.sleep(HEAL * PERIOD)
        await self._always(2 * CALM, "is whole while answers are late", self.is_whole)
        self._change_conditions(self.calm)

    def _change_conditions(self, conditions: Conditions) -> None:
        self.network.conditions = conditions
        self.network._distances.clear()  # drawn anew, by the new conditions

    async def missed_event(self) -> None:
        """A node gets nothing while an event is published; neighbours tell it at their next tick."""
        if not self.recovers:
            return
        victim, publisher = self.dice.sample(self.live, 2)
        self.network.cut = {(each.host, victim.host) for each in self.participants}
        self.forget_events()
        published = await publisher.machine.start(publisher.node.publish(EVERYBODY))
        self.expect(published.name, EVERYBODY)
        await asyncio.sleep(MOMENT * PERIOD)
        self.network.cut = set()
        await self._soon(2 * TICK, "recovers an event", lambda: not self.missing())

    async def idle_publisher(self) -> None:
        """All peers that a publisher knew were silent; when it publishes again, it asks its contact."""
        contact = self.dice.choice(self.live)
        machine = self.network.machine("127.1.0.1")
        node = Node(
            1, (contact.host, contact.node.address[1]), ("127.1.0.1", 7000), PERIOD, reply=REPLY, seed=1
        )
        await machine.start(node.__aenter__())
        self.network.cut = {("127.1.0.1", each.host) for each in self.participants}
        first = await machine.start(node.publish(EVERYBODY))
        if first.outcome != "unknown":
            self.violate(f"a publisher that reaches nobody says {first.outcome}")
        self.network.cut = set()
        await asyncio.sleep(PERIOD)
        self.forget_events()
        again = await machine.start(node.publish(EVERYBODY))
        self.expect(again.name, EVERYBODY)
        await self._soon(SPREAD, "gets an event of a publisher that was idle", lambda: not self.missing())
        await machine.start(node.leave())

    async def long_absence(self) -> None:
        """One is cut off until all have forgotten it; back-off is 30 s at most, and contacts are asked."""
        victim = self.dice.choice(self.live)
        pairs = {(victim.host, each.host) for each in self.participants if each is not victim}
        self.network.cut = pairs | {(b, a) for a, b in pairs}
        await asyncio.sleep(2 * HEAL * PERIOD)
        self.network.cut = set()
        await self._soon(HEAL, "is whole after a long absence", self.is_whole)

    def _new(self) -> TrialSubscriber:
        newcomer = self.new_participant(len(self.participants))
        self.participants.append(newcomer)
        return newcomer

    async def _join(self, newcomer: TrialSubscriber, cycles: float) -> None:
        cycles = self._if_settled(cycles)
        newcomer.start()
        await self._soon(cycles, "has a newcomer and is whole", lambda: newcomer.joined and self.is_whole())

    def _if_settled(self, cycles: float) -> float:
        """A bound for finding neighbours: a peer that is told of one that is gone waits for that first."""
        return cycles if self._all_known_are_there() else HEAL

    def _nobody_has(self, id: int) -> bool:
        return not any(id in each.core.ring.view for each in self.live)

    async def _publish(self, publisher: Any, point: list[float], cycles: float, when: str) -> None:
        self.forget_events()
        published = await publisher.machine.start(publisher.node.publish(point))
        self.expect(published.name, point)
        await self._soon(cycles, f"gets an event {when}", lambda: not self.missing())

    async def _soon(self, cycles: float, what: str, is_so: Callable[[], bool]) -> None:
        """Look until something is so; after so many cycles it has to be."""
        for _ in range(round(cycles / LOOK) + 1):
            if is_so():
                return
            await asyncio.sleep(LOOK * PERIOD)
        self.violate(f"within {cycles:.1f} cycles not everybody {what}")

    async def _always(self, cycles: float, what: str, is_so: Callable[[], bool]) -> None:
        """Look for so many cycles whether something is so all the time."""
        for _ in range(round(cycles / LOOK)):
            if not is_so():
                self.violate(f"not everybody {what}")
                return
            await asyncio.sleep(LOOK * PERIOD)
