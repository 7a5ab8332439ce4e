"""The overlay of hpmcast, pmcast and rfpbcast: its settings, participants at addresses, and an observer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import AddressSpace, Condensation, Hierarchy, Membership, Upkeep
from hierarchy.hpmcast.membership.audit import audit
from sims.config.subscriptions import Subscriptions
from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.randomness import draws
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
