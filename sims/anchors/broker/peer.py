"""A client of a broker, and the broker.

After MQTT (OASIS, version 5.0, Sections 3.1.2.10, 3.8 and 3.12): a client subscribes until it is told that it
is subscribed, and shows from time to time that it is there; the broker forgets a client that it has not
heard of for one and a half times that long. A client that is answered by a broker that does not know it
subscribes again. Ranges in place of MQTT's topic filters are ours.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from sims.anchors.broker.settings import BrokerSettings
from sims.anchors.objects import ObjectPeer
from sims.anchors.transport import Sends
from sub2sub.kernels.dice import Dice
from sub2sub.overlay.sizes import NAME, RANGE

__all__ = ["Answer", "Broker", "Client", "Ping", "Subscribe"]


class Subscribe(NamedTuple):
    """What a client wants: ranges of so many attributes."""

    attributes: int

    @property
    def size(self) -> int:
        """Bytes: the ranges."""
        return RANGE * self.attributes


class Ping(NamedTuple):
    """A sign of life."""

    size: int = 0


class Answer(NamedTuple):
    """To either; whether the broker has the subscription."""

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
        """Subscribe, or show that it is there."""
        if not self.subscribed:
            return [(self.broker, Subscribe(self.attributes))]
        due = (cycle + self.own) % self.settings.keepalive == 0
        return [(self.broker, Ping())] if due else []

    def receive(self, sender: int, message: Answer, dice: Dice) -> Sends:
        """Note whether the broker knows it."""
        self.subscribed = int(message.known)
        return ()

    def unreachable(self, target: int, message: Subscribe | Ping, dice: Dice) -> Sends:
        """Try again."""
        self.subscribed = 0
        return ()

    def introduce(self, contact: int) -> None:
        """Nothing: the broker is known."""

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
        """Forget those that are silent."""
        self.now, patience = cycle, 1.5 * self.settings.keepalive
        self.heard = {client: last for client, last in self.heard.items() if cycle - last <= patience}
        return ()

    def receive(self, sender: int, message: Subscribe | Ping, dice: Dice) -> Sends:
        """Note a subscription, or a sign of life."""
        known = isinstance(message, Subscribe) or sender in self.heard
        if known:
            self.heard[sender] = self.now
        return [(sender, Answer(known))]

    def unreachable(self, target: int, message: Answer, dice: Dice) -> Sends:
        """Leave it: silence will tell."""
        return ()

    def introduce(self, contact: int) -> None:
        """Nothing: clients come by themselves."""

    def links(self) -> list[int]:
        """Its clients."""
        return list(self.heard)
