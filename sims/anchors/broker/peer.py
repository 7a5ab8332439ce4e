"""A client of a broker, and the broker.

After MQTT (OASIS, version 5.0, Sections 3.1.2.10, 3.8 and 3.12): a client repeats its subscription until the
broker acknowledges it, and then sends keep-alive messages. The broker drops a client that was silent for one
and a half keep-alive intervals. A client that the broker has dropped subscribes again. Ranges instead of
MQTT's topic filters are our choice.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from sims.anchors.broker.settings import BrokerSettings
from sims.anchors.objects import ObjectPeer
from sims.anchors.transport import Sends
from sub2sub.peers.descriptors import NAME, RANGE
from sub2sub.peers.draws import Dice


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
