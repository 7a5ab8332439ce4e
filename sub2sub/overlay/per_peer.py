"""Protocols written for one peer at a time, in plain Python, as with PeerSim's `CDProtocol`.

A layer (`sub2sub.compiled.common.layer`) steps a whole population at once, so it can be compiled. For a first
test with a thousand peers that is not necessary. `PerPeer` calls `turn` for each live peer, gives it random
numbers, counts and loses its messages, and saves its variables in checkpoints.

    class PushSum(PerPeer):
        name = "push-sum"

        def __init__(self, stack):
            super().__init__(stack)
            self.sum, self.weight = self.column("sum", 1.0), self.column("weight", 1.0)

        def turn(self, peer, random):
            ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.network import Network, reaches
from sub2sub.compiled.common.views import LinkTable
from sub2sub.compiled.machinery.compilation import plain
from sub2sub.errors import InputError
from sub2sub.overlay.stack import Stack
from sub2sub.peers.descriptors import HEADER
from sub2sub.peers.draws import Random


class PerPeer(ABC):
    """A protocol that is written for one peer at a time.

    Subclasses define `name` and `turn`, and if necessary `start` and `neighbours`.

    Parameters
    ----------
    stack : Stack
        Has the population, the seed and the layers below.

    Attributes
    ----------
    stack : Stack
    cycle : int
        The cycle that is being stepped.

    Examples
    --------
    >>> class Rumour(PerPeer):
    ...     name = "rumour"
    ...
    ...     def __init__(self, stack):
    ...         super().__init__(stack)
    ...         self.heard = self.column("heard", False)
    ...         self.heard[0] = True
    ...
    ...     def turn(self, peer, random):
    ...         other = random.below(len(self.heard))
    ...         if self.heard[peer] and self.send(peer, other):
    ...             self.heard[other] = True
    >>> stack = Stack(100, [Rumour], seed=1).run(12)
    >>> bool(stack["rumour"].heard.all())
    True
    """

    name = ""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.cycle = stack, stack.cycle
        self._columns: dict[str, NDArray[Any]] = {}
        self._fills: dict[str, Any] = {}
        self._network = stack.network
        self._loss = Random(stack.seed, self.name)
        self._cost = {"messages": 0, "failed": 0, "bytes": 0}

    def column(
        self, name: str, fill: Any = 0.0, shape: tuple[int, ...] = (), dtype: Any = None
    ) -> NDArray[Any]:
        """An array with a value, or an array of the given shape, for every peer; checkpoints contain it."""
        self._columns[name] = np.full((len(self.stack.population), *shape), fill, dtype)
        self._fills[name] = fill
        return self._columns[name]

    def __getattr__(self, name: str) -> Any:
        """Report a subclass that does not call `super().__init__(stack)`."""
        if "stack" not in self.__dict__:
            raise InputError(
                f"{type(self).__name__}: expected __init__ to call super().__init__(stack) first"
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @abstractmethod
    def turn(self, peer: int, random: Random) -> None:
        """Let a live peer take its turn."""

    def start(self, peer: int, contact: int, cycle: int) -> None:  # noqa: B027
        """Start a peer, for the first time or again; it knows only its contact (-1 for none)."""

    def neighbours(self, peer: int) -> Iterable[int]:
        """The peers to which a peer has links, for observers and snapshots; none by default."""
        return ()

    def send(self, sender: int, receiver: int, size: int = 0) -> bool:
        """Send a message of `size` bytes plus a header; it is counted and may be lost. Whether it arrives."""
        faults = self._network
        if not 0 <= receiver < faults.alive.size:
            raise InputError(
                f"{self.name}: expected a receiver from 0 to {faults.alive.size - 1}, got {receiver}"
            )
        self._cost["messages"] += 1
        self._cost["bytes"] += HEADER + size
        arrives = plain(reaches)(faults.alive, faults.group, sender, receiver) and not (
            faults.loss > 0.0 and self._loss.chance(faults.loss)
        )
        self._cost["failed"] += not arrives
        return bool(arrives)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer take its turn; what it cost."""
        self.cycle, self._network = cycle, network
        self._cost = dict.fromkeys(self._cost, 0)
        for peer in np.flatnonzero(network.alive).tolist():
            if network.alive[peer]:
                self._loss = Random(self.stack.seed, f"{self.name}/loss", cycle, peer)
                self.turn(peer, Random(self.stack.seed, self.name, cycle, peer))
        return self._cost

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start peers afresh."""
        self.cycle = cycle
        for peer, contact in zip(peers.tolist(), contacts.tolist(), strict=True):
            self.start(peer, contact, cycle)

    def links(self) -> LinkTable:
        """All links as (holders, peers, stamps); stamps are not kept."""
        pairs = [
            (peer, other) for peer in range(len(self.stack.population)) for other in self.neighbours(peer)
        ]
        table = np.array(pairs, np.int64).reshape(-1, 2)
        return table[:, 0].copy(), table[:, 1].copy(), np.zeros(len(table), np.int64)

    def grow(self, moved: Renumbering) -> None:
        """Move the values of all peers to their new numbers, in all attributes that are columns.

        A protocol whose columns contain numbers of peers has to convert these, too (`moved.peers`).
        """
        held = {id(column): name for name, column in self._columns.items()}
        self._columns = {
            name: moved.rows(column, self._fills[name]) for name, column in self._columns.items()
        }
        for attribute, value in vars(self).items():
            if id(value) in held:
                setattr(self, attribute, self._columns[held[id(value)]])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint: the columns."""
        return self._columns

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        for name, column in self._columns.items():
            column[...] = arrays[name]
