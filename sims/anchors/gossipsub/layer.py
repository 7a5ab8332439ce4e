"""The layer of GossipSub."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sims.anchors.gossipsub.peer import GossipSubPeer
from sims.anchors.gossipsub.settings import GossipSubSettings
from sims.anchors.objects import ObjectLayer


class GossipSub(ObjectLayer[GossipSubPeer]):
    """GossipSub with one topic for each peer.

    Parameters
    ----------
    n : int
    settings : GossipSubSettings
    seed : int
    """

    name = "gossipsub"

    def __init__(self, n: int, settings: GossipSubSettings, seed: int) -> None:
        self.settings = settings
        super().__init__(n, seed, settings.tries)

    def fresh(self, peer: int) -> GossipSubPeer:
        """A peer without contacts."""
        return GossipSubPeer(peer, self.settings)

    def seeking(self, cycle: int, alive: NDArray[np.uint8]) -> Sequence[int]:
        """Peers that ask discovery for others."""
        return [peer for peer, up in enumerate(alive.tolist()) if up and self.peers[peer].seeks(cycle)]

    def introduce(self, peer: int, contact: int) -> None:
        """Name a contact."""
        self.peers[peer].introduce(contact)
