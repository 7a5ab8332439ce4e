"""The interface of an overlay that the engine can simulate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.network import Network
from sub2sub.overlay.population import Population


@runtime_checkable
class Simulated(Protocol):
    """An overlay that can be simulated: a population and its layers.

    `sub2sub.overlay.overlay.Overlay` and the overlays of CAMCAST and hpmcast implement it.
    `sims.engine.Stack` makes such an overlay from any layers.
    """

    @property
    def population(self) -> Population:
        """The peers."""

    @property
    def network(self) -> Network:
        """Which peers are alive, and which peers can reach each other."""

    @property
    def seed(self) -> int:
        """Random seed."""

    @property
    def layers(self) -> Sequence[Layer]:
        """The layers, in the order in which they are stepped."""

    def bootstrap(self, cycle: int = 0) -> None:
        """Start all peers at once."""

    def admit(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start or restart peers, each from one contact."""

    def step(self, cycle: int) -> Mapping[str, Mapping[str, int]]:
        """Run one cycle of all layers; return the cost of each."""

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers are in a view of a peer that is alive or may recover with its links."""
