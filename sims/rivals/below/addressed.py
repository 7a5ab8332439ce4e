"""The overlay of hpmcast, pmcast and rfpbcast: its settings, participants at addresses, and an observer.

After some time all participants of a subsystem have equal tables. Participants with equal tables share one
copy when events are published (`shared_rows`), because matching an event with n copies takes n times as long.
No participant learns anything by that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import AddressSpace, Condensation, Hierarchy, Knowledge, Membership, Upkeep
from hierarchy.hpmcast.membership.audit import audit
from hierarchy.hpmcast.membership.tables import LineTables
from sims.config.interests import Subscriptions
from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.randomness import draws, mix
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.overlay.population import DORMANT, Population
from sub2sub.overlay.stack import Stack
from sub2sub.peers.draws import cycle_key


@dataclass(frozen=True)
class FlatSettings:
    """Settings of tables with one level.

    Attributes
    ----------
    settled : bool
        Whether participants start with exact tables, instead of one contact each.
    upkeep : Upkeep
        How tables are kept.
    """

    settled: bool = False
    upkeep: Upkeep = field(default_factory=Upkeep)


@dataclass(frozen=True)
class HierarchySettings(FlatSettings):
    """Settings of the hierarchy.

    Attributes
    ----------
    sizes : tuple of int
        Values of each component of an address, a(l-1) first; 22 x 22 x 22 is the paper's.
    condensation : Condensation
        How interests are condensed on the way up.
    """

    sizes: tuple[int, ...] = (22, 22, 22)
    condensation: Condensation = field(default_factory=Condensation)

    def __post_init__(self) -> None:
        AddressSpace(self.sizes)


class Views:
    """Share of the live participants' views that are correct, and of entries that are dead or missing."""

    name = "views"
    observes = True

    def execute(self, simulation: Simulation[Hierarchy]) -> Row:
        """Compare the views with the correct ones."""
        layer, alive = simulation.overlay.membership, simulation.overlay.network.alive
        found = audit(layer.knowledge().views(), layer.exact(alive).views(), alive)
        levels = {f"right_{level}": float(share) for level, share in enumerate(found.right, 1)}
        return {"whole": found.whole, **levels, "dead": found.dead, "missing": found.missing}


class Addressed(Hierarchy):
    """A hierarchy that may start with exact tables, and in which interests may be unknown."""

    settled, filters, contacts = False, True, 0

    def keep_interests(self) -> None:
        """Send no interests, as in rfpbcast."""
        old = self.membership
        self.filters = False
        self.membership = Membership(old.population, old.condensation, old.upkeep, seed=self.seed)
        self._layers = (self.membership,)

    def bootstrap(self, cycle: int = 0) -> None:
        """Start all participants, each from a contact or with exact tables."""
        if self.settled:
            self.settle(cycle)
        elif not self.contacts:
            super().bootstrap(cycle)
        else:
            n = np.arange(len(self.population))
            chosen = draws(cycle_key(self.seed, self.contacts, 0), n) % np.maximum(n, 1).astype(np.uint64)
            self.admit(n, np.where(n > 0, chosen.astype(np.int64), -1), cycle)

    def admit(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let peers (re)start from a contact each."""
        if self.filters:
            super().admit(peers, contacts, cycle)
        else:
            Stack.admit(self, peers, contacts, cycle)


def addressed(wanted: Subscriptions, spare: int, space: AddressSpace) -> Population:
    """Subscribers and places for newcomers at addresses spread evenly over an address space."""
    n = wanted.n
    if n + spare > space.capacity:
        raise InputError(
            f"layers.sizes: expected room for {n + spare} participants, there is some for {space.capacity}"
        )
    addresses = np.arange(n + spare) * space.capacity // (n + spare)
    taken = np.zeros(n + spare, bool)
    taken[np.arange(n) * (n + spare) // n] = True
    which: NDArray[np.int64] = np.zeros(n + spare, np.int64)
    which[taken] = np.arange(n)
    population = Population.of(wanted.lows[which], wanted.highs[which], ids=addresses)
    population.row[:], population.host[:] = np.where(taken, which, DORMANT), np.where(taken, which, -1)
    return population


def shared_rows(known: Knowledge) -> Knowledge:
    """The same knowledge with equal tables of a level stored once.

    Examples
    --------
    >>> from hierarchy.hpmcast import Membership, Population
    >>> layer = Membership(Population.regular(a=4, levels=2))
    >>> layer.make_exact()
    >>> [len(table.members) for table in shared_rows(layer.knowledge()).tables]
    [4, 1]
    """
    tables, bounds, rows = [], [], []
    for table in known.tables:
        _, first, row = np.unique(_fingerprints(table), return_index=True, return_inverse=True)
        # The stamp of a line is not looked at when events are published.
        columns: list[Any] = [column[first] for column in table]
        tables.append(LineTables(*columns))
        bounds.append(np.arange(len(first) + 1, dtype=np.int64) * table.members.shape[1])
        rows.append(row.astype(np.int32))
    return Knowledge(tables, bounds, np.stack(rows), known.compared)


@kernel
def _fingerprints(table):
    """64 bits for each row of a table: of its lines' members, delegates and boxes."""
    marks = np.zeros(table.members.shape[0], np.uint64)
    for r in range(table.members.shape[0]):
        mark = np.uint64(1)
        for s in range(table.members.shape[1]):
            if table.members[r, s] == 0:
                continue
            mark = mix(mark ^ np.uint64(s))
            for k in range(table.delegates.shape[2]):
                mark = mix(mark ^ np.uint64(np.int64(table.delegates[r, s, k]) + 1))
            for b in range(table.used[r, s]):
                for end in range(2):
                    for k in range(table.boxes.shape[4]):
                        mark = mix(mark ^ np.float64(table.boxes[r, s, b, end, k]).view(np.uint64))
        marks[r] = mark
    return marks
