"""Protocols written for one peer at a time, in plain Python: PeerSim's `CDProtocol`.

A layer (`sub2sub.overlay.layer`) steps a whole population, which lets it be compiled. Most ideas are first
tried on a thousand peers, where that hardly matters: `PerPeer` calls `turn` for each live peer, draws for it,
counts and loses its messages, and keeps its numbers for checkpoints.

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

from sub2sub.errors import InputError
from sub2sub.kernels.dice import Random
from sub2sub.overlay.growth import Renumbering
from sub2sub.overlay.network import Network
from sub2sub.overlay.sizes import HEADER
from sub2sub.overlay.stack import Stack


class PerPeer(ABC):
    """A protocol that is told one peer at a time what to do.

    Subclasses have a `name` and a `turn`; `start` and `neighbours` where they need them.

    Parameters
    ----------
    stack : Stack
        Population, seed, and the layers below.

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
        """A value, or an array of a shape, for every peer, which checkpoints keep."""
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
        """Let a peer begin, or begin again, knowing its contact (-1 for nobody)."""

    def neighbours(self, peer: int) -> Iterable[int]:
        """Whom a peer links to by this protocol, for observers and snapshots; nobody if not overridden."""
        return ()

    def send(self, sender: int, receiver: int, size: int = 0) -> bool:
        """Send a message of `size` bytes and a header: it is counted, and may be lost; whether it arrives."""
        faults = self._network
        if not 0 <= receiver < faults.alive.size:
            raise InputError(
                f"{self.name}: expected a receiver from 0 to {faults.alive.size - 1}, got {receiver}"
            )
        self._cost["messages"] += 1
        self._cost["bytes"] += HEADER + size
        arrives = (
            faults.alive[receiver] == 1
            and faults.group[sender] == faults.group[receiver]
            and not (faults.loss > 0.0 and self._loss.chance(faults.loss))
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

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All links as (holders, peers, stamps); stamps are not kept."""
        pairs = [
            (peer, other) for peer in range(len(self.stack.population)) for other in self.neighbours(peer)
        ]
        table = np.array(pairs, np.int64).reshape(-1, 2)
        return table[:, 0].copy(), table[:, 1].copy(), np.zeros(len(table), np.int64)

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers: give the values of each their new place, wherever columns are held.

        A protocol whose columns hold numbers of peers has to change these as well (`moved.peers`).
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
