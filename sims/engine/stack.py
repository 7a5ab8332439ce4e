"""An overlay made of any layers: for protocols of one's own, see `examples/custom_layer.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sub2sub.layer import Layer
from sub2sub.network import Network
from sub2sub.population import Population
from sub2sub.randomness import cycle_key, draws, stream_number

__all__ = ["Stack"]

STREAM = stream_number("stack-bootstrap")


class Stack:
    """A population that runs the given layers, one upon the other.

    Parameters
    ----------
    population : Population
    layers : sequence of Layer
        Stepped in this order, and started in it: a layer may rely on those before it.
    seed : int
    network : Network, optional

    Examples
    --------
    >>> from sims.engine import Simulation
    >>> from sub2sub.cyclon import Cyclon
    >>> people = Population.of(np.zeros((50, 1)), np.ones((50, 1)))
    >>> stack = Stack(people, [Cyclon(50, seed=1)], seed=1)
    >>> stack.bootstrap()
    >>> Simulation(stack).run(10)
    >>> int(stack.referenced().sum())
    50
    """

    def __init__(
        self, population: Population, layers: Sequence[Layer], seed: int = 0, network: Network | None = None
    ) -> None:
        self.population, self.layers, self.seed = population, tuple(layers), seed
        self.network = network or Network.whole(len(population))
        self.network.alive[:] &= population.present.astype(np.uint8)

    def bootstrap(self, cycle: int = 0) -> None:
        """Start everybody alive at once, each but the first knowing a random one before it."""
        peers = np.flatnonzero(self.network.alive).astype(np.int64)
        places = np.arange(peers.size)
        chosen = draws(cycle_key(self.seed, STREAM, cycle), places) % np.maximum(places, 1).astype(np.uint64)
        self.join(peers, np.where(places > 0, peers[chosen.astype(np.int64)], -1), cycle)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let peers (re)start from a contact each."""
        self.network.alive[peers] = 1
        for layer in self.layers:
            layer.join(peers, contacts, cycle)

    def step(self, cycle: int) -> dict[str, Mapping[str, int]]:
        """One cycle of all layers; what each cost."""
        return {layer.name: layer.step(cycle, self.network) for layer in self.layers}

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers somebody alive holds a link to, in the layers that have links."""
        mask = np.zeros(len(self.population), bool)
        for layer in self.layers:
            if hasattr(layer, "links"):
                holders, peers, _ = layer.links()
                mask[peers[self.network.alive[holders] == 1]] = True
        return mask
