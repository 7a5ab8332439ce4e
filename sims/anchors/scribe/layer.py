"""The layer of Scribe over Pastry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sims.anchors.groups import Groups
from sims.anchors.objects import ObjectLayer
from sims.anchors.pastry.settings import PastrySettings
from sims.anchors.scribe.peer import ScribePeer
from sub2sub.kernels.randomness import cycle_key, draws, stream_number

KEYS = stream_number("anchors/scribe keys")


def topic_keys(topics: int) -> list[int]:
    """The keys of topics: a hash of each one's number, which all nodes know how to compute.

    Examples
    --------
    >>> topic_keys(3) == topic_keys(5)[:3]
    True
    """
    keys: list[int] = draws(cycle_key(0, KEYS, 0), np.arange(topics)).tolist()
    return keys


class Scribe(ObjectLayer[ScribePeer]):
    """Scribe over Pastry.

    Parameters
    ----------
    ids : (n,) uint64
        Identifiers of the nodes.
    groups : Groups
        What each subscribes to.
    settings : PastrySettings
    seed : int
    """

    name = "scribe"

    def __init__(self, ids: NDArray[np.uint64], groups: Groups, settings: PastrySettings, seed: int) -> None:
        self.ids, self.groups, self.settings = ids.tolist(), groups, settings
        self.keys = topic_keys(len(groups.above))
        super().__init__(len(ids), seed, settings.tries)

    def fresh(self, peer: int) -> ScribePeer:
        """A node that knows nobody."""
        return ScribePeer(peer, self.ids, self.keys, int(self.groups.of[peer]), self.settings)

    def seeking(self, cycle: int, alive: NDArray[np.uint8]) -> Sequence[int]:
        """Nodes that join, and now and then others: parts of the overlay find one another so."""
        return [node for node, up in enumerate(alive.tolist()) if up and self.peers[node].seeks(cycle)]

    def introduce(self, peer: int, contact: int) -> None:
        """Name a contact."""
        self.peers[peer].introduce(contact)
