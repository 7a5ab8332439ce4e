"""A layer of peers that are objects: their turns and messages, joins and checkpoints, for any protocol.

A peer returns the messages to send, as (target, message) pairs, and is notified when one could not be
delivered. Connections behave like TCP: a lost message is repeated, `tries` times in all; if all copies are
lost, its target is *unreachable*. The sender is billed for every copy. Headers of TCP and IP are not counted
(`sub2sub.peers.descriptors`).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import LinkTable
from sub2sub.peers.descriptors import HEADER
from sub2sub.peers.draws import Dice, stream_number

Integers = NDArray[np.int64]
Sends = Iterable[tuple[int, Any]]
ORDER = -2  # numbers the draws of the order of turns


class ObjectPeer(ABC):
    """One peer of a protocol.

    Attributes
    ----------
    kept : tuple of str
        Attributes that are its state: numbers, lists of numbers, and mappings of numbers to numbers or lists.
    """

    kept: ClassVar[tuple[str, ...]]
    contact = -1

    def introduce(self, contact: int) -> None:
        """Name a contact for the next turn."""
        self.contact = contact

    def seeks(self, cycle: int) -> bool:
        """Whether to ask the rendezvous for a contact; called once a cycle."""
        return False

    @abstractmethod
    def turn(self, cycle: int, dice: Dice) -> Sends:
        """What it sends once a cycle."""

    @abstractmethod
    def receive(self, sender: int, message: Any, dice: Dice) -> Sends:
        """Handle a message; return messages to send."""

    @abstractmethod
    def unreachable(self, target: int, message: Any, dice: Dice) -> Sends:
        """Note that a message could not be delivered; return messages to send."""

    @abstractmethod
    def links(self) -> list[int]:
        """Peers it knows."""

    def state(self) -> list[Any]:
        """For a checkpoint."""
        return [_plain(getattr(self, name)) for name in self.kept]

    def restore(self, state: list[Any]) -> None:
        """From a checkpoint."""
        for name, value in zip(self.kept, state, strict=True):
            setattr(self, name, _restored(value))


class Transport:
    """The messages of one layer.

    Attributes
    ----------
    messages, bytes : list of int
        What each peer has sent in the current cycle.
    failed : int
        Messages that did not arrive.

    Examples
    --------
    >>> transport = Transport(2, tries=3)
    >>> network = Network.whole(2)
    >>> network.alive[1] = 0
    >>> transport.open(network, Dice(1))
    >>> transport.arrives(0, 1, 10), transport.messages, transport.bytes
    (False, [3, 0], [66, 0])
    """

    def __init__(self, n: int, tries: int = 3) -> None:
        self.n, self.tries = n, tries
        self.messages, self.bytes, self.failed = [0] * n, [0] * n, 0
        self.alive: list[int] = []
        self.group: list[int] = []
        self.loss, self.losses, self.dice = 0.0, Dice(0), [Dice(0)] * 0

    def open(self, network: Network, dice: Dice) -> None:
        """Begin a cycle."""
        self.messages, self.bytes, self.failed = [0] * self.n, [0] * self.n, 0
        self.alive, self.group = network.alive.tolist(), network.group.tolist()
        self.loss, self.losses = float(network.loss), dice.of_peer(-1)
        self.dice = [dice.of_peer(peer) for peer in range(self.n)]

    def arrives(self, sender: int, target: int, size: int) -> bool:
        """Send a message, repeated while it is lost; whether it arrives."""
        copies, there = 1, True
        if not self.alive[target] or self.group[sender] != self.group[target]:
            copies, there = self.tries, False
        elif self.loss > 0.0:
            there = self.losses.next_unit() >= self.loss
            while not there and copies < self.tries:
                copies += 1
                there = self.losses.next_unit() >= self.loss
        self.messages[sender] += copies
        self.bytes[sender] += copies * (HEADER + size)
        self.failed += copies - there
        return there

    def carry(self, peers: Sequence[ObjectPeer], sender: int, sends: Sends) -> None:
        """Deliver messages and all that follow from them, the first sent first."""
        queue, dice = deque((sender, target, message) for target, message in sends), self.dice
        while queue:
            sender, target, message = queue.popleft()
            if self.arrives(sender, target, message.size):
                author, sends = target, peers[target].receive(sender, message, dice[target])
            else:
                author, sends = sender, peers[sender].unreachable(target, message, dice[sender])
            for further, answer in sends:
                queue.append((author, further, answer))

    def live(self, order: Dice) -> Iterator[int]:
        """Live peers, in a random order."""
        marks = sorted((order.bits(peer), peer) for peer in range(self.n) if self.alive[peer])
        return (peer for _, peer in marks)

    def bill(self) -> dict[str, int]:
        """Return what the cycle cost."""
        return {"messages": sum(self.messages), "failed": self.failed, "bytes": sum(self.bytes)}

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the cycle, by peer."""
        return np.array(self.messages, np.int64), np.array(self.bytes, np.int64)


