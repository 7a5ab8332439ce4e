"""Histories of Sub-2-Sub nodes, whose overlay is whole when all rings are complete and everybody is found."""

from __future__ import annotations

from typing import Any

from sub2sub.live.core.settings import CoreSettings
from sub2sub.live.net.node import Node
from sub2sub.live.net.subscriptions import Received, Subscription
from sub2sub.live.wire.limits import Limits
from sub2sub.peers.descriptors import Descriptor
from sub2sub.rings.selection import select_ring
from tests.histories.faults import FAULTS, FURTHER
from tests.histories.history import PERIOD, PORT, SPREAD, Fault, History, Participant
from tests.histories.invariants import core_excesses, node_excesses
from tests.histories.strangers import STRANGERS

Box = tuple[list[float], list[float]]
REPLY = 2.0  # seconds to wait for an answer while joining and publishing
LIMITS = Limits(incoming=32)  # so that strangers can take all connections of a node


class Subscriber(Participant):
    """A node with one or two subscriptions."""

    history: RingHistory
    node_type: Any = Node

    def __init__(self, history: RingHistory, number: int) -> None:
        super().__init__(history, number)
        self.boxes: list[Box] = [self._draw_box() for _ in range(history.dice.choice([1, 1, 1, 2]))]
        self.node: Node
        self.subscribed: dict[int, Subscription] = {}  # by the place of the box

    def _draw_box(self) -> Box:
        dice = self.history.dice
        low = [dice.choice([0.0, dice.random() * 0.7]) for _ in range(self.history.attributes)]
        return low, [x + dice.choice([0.3, 1.0]) for x in low]

    async def join(self, contact: Participant | None) -> None:
        """Make a node, and subscribe."""
        node = self.new_node((contact.host, PORT) if contact else None)
        await node.__aenter__()
        self.node = node
        for number in range(len(self.boxes)):
            self.subscribed[number] = await self.enter(number)

    async def enter(self, number: int) -> Any:
        """Subscribe to one of its ranges."""
        return await self.node.subscribe(*self.boxes[number], self._note(number))

    def new_node(self, contact: Any) -> Any:
        """A node at this participant's address."""
        return self.node_type(
            self.history.attributes, contact, (self.host, PORT), PERIOD * self.drift,
            settings=self.history.settings, limits=LIMITS, seed=self.seed(), reply=REPLY,
        )  # fmt: skip

    async def say_goodbye(self) -> None:
        """Leave the overlay."""
        await self.node.leave()

    def change(self, number: int) -> None:
        """Subscribe to something else in the place of one subscription."""
        self.boxes[number] = self._draw_box()
        self.machine.start(self.node.change(self.subscribed[number], *self.boxes[number]))

    def _note(self, number: int) -> Any:
        heard: set[bytes] = set()

        def note(event: Received) -> None:
            if event.name in heard:
                self.history.violate(f"node {self.number} delivered an event twice")
            heard.add(event.name)
            low, high = self.boxes[number]
            if not all(a <= x <= b for a, x, b in zip(low, event.point, high, strict=True)):
                self.history.violate(f"node {self.number} delivered {event.point}, wants {low} to {high}")
            self.history.delivered(event.name, self, number)

        return note

    def descriptors(self) -> list[tuple[Descriptor, set[int]]]:
        """Its peers, each with the IDs of its ring neighbours."""
        return [(each.own, set(each.core.ring.view)) for each in self.node.subscriptions.values()]

    def known_hosts(self) -> set[str]:
        """The hosts of all peers in its views."""
        return {peer.address[0] for core in self.node.cores.values() for peer in core.known()}

    def excesses(self) -> list[str]:
        """The limits that it exceeds."""
        cores = [each.core for each in self.node.subscriptions.values()]
        return [*node_excesses(self.node), *(line for core in cores for line in core_excesses(core))]


class RingHistory(History):
    """A history of Sub-2-Sub nodes."""

    participants: list[Any]  # of Subscriber
    settings: CoreSettings | None = None

    def __init__(self, seed: int, plan: Any = None) -> None:
        super().__init__(seed, plan)
        self.attributes = self.dice.choice([1, 1, 2, 3])
        self._wanted: dict[bytes, set[tuple[int, int]]] = {}  # participants, and which of their boxes
        self._had: dict[bytes, set[tuple[int, int]]] = {}

    def faults(self) -> list[Fault]:
        """All faults, and strangers."""
        return [*FAULTS, *STRANGERS]

    def further_faults(self) -> list[Fault]:
        """Leaving, long absences, and changed subscriptions."""
        return [*FURTHER, changed_subscription]

    def new_participant(self, number: int) -> Subscriber:
        """A subscriber."""
        return Subscriber(self, number)

    def delivered(self, name: bytes, at: Subscriber, box: int) -> None:
        """Note a delivery."""
        self._had.setdefault(name, set()).add((at.number, box))

    def is_whole(self) -> bool:
        """Whether rings are complete, and publishers find everybody."""
        return self.is_one_overlay() and self.rings_are_complete()

    def is_one_overlay(self) -> bool:
        """Whether links lead from every participant to all others: their ranges need not overlap."""
        known = {each.host: each.known_hosts() for each in self.participants if each.is_live}
        return all(_reached(host, known) == known.keys() for host in known)

    def rings_are_complete(self) -> bool:
        """Whether all peers have their two ring neighbours at every point (Sub-2-Sub, Figure 3)."""
        peers = [each for who in self.participants if who.is_live for each in who.descriptors()]
        for own, known in peers:
            others = [each for each, _ in peers if each is not own]
            low, high = [each.low for each in others], [each.high for each in others]
            ring = select_ring(own.low, own.high, own.id, low, high, [each.id for each in others])
            if not {others[place].id for place in (*ring.successors, *ring.predecessors)} <= known:
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
        published = await self._finish(task, SPREAD)
        if published:
            self.expect(published.name, point)

    def expect(self, name: bytes, point: list[float]) -> None:
        """Expect an event at all live participants that subscribe to it."""
        self._wanted[name] = {
            (each.number, box)
            for each in self.participants
            if each.is_live
            for box, (low, high) in enumerate(each.boxes)
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


def _reached(start: str, known: dict[str, set[str]]) -> set[str]:
    """The hosts to which links lead from one, and that one itself."""
    reached, queue = {start}, [start]
    while queue:
        new = (known[queue.pop()] & known.keys()) - reached
        reached |= new
        queue += sorted(new)
    return reached


async def changed_subscription(history: History) -> None:
    """A subscription becomes another one."""
    live = [each for each in history.participants if each.is_live]
    if live:
        who = history.dice.choice(live)
        who.change(history.dice.randrange(len(who.boxes)))
