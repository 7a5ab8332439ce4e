"""Hierarchical gossip broadcast (alternative (c) of CAMCAST, Section 4.2; Kermarrec et al., TPDS 2003).

Subscribers are assigned to about sqrt(n) groups, independent of their interests. Each keeps a CYCLON view of
its group and one of the whole population, of which the entries outside its group are its links to other
groups. An event is sent once to `intra` of the former and, on average, to `inter` of the latter.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from sims.config.entries import Kinds
from sims.config.interests import WorkloadSettings
from sims.observers.deliveries import Deliveries
from sims.rivals.base.accounts import keys_of
from sims.rivals.base.entrants import Knob, Look, SeveralMemberships
from sims.rivals.base.sampled import VIEW, Sampled
from sims.rivals.base.system import Integers, Publication
from sims.rivals.base.table_gossip import Choices, spread_tables
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("compare/groups")


@dataclass(frozen=True)
class TwoFanouts:
    """Settings of two-level gossip.

    Attributes
    ----------
    intra, inter : float
        Members of its group that a process sends an event to, and others, these on average.
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    intra: int = 6
    inter: float = 4
    retries: int = 0


class Hierarchical(SeveralMemberships):
    """Two views per subscriber: members 0 to n - 1 have those of groups, n to 2n - 1 those of all."""

    name = "hierarchical"
    workload = WorkloadSettings
    dissemination = TwoFanouts
    worlds = ("topics",)
    look = Look("black", "P", "--")
    observers: ClassVar[Kinds] = {"delivery": Deliveries}
    probe = Knob(intra=6, inter=4)
    knobs = (
        *(Knob(intra=a, inter=b) for a, b in ((2, 1), (4, 2), (5, 3), (6, 4), (8, 6), (12, 10))),
        *(Knob(intra=a, inter=b, retries=2) for a, b in ((2, 1), (3, 2), (4, 2))),
    )
    overlay: Sampled

    def build(self, layers: Any, spare: int) -> Sampled:
        """Assign every subscriber to a group and to the group of all."""
        n = self.wanted.n
        marks = draws(cycle_key(self.seed, STREAM, 0), np.arange(n))
        self.group = np.empty(n, np.int64)
        self.group[np.argsort(marks, kind="stable")] = np.arange(n) % max(1, round(sqrt(n)))
        lows, highs = (np.tile(side, (2, 1)) for side in (self.wanted.lows, self.wanted.highs))
        both = np.append(self.group, np.full(n, self.group.max() + 1))
        return Sampled(lows, highs, np.tile(np.arange(n), 2), both, self.seed)

    def links(self) -> dict[str, Integers]:
        """Both views."""
        sizes = self.overlay.sizes()
        return {"group": sizes[: self.wanted.n], "other groups": sizes[self.wanted.n :]}

    def spread(self, asked: Publication, settings: TwoFanouts) -> Outcome:
        """Gossip within the group and to other groups."""
        n = self.wanted.n
        table = self.overlay.table()
        others = np.where(table[n:] >= 0, table[n:] - n, -1)
        others[(others >= 0) & (self.group[others] == self.group[:, None])] = -1
        others = np.take_along_axis(others, np.argsort(others < 0, axis=1, kind="stable"), axis=1)
        choices = Choices(np.full(n, settings.intra, np.int32), np.ones(n), np.full(n, settings.inter / VIEW))
        own = self.network
        network = Network(own.alive[:n], own.group[:n], own.loss, own.timing)
        tables = table[:n], np.ascontiguousarray(others[:, None, :]), choices
        truth = self.truth._replace(host=np.arange(n), places=np.arange(n))
        keys = keys_of(self.seed, asked.salt, asked.events)
        return spread_tables(tables, network, truth, asked, keys, settings.retries)