P = TypeVar("P", bound=ObjectPeer)


class ObjectLayer(Generic[P]):
    """The layer of a protocol whose peers are objects.

    Parameters
    ----------
    name : str
        Names its random numbers, too.
    n : int
    make : function (peer)
        Make a peer without contacts.
    tries : int
        Copies of a message before its target counts as unreachable.
    seed : int
    """

    def __init__(self, name: str, n: int, make: Callable[[int], P], tries: int, seed: int) -> None:
        self.name, self.make = name, make
        self.seed, self.stream = seed, stream_number(name)
        self.transport = Transport(n, tries)
        self.peers: list[P] = [make(peer) for peer in range(n)]

    def seeking(self, cycle: int, alive: NDArray[np.uint8]) -> Sequence[int]:
        """Live peers that ask the rendezvous for a contact."""
        return [peer for peer, up in enumerate(alive.tolist()) if up and self.peers[peer].seeks(cycle)]

    def introduce(self, peer: int, contact: int) -> None:
        """Name a contact."""
        self.peers[peer].introduce(contact)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer take its turn, in random order."""
        dice = Dice.of(self.seed, self.stream, cycle)
        self.transport.open(network, dice)
        self.turns(cycle, dice)
        return self.transport.bill()

    def turns(self, cycle: int, dice: Dice) -> None:
        """The turns of a cycle."""
        for peer in self.transport.live(dice.of_peer(ORDER)):
            self.transport.carry(self.peers, peer, self.peers[peer].turn(cycle, self.transport.dice[peer]))

    def join(self, peers: Integers, contacts: Integers, cycle: int) -> None:
        """Start peers afresh, each with its contact."""
        for peer, contact in zip(peers.tolist(), contacts.tolist(), strict=True):
            self.peers[peer] = self.make(peer)
            if contact >= 0:
                self.peers[peer].introduce(contact)

    def links(self) -> LinkTable:
        """All links, with stamps of 0."""
        pairs = [(holder, other) for holder, peer in enumerate(self.peers) for other in peer.links()]
        table = np.array(pairs, np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1], np.zeros(len(table), np.int64)

    def spent(self) -> tuple[Integers, Integers]:
        """Messages and bytes of the last cycle, by peer."""
        return self.transport.spent()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        text = json.dumps([peer.state() for peer in self.peers], separators=(",", ":"))
        return {"peers": np.frombuffer(text.encode(), np.uint8)}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        for peer, state in zip(self.peers, json.loads(arrays["peers"].tobytes()), strict=True):
            peer.restore(state)


def sample(among: list[int], count: int, dice: Dice) -> list[int]:
    """A random sample of `count` elements; all of them, in their order, if there are no more."""
    chosen = list(among)
    if len(chosen) <= count:
        return chosen
    for place in range(count):
        other = place + dice.next_below(len(chosen) - place)
        chosen[place], chosen[other] = chosen[other], chosen[place]
    return chosen[:count]


def any_of(among: list[int], dice: Dice) -> int:
    """A random one of them."""
    return among[dice.next_below(len(among))]


def _plain(value: Any) -> Any:
    """A value for JSON, whose keys are texts: mappings become marked lists of pairs."""
    return {"pairs": [[key, _plain(own)] for key, own in value.items()]} if isinstance(value, dict) else value


def _restored(value: Any) -> Any:
    return {key: _restored(own) for key, own in value["pairs"]} if isinstance(value, dict) else value
