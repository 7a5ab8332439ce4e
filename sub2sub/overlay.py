"""The Sub-2-Sub overlay of a population: its three kinds of links, ready to be stepped (004, Section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sub2sub.compilation import kernel
from sub2sub.cyclon import Cyclon, CyclonSettings
from sub2sub.errors import InputError
from sub2sub.network import Network
from sub2sub.population import Population
from sub2sub.probing import Probing
from sub2sub.randomness import below, cycle_key, draw, peer_key, stream_number
from sub2sub.rendezvous import Rendezvous
from sub2sub.ring import Ring, RingSettings
from sub2sub.vicinity import Vicinity, VicinitySettings

__all__ = ["Overlay", "OverlaySettings"]

STREAM = stream_number("bootstrap")


@dataclass(frozen=True)
class OverlaySettings:
    """Settings of the layers; the default recovers from crashes, `paper()` is as published.

    Attributes
    ----------
    cyclon, vicinity, ring
        Settings of each layer.
    suspect_age : int
        Age in cycles from which on a ring link is probed, 0 for never; below `ring.max_age` by the number of
        probes that may be lost before a live neighbour is dropped.
    patience : int
        Cycles after which a peer whose random view is incomplete asks for a contact again, 0 for never.
    """

    cyclon: CyclonSettings = field(default_factory=lambda: CyclonSettings(retry=10, tries=3))
    vicinity: VicinitySettings = field(default_factory=lambda: VicinitySettings(max_age=20))
    ring: RingSettings = field(default_factory=lambda: RingSettings(max_age=9, drop_failed=False))
    suspect_age: int = 6
    patience: int = 10

    @classmethod
    def paper(cls) -> OverlaySettings:
        """As published: no hello, no ages, nothing dropped, nobody asks twice."""
        near = replace(cls().vicinity, max_age=0)
        return cls(CyclonSettings(), near, RingSettings.paper(), suspect_age=0, patience=0)


class Overlay:
    """Random, proximity and ring links of a population.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> low = rng.random((200, 2)) * 0.7
    >>> overlay = Overlay(Population.of(low, low + 0.3), seed=1)
    >>> overlay.bootstrap()
    >>> for cycle in range(1, 16):
    ...     cost = overlay.step(cycle)
    >>> bool(overlay.ring.pool.size.mean() > 5)
    True
    """

    def __init__(
        self,
        population: Population,
        settings: OverlaySettings | None = None,
        seed: int = 0,
        network: Network | None = None,
    ) -> None:
        self.population, self.settings, self.seed = population, settings or OverlaySettings(), seed
        self.network = network or Network.whole(len(population))
        self.network.alive[:] &= population.present.astype(np.uint8)
        boxes, d = population.boxes, population.d
        self.cyclon = Cyclon(len(population), self.settings.cyclon, seed)
        self.rendezvous = Rendezvous(self.cyclon, self.settings.patience, seed)
        self.vicinity = Vicinity(boxes, d, self.cyclon, self.settings.vicinity, seed)
        self.ring = Ring(boxes, d, self.cyclon, self.vicinity, self.settings.ring, seed)
        self.probing = Probing(self.ring, self.settings.suspect_age, seed)

    @property
    def layers(self) -> tuple[Rendezvous, Cyclon, Vicinity, Probing, Ring]:
        """The layers in the order they are stepped."""
        return self.rendezvous, self.cyclon, self.vicinity, self.probing, self.ring

    def bootstrap(self, cycle: int = 0) -> None:
        """Start everybody alive at once with one random link each, so that the links form a connected graph.

        The paper's way of starting from nothing (Section 5): each peer, in random order, links to one
        before it.
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
