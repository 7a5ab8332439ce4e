"""A broker: one server that knows all subscriptions and sends every event to the subscribers that match.

It is what most engineers would use. It needs one message to the broker and one for each delivery, and carries
the whole load. In comparisons it stays up while subscribers crash; in a run it may crash.

After MQTT (OASIS, version 5.0, Sections 3.1.2.10, 3.8 and 3.12): a client repeats its subscription until the
broker acknowledges it, and then sends keep-alive messages. The broker drops a client that was silent for one
and a half keep-alive intervals. A client that the broker has dropped subscribes again. Ranges instead of
MQTT's topic filters are our choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.config.entries import Kinds
from sims.config.interests import WorkloadSettings
from sims.observers.deliveries import Deliveries
from sims.rivals.base.accounts import Retries
from sims.rivals.base.entrants import Knob, Look
from sims.rivals.base.objects import ObjectLayer, ObjectPeer, Sends
from sims.rivals.base.system import Integers
from sims.rivals.below.known_trees import KnownTrees, Plan
from sub2sub.errors import require
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack
from sub2sub.peers.descriptors import NAME, RANGE
from sub2sub.peers.draws import Dice

NOWHERE = -1e18  # the broker's own subscription, which no event matches


@dataclass(frozen=True)
class BrokerSettings:
    """Settings of a broker.

    Attributes
    ----------
    keepalive : int
        Cycles between two keep-alive messages of a client. The broker drops a client that was silent for one
        and a half times as long. Shorter intervals cost messages; longer ones, events sent to dead clients.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    keepalive: int = 6
    tries: int = 3

    def __post_init__(self) -> None:
        require(self, "broker", keepalive=1, tries=1)


class Subscribe(NamedTuple):
    """A subscription: one range for each attribute."""

    attributes: int

    @property
    def size(self) -> int:
        """Bytes: the ranges."""
        return RANGE * self.attributes


class Ping(NamedTuple):
    """A keep-alive message."""

    size: int = 0


class Answer(NamedTuple):
    """The answer to both; whether the broker has the subscription."""

    known: bool
    size: int = NAME


class Client(ObjectPeer):
    """A subscriber.

    Examples
    --------
    >>> client, broker = Client(1, 0, 2, BrokerSettings()), Broker(BrokerSettings())
    >>> (to, message), = client.turn(1, Dice(0))
    >>> (_, answer), = broker.receive(1, message, Dice(0))
    >>> client.receive(to, answer, Dice(0)), client.subscribed
    ((), 1)
    """

    kept: ClassVar[tuple[str, ...]] = ("subscribed",)

    def __init__(self, own: int, broker: int, attributes: int, settings: BrokerSettings) -> None:
        self.own, self.broker, self.attributes, self.settings = own, broker, attributes, settings
        self.subscribed = 0

    def turn(self, cycle: int, dice: Dice) -> Sends:
        """Subscribe, or send a keep-alive message."""
        if not self.subscribed:
            return [(self.broker, Subscribe(self.attributes))]
        due = (cycle + self.own) % self.settings.keepalive == 0
        return [(self.broker, Ping())] if due else []

    def receive(self, sender: int, message: Answer, dice: Dice) -> Sends:
        """Note whether the broker has the subscription."""
        self.subscribed = int(message.known)
        return ()

    def unreachable(self, target: int, message: Subscribe | Ping, dice: Dice) -> Sends:
        """Repeat the message in the next cycle."""
        self.subscribed = 0
        return ()

    def links(self) -> list[int]:
        """The broker."""
        return [self.broker]


class Broker(ObjectPeer):
    """The server.

    Attributes
    ----------
    heard : dict
        The cycle in which each client was last heard of.
    """

    kept: ClassVar[tuple[str, ...]] = ("heard", "now")

    def __init__(self, settings: BrokerSettings) -> None:
        self.settings, self.now = settings, 0
        self.heard: dict[int, int] = {}

    def turn(self, cycle: int, dice: Dice) -> Sends:
        """Drop clients that were silent for too long."""
        self.now, patience = cycle, 1.5 * self.settings.keepalive
        self.heard = {client: last for client, last in self.heard.items() if cycle - last <= patience}
        return ()

    def receive(self, sender: int, message: Subscribe | Ping, dice: Dice) -> Sends:
        """Note a subscription or a keep-alive message."""
        known = isinstance(message, Subscribe) or sender in self.heard
        if known:
            self.heard[sender] = self.now
        return [(sender, Answer(known))]

    def unreachable(self, target: int, message: Answer, dice: Dice) -> Sends:
        """Do nothing: a silent client is dropped later."""
        return ()

    def links(self) -> list[int]:
        """Its clients."""
        return list(self.heard)


class BrokerSystem(KnownTrees):
    """Every subscriber is a client of one broker, which is an additional peer."""

    name = "broker"
    workload = WorkloadSettings
    layers = BrokerSettings
    dissemination = Retries
    knobs = tuple(Knob(retries=r) for r in (0, 1, 2, 3))
    probe = Knob(retries=2)
    look = Look("black", "*", "-")
    layer_names = ("broker",)
    observers: ClassVar[Kinds] = {"delivery": Deliveries}
    overlay: Stack

    def build(self, layers: BrokerSettings | None, spare: int) -> Stack:
        """Build clients and a broker."""
        settings, d, nowhere = layers or BrokerSettings(), self.wanted.d, np.full((1, self.wanted.d), NOWHERE)
        lows, highs = (np.concatenate([side, nowhere]) for side in (self.wanted.lows, self.wanted.highs))
        population = Population.of(lows, highs, spare=spare, seed=self.seed)
        self.broker = int(np.flatnonzero(population.row == self.wanted.n)[0])

        def make(peer: int) -> Broker | Client:
            return Broker(settings) if peer == self.broker else Client(peer, self.broker, d, settings)

        self.layer = ObjectLayer("broker", len(population), make, settings.tries, self.seed)
        return Stack(population, [self.layer], self.seed)

    def fail(self, alive: NDArray[np.uint8], loss: float) -> None:
        """Crash subscribers, but not the broker."""
        super().fail(np.append(alive, np.uint8(1)), loss)

    def links(self) -> dict[str, Integers]:
        """One link each, to the broker."""
        return {"broker": np.ones(self.wanted.n, np.int64)}

    def subscribed(self) -> NDArray[np.bool_]:
        """Which subscriptions the broker has."""
        broker = self.layer.peers[self.broker]
        assert isinstance(broker, Broker)
        known = np.zeros(len(self.layer.peers), bool)
        known[list(broker.heard)] = True
        return known

    def plan(self, event: int, publisher: int, settings: Retries) -> Plan:
        """To the broker, and from there to the matching subscribers that it knows."""
        wanting = self.matches.of(event)
        known = self.computed("subscribed", self.subscribed)
        others = wanting[known[wanting] & (wanting != publisher)]
        nodes = np.concatenate([[publisher, self.broker], others])
        parents = np.ones(len(nodes), np.int64)
        parents[:2] = 0
        return nodes, parents
