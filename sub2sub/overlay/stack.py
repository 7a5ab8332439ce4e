"""A population and the layers it runs: what every overlay is, and for protocols of one's own all it needs.

See `examples/custom_layer.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, stream_number
from sub2sub.overlay.layer import Layer
from sub2sub.overlay.network import Network
from sub2sub.overlay.population import Population

__all__ = ["Stack"]

STREAM = stream_number("bootstrap")


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
    >>> from sub2sub.cyclon.layer import Cyclon
    >>> people = Population.of(np.zeros((50, 1)), np.ones((50, 1)))
    >>> stack = Stack(people, [Cyclon(50, seed=1)], seed=1)
    >>> stack.bootstrap()
    >>> for cycle in range(1, 11):
    ...     cost = stack.step(cycle)
    >>> int(stack.referenced().sum())
    50
    """

    def __init__(
        self, population: Population, layers: Sequence[Layer], seed: int = 0, network: Network | None = None
    ) -> None:
        self.population, self.seed, self._layers = population, seed, tuple(layers)
        self.network = network or Network.whole(len(population))
        self.network.alive[:] &= population.present.astype(np.uint8)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers in the order they are stepped."""
        return self._layers

    def bootstrap(self, cycle: int = 0) -> None:
        """Start everybody alive at once with one random link each, so that the links form a connected graph.

        Sub-2-Sub's way of starting from nothing (Sub-2-Sub, Section 5): each peer, in random order, links to
        one before it.
        """
        peers = np.flatnonzero(self.network.alive).astype(np.int64)
        if peers.size < 2:
            raise InputError(f"population: expected at least 2 live peers, got {peers.size}")
        contacts = np.empty(peers.size, np.int64)
        _tree(peers, contacts, cycle_key(self.seed, STREAM, cycle))
        self.join(peers, contacts, cycle)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let peers (re)start from a contact each."""
        self.network.alive[peers] = 1
        for layer in self.layers:
            layer.join(peers, contacts, cycle)

    def step(self, cycle: int) -> dict[str, Mapping[str, int]]:
        """One cycle of all layers; what each cost."""
        return {layer.name: layer.step(cycle, self.network) for layer in self.layers}

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers somebody alive holds a link to."""
        mask = np.zeros(len(self.population), bool)
        for layer in self.layers:
            holders, peers, _ = layer.links()
            mask[peers[self.network.alive[holders] == 1]] = True
        return mask


@kernel
def _tree(peers, contacts, key):
    """A random recursive tree: each peer, in a random order, gets a contact before it in that order."""
    n = peers.shape[0]
    order = np.arange(n)
    for k in range(n - 1, 0, -1):
        other = below(draw(peer_key(key, k), 0), k + 1)
        order[k], order[other] = order[other], order[k]
    contacts[order[0]] = peers[order[1]]
    for k in range(1, n):
        contacts[order[k]] = peers[order[below(draw(peer_key(key, k), 1), k)]]
