"""`Stack`: a population and the layers that it runs. Every overlay is a stack; so is any list of protocols.

See `docs/write-a-protocol.md`, and `examples/push_sum.py` for a protocol in twenty lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.growth import Growing, Renumbering
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import closed
from sub2sub.overlay.population import Population
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.progress import tracked
from sub2sub.tables import Table, optional_library, shown

STREAM = stream_number("bootstrap")
_ASKED = ("name", "step", "join", "links", "arrays", "load")

LayerOrMaker = Layer | Callable[[Any], Layer]
"""A layer, or a class or function that makes one, given the stack."""


class Stack:
    """A population that runs the given layers.

    Parameters
    ----------
    population : Population or int
        An int makes that many peers without subscriptions.
    layers : sequence of Layer, or of classes or functions that make one
        Layers are started and stepped in this order, so a layer may use those before it. A class or function
        is called with the stack, which then has its population, its seed and the layers before.
    seed : int
    network : Network, optional

    Attributes
    ----------
    cycle : int
        The number of the last cycle.

    Examples
    --------
    >>> from sub2sub.compiled.cyclon.layer import Cyclon
    >>> stack = Stack(50, [Cyclon(50, seed=1)], seed=1).run(10)
    >>> int(stack.referenced().sum()), stack["cyclon"].name
    (50, 'cyclon')
    """

    def __init__(
        self,
        population: Population | int,
        layers: Sequence[LayerOrMaker] = (),
        seed: int = 0,
        network: Network | None = None,
    ) -> None:
        self.population = _population(population, seed)
        self.seed, self.cycle = whole_number("seed", seed, below=2**64), 0
        self.network = network or Network.whole(len(self.population))
        self.network.alive[:] &= self.population.present.astype(np.uint8)
        self._layers: tuple[Layer, ...] = ()
        self._started = False
        for given in layers:
            self._layers += (self.make(given),)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, in the order in which they are stepped."""
        return self._layers

    def __repr__(self) -> str:
        up, names = int(self.network.alive.sum()), ", ".join(layer.name for layer in self.layers)
        return f"<{type(self).__name__} of {up} live peers after {self.cycle} cycles: {names or 'no layers'}>"

    def _repr_html_(self) -> str:
        """For a notebook: the same line, and the links of each layer."""
        count = np.array([len(layer.links()[0]) for layer in self.layers])
        links = {"layer": np.array([layer.name for layer in self.layers]), "links": count}
        links["links per live peer"] = count / max(int(self.network.alive.sum()), 1)
        return shown(repr(self), Table(links))

    def to_networkx(self) -> Any:
        """The live peers and their links as a networkx `MultiDiGraph`, the layer's name being an edge's key.

        Nodes are named by the rows of their subscriptions, with `id`, `low` and `high`. Edges have `since`,
        the cycle in which the link was made or renewed, 0 where the layer does not keep it.

        Examples
        --------
        >>> from sub2sub import Overlay
        >>> graph = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1).run(5).to_networkx()
        >>> sorted(graph.successors(0)), graph.has_edge(0, 1, key="ring"), graph.nodes[0]["high"]
        ([1, 2], True, [0.6])
        """
        networkx = optional_library("networkx")
        graph, population = networkx.MultiDiGraph(), self.population
        lows, highs = closed(population.boxes[:, 0, : population.d], population.boxes[:, 1, : population.d])
        for peer in np.flatnonzero(self.network.alive).tolist():
            values = {
                "id": int(population.ids[peer]),
                "low": lows[peer].tolist(),
                "high": highs[peer].tolist(),
            }
            graph.add_node(int(population.row[peer]), **values)
        for layer in self.layers:
            for holder, peer, since in zip(*(column.tolist() for column in layer.links()), strict=True):
                if self.network.alive[holder] and self.network.alive[peer]:
                    ends = int(population.row[holder]), int(population.row[peer])
                    graph.add_edge(*ends, key=layer.name, since=since)
        return graph

    def __getitem__(self, name: str) -> Layer:
        """The layer with this name."""
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise InputError(f"layer {name!r}: expected one of {', '.join(each.name for each in self.layers)}")

    def make(self, given: LayerOrMaker) -> Layer:
        """The given layer, or the layer that the given class or function makes."""
        layer = given if isinstance(given, Layer) and not isinstance(given, type) else None
        if layer is None:
            try:
                layer = cast(Callable[[Any], Layer], given)(self)
            except TypeError as error:
                raise InputError(
                    f"layers: expected a layer, or a function of the stack that makes one; {error}"
                ) from error
        lacking = [name for name in _ASKED if not hasattr(layer, name)]
        if lacking:
            raise InputError(
                f"layers: expected a layer with {', '.join(_ASKED)}; "
                f"{type(layer).__name__} lacks {', '.join(lacking)}"
            )
        if not isinstance(layer.name, str) or not layer.name:
            raise InputError(
                f"layers: expected a layer with a name, {type(layer).__name__} has {layer.name!r}"
            )
        return layer

    def neighbours(self, name: str, peer: int) -> NDArray[np.int64]:
        """The peers to which a peer has links in the layer with this name, as PeerSim's `Linkable`.

        Examples
        --------
        >>> from sub2sub.compiled.cyclon.layer import Cyclon
        >>> stack = Stack(9, [Cyclon(9, seed=1)], seed=1).run(20)
        >>> 4 in stack.neighbours("cyclon", 4), stack.neighbours("cyclon", 4).size > 5
        (False, True)
        """
        layer: Any = self[name]
        if not 0 <= peer < len(self.population):
            raise InputError(f"peer: expected 0 to {len(self.population) - 1}, got {peer}")
        if hasattr(layer, "view") and hasattr(layer, "size"):
            held: NDArray[np.int64] = layer.view[peer, : layer.size[peer]] & 0xFFFFFFFF
            return held
        holders, peers, _ = self[name].links()
        held = peers[holders == peer]
        return held

    def bootstrap(self, cycle: int = 0) -> None:
        """Start all live peers with one random link each, so that the links form a connected graph.

        Sub-2-Sub, Section 5, starts in this way. Here each peer, in random order, gets a link to one before
        it.
        """
        names = [layer.name for layer in self.layers]
        if len(set(names)) < len(names):
            raise InputError(f"layers: expected different names, got {', '.join(names)}")
        peers = np.flatnonzero(self.network.alive).astype(np.int64)
        if peers.size < 2:
            raise InputError(f"population: expected at least 2 live peers, got {peers.size}")
        contacts = np.empty(peers.size, np.int64)
        _tree(peers, contacts, cycle_key(self.seed, STREAM, cycle))
        self.admit(peers, contacts, cycle)

    def admit(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start peers, for the first time or again, with one contact each."""
        self._started = True
        self.network.alive[peers] = 1
        for layer in self.layers:
            layer.join(peers, contacts, cycle)

    def step(self, cycle: int) -> dict[str, Mapping[str, int]]:
        """Step all layers for one cycle; the cost of each."""
        self.cycle = cycle
        return {layer.name: layer.step(cycle, self.network) for layer in self.layers}

    def run(self, cycles: int, progress: bool = False) -> Self:
        """Run more cycles, after `bootstrap` if no peer has joined yet. Returns the stack itself.

        With `progress` a bar on standard error shows how far it is.

        `sims.engine.Simulation` does the same with faults, observers and checkpoints.
        """
        cycles = whole_number("cycles", cycles)
        if not self._started:
            self.bootstrap(self.cycle)
        for _ in tracked(range(cycles), cycles, "cycles", progress):
            self.step(self.cycle + 1)
        return self

    @property
    def started(self) -> bool:
        """Whether any peer has joined yet."""
        return self._started

    def grow(self, moved: Renumbering) -> None:
        """Move the state of all layers to the new numbers of a population that has grown."""
        for layer in self.layers:
            cast(Growing, layer).grow(moved)

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers are in a view of a peer that is alive, or is down and may recover with its links."""
        mask = np.zeros(len(self.population), bool)
        for layer in self.layers:
            holders, peers, _ = layer.links()
            mask[peers[self.population.present[holders]]] = True
        return mask


def whole_number(field: str, value: object, below: int | None = None) -> int:
    """The value as an int; an error if it is not a whole number from 0 on, or not below a limit.

    Examples
    --------
    >>> whole_number("cycles", np.int64(3))
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InputError(f"{field}: expected a whole number from 0 on, got {value!r}")
    if below is not None and value >= below:
        raise InputError(f"{field}: expected a whole number below {below}, got {value!r}")
    return int(value)


def _population(given: object, seed: int) -> Population:
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return Population.of_size(int(given), seed=seed)
    if not isinstance(given, Population):
        raise InputError(
            f"population: expected a Population or a number of peers, got {type(given).__name__}; "
            "Overlay.of(lows, highs) makes an overlay of ranges"
        )
    return given


@kernel
def _tree(peers, contacts, key):
    """A random recursive tree: each peer, in random order, gets a contact among those before it."""
    n = peers.shape[0]
    order = np.arange(n)
    for k in range(n - 1, 0, -1):
        other = below(draw(peer_key(key, k), 0), k + 1)
        order[k], order[other] = order[other], order[k]
    contacts[order[0]] = peers[order[1]]
    for k in range(1, n):
        contacts[order[k]] = peers[order[below(draw(peer_key(key, k), 1), k)]]
