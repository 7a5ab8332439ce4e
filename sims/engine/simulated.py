"""What the engine asks of an overlay it drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sub2sub.overlay.layer import Layer
from sub2sub.overlay.network import Network
from sub2sub.overlay.population import Population

__all__ = ["Simulated"]


@runtime_checkable
class Simulated(Protocol):
    """What can be simulated: a population and the layers it runs.

    `sub2sub.overlay.overlay.Overlay` is one, CAMCAST's and hpmcast's overlays are, and `sims.engine.Stack`
    makes one of any layers.
    """

    @property
    def population(self) -> Population:
        """The peers."""
        ...

    @property
    def network(self) -> Network:
        """Who is up, and who reaches whom."""
        ...

    @property
    def seed(self) -> int:
        """Of all draws."""
        ...

    @property
    def layers(self) -> Sequence[Layer]:
        """The layers in the order they are stepped."""
        ...

    def bootstrap(self, cycle: int = 0) -> None:
        """Start everybody at once."""
        ...

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let peers (re)start from a contact each."""
        ...

    def step(self, cycle: int) -> Mapping[str, Mapping[str, int]]:
        """One cycle of all layers; what each cost."""
        ...

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers somebody holds a link to who is alive, or may come back with its links."""
        ...
