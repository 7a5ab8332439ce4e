"""The layer of Scribe over Pastry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.anchors.groups import Groups
from sims.anchors.objects import ObjectLayer
from sims.anchors.pastry.settings import PastrySettings
from sims.anchors.scribe.peer import ScribePeer
from sub2sub.compiled.common.randomness import draws
from sub2sub.peers.draws import cycle_key, stream_number

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
    """Scribe over Pastry: nodes with these identifiers, each a subscriber of its group's topic."""

    name = "scribe"

    def __init__(self, ids: NDArray[np.uint64], groups: Groups, settings: PastrySettings, seed: int) -> None:
        self.ids, self.groups, self.keys = ids.tolist(), groups, topic_keys(len(groups.above))
        super().__init__(len(ids), settings, seed)

    def fresh(self, peer: int) -> ScribePeer:
        """A node without links."""
        return ScribePeer(peer, self.ids, self.keys, int(self.groups.of[peer]), self.settings)
