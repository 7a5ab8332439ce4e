"""The layer of PolderCast's rings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sims.anchors.groups import Groups
from sims.anchors.objects import ObjectLayer
from sims.anchors.poldercast.peer import RingsPeer
from sims.anchors.poldercast.settings import RingsSettings
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.peers.draws import Dice


class Rings(ObjectLayer[RingsPeer]):
    """A ring for each group; the engine steps CYCLON and VICINITY, which supply candidates, before it."""

    name = "rings"

    def __init__(
        self, groups: Groups, cyclon: Cyclon, vicinity: Vicinity, settings: RingsSettings, seed: int
    ) -> None:
        self.groups, self.cyclon, self.vicinity = groups, cyclon, vicinity
        super().__init__(len(groups.of), settings, seed)

    def fresh(self, peer: int) -> RingsPeer:
        """A peer without contacts."""
        return RingsPeer(peer, len(self.groups.of), self.settings)

    def turns(self, cycle: int, dice: Dice) -> None:
        """Accept candidates, then exchange."""
        for peer, links in enumerate(self.mates()):
            if self.transport.alive[peer]:
                self.peers[peer].feed(links, cycle)
        super().turns(cycle, dice)

    def mates(self) -> Iterator[list[tuple[int, int]]]:
        """Links of each peer to others of its group in the views below, as (peer, stamp)."""
        views: list[NDArray[np.int64]] = [self.vicinity.view, self.cyclon.view]
        words = np.concatenate(views, axis=1)
        peer = np.where(words == FREE, 0, words & 0xFFFFFFFF)
        same = (words != FREE) & (self.groups.of[peer] == self.groups.of[:, None])
        start = np.append(0, np.cumsum(same.sum(axis=1))).tolist()
        held = words[same].tolist()
        for first, last in pairwise(start):
            yield [(word & 0xFFFFFFFF, word >> 32) for word in held[first:last]]
