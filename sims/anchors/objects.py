"""A layer of peers that are objects: turns, joins and checkpoints for any protocol."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sims.anchors.transport import Sends, Transport
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import LinkTable
from sub2sub.peers.draws import Dice, stream_number

Integers = NDArray[np.int64]
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


P = TypeVar("P", bound=ObjectPeer)


class ObjectLayer(Generic[P]):
    """The layer of a protocol whose peers are objects.

    Parameters
    ----------
    n : int
    settings : object
        Of the protocol; its `tries` are the copies of a message before its target counts as unreachable.
    seed : int
    """

    name: str
    kind: type[P]

    def __init__(self, n: int, settings: Any, seed: int) -> None:
        self.settings, self.seed, self.stream = settings, seed, stream_number(self.name)
        self.transport = Transport(n, settings.tries)
        self.peers: list[P] = [self.fresh(peer) for peer in range(n)]

    def fresh(self, peer: int) -> P:
        """A peer without contacts."""
        make: Callable[..., P] = self.kind
        return make(peer, self.settings)

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
            self.peers[peer] = self.fresh(peer)
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
