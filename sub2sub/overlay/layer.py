"""What the engine asks of a protocol: PeerSim's `CDProtocol`, for a whole population at once.

A layer holds its state as arrays with one row per peer and steps all live peers, one after the other,
once a cycle. The engine knows no layer by name: it calls these methods in the order of its layer list. One
that can go on while the population grows has one method more (`sub2sub.overlay.growth`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sub2sub.overlay.network import Network


@runtime_checkable
class Layer(Protocol):
    """A protocol run by every peer. See `examples/` for one in thirty lines."""

    name: str

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer take its turn; return what it cost (`messages`, `bytes`, ...) as counts."""

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start `peers` afresh: forget their rows; each knows its contact (one per peer, -1 for none)."""

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All links as (holders, peers, stamps), empty for a layer without any.

        A stamp is the cycle in which a link was made or renewed, 0 where that is not kept.
        """

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All state that a checkpoint stores, by name."""

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that `arrays` returned."""
