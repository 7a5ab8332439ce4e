"""Histories of Sub-2-Sub nodes, whose overlay is whole when all rings are complete."""

from __future__ import annotations

import asyncio
from typing import Any

from sub2sub.live.net.node import Node
from sub2sub.live.net.subscriptions import Received
from sub2sub.live.virtual.attackers import ATTACKS
from sub2sub.live.virtual.faults import FAULTS
from sub2sub.live.virtual.history import PERIOD, PORT, SPREAD, Fault, History, Participant
from sub2sub.live.virtual.invariants import core_excesses, host_excesses
from sub2sub.overlay.descriptors import Descriptor

Box = tuple[list[float], list[float]]


class Subscriber(Participant):
    """A node with one or two subscriptions."""

    history: RingHistory

    def __init__(self, history: RingHistory, number: int) -> None:
        super().__init__(history, number)
        dice, d = history.dice, history.attributes
        self.boxes: list[Box] = []
        for _ in range(dice.choice([1, 1, 1, 2])):
            low = [dice.choice([0.0, dice.random() * 0.7]) for _ in range(d)]
            self.boxes.append((low, [x + dice.choice([0.3, 1.0]) for x in low]))
        self.node: Node

    async def join(self, contact: Participant | None) -> None:
        """Make a node, and subscribe."""
        at = (contact.host, PORT) if contact else None
        node = Node(
            self.history.attributes, at, (self.host, PORT), PERIOD * self.drift, seed=self.seed(), reply=2.0
        )
        await node.__aenter__()
        self.node = node
        for low, high in self.boxes:
            await node.subscribe(low, high, self._note(low, high))

    def _note(self, low: list[float], high: list[float]) -> Any:
        heard: set[bytes] = set()

        def note(event: Received) -> None:
            if event.name in heard:
                self.history.violate(f"node {self.number} delivered an event twice")
            heard.add(event.name)
            if not all(a <= x <= b for a, x, b in zip(low, event.point, high, strict=True)):
                self.history.violate(f"node {self.number} delivered {event.point}, wants {low} to {high}")
            self.history.delivered(event.name, self, tuple(low))

        return note

    def descriptors(self) -> list[tuple[Descriptor, set[int]]]:
        """Its peers, each with the IDs of its ring neighbours."""
        return [(each.own, set(each.core.ring.view)) for each in self.node.subscriptions.values()]

    def excesses(self) -> list[str]:
        """The limits that it exceeds."""
        cores = [each.core for each in self.node.subscriptions.values()]
        return [*host_excesses(self.node), *(line for core in cores for line in core_excesses(core))]


class RingHistory(History):
    """A history of Sub-2-Sub nodes."""

    participants: list[Subscriber]

    def __init__(self, seed: int, plan: Any = None) -> None:
        super().__init__(seed, plan)
        self.attributes = self.dice.choice([1, 1, 2, 3])
        self._wanted: dict[bytes, set[tuple[int, tuple[float, ...]]]] = {}
        self._had: dict[bytes, set[tuple[int, tuple[float, ...]]]] = {}

    def faults(self) -> list[Fault]:
        """All faults, and attacks."""
        return [*FAULTS, *ATTACKS]

    def new_participant(self, number: int) -> Subscriber:
        """A subscriber."""
        return Subscriber(self, number)

    def delivered(self, name: bytes, at: Subscriber, low: tuple[float, ...]) -> None:
        """Note a delivery."""
        self._had.setdefault(name, set()).add((at.number, low))

    def is_whole(self) -> bool:
        """Whether the ring of each corner of a box is complete: all its peers have their two neighbours."""
        peers = [each for who in self.participants if who.is_live for each in who.descriptors()]
        for corner in {corner for own, _ in peers for corner in (own.low, own.high)}:
            ring = sorted((own.id, known) for own, known in peers if own.matches(corner))
            for place, (id, known) in enumerate(ring):
                after = ring[(place + 1) % len(ring)]
                if len(ring) > 1 and (after[0] not in known or id not in after[1]):
                    return False
        return True

    async def publish(self) -> None:
        """Publish from any participant, at a corner of a box or at a random point."""
        dice = self.dice
        live = [each for each in self.participants if each.is_live]
        if not live:
            return
        box = dice.choice(dice.choice(live).boxes)
        point = dice.choice([box[0], box[1], [dice.random() for _ in range(self.attributes)]])
        publisher = dice.choice(live)
        task = publisher.machine.start(publisher.node.publish(point))
        await asyncio.wait([task], timeout=SPREAD * PERIOD)
        if not task.done():
            return
        self.expect(task.result().name, point)

    def expect(self, name: bytes, point: list[float]) -> None:
        """Expect an event at all live participants that subscribe to it."""
        self._wanted[name] = {
            (each.number, tuple(low))
            for each in self.participants
            if each.is_live
            for low, high in each.boxes
            if all(a <= x <= b for a, x, b in zip(low, point, high, strict=True))
        }

    def missing(self) -> list[str]:
        """A line for each participant that did not get an event."""
        return [
            f"node {number} did not get an event"
            for name, wanted in self._wanted.items()
            for number, _ in sorted(wanted - self._had.get(name, set()))
        ]

    def forget_events(self) -> None:
        """Expect no deliveries of the events so far."""
        self._wanted.clear()
