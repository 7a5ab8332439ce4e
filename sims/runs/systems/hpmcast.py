"""hpmcast as a system to run: a hierarchy kept by gossip, events filtered and gossiped through it.

An event is published by a random live participant, interested or not, as in the paper's simulations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast import AddressSpace, Condensation, Gossip, Hierarchy, Upkeep, disseminate
from hierarchy.hpmcast.membership.audit import audit
from sims.config.interests import Interests, WorkloadSettings
from sims.engine import Simulation
from sims.engine.control import Row
from sims.observers import Connectivity, Degrees, LinkAges
from sims.runs.systems.interface import Prepared, System
from sims.runs.trials import Trial, record_trials
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import points
from sub2sub.kernels.randomness import draws
from sub2sub.overlay.population import DORMANT, Population

if TYPE_CHECKING:
    from sims.config.experiment import Experiment

__all__ = ["SYSTEM", "HierarchySettings"]


@dataclass(frozen=True)
class HierarchySettings:
    """Settings of the hierarchy.

    Attributes
    ----------
    sizes : tuple of int
        Values of each component of an address, a(l-1) first; 22 x 22 x 22 is the paper's.
    settled : bool
        Whether everybody starts with the tables it should have, instead of knowing one other participant.
    condensation : Condensation
        How interests are condensed on the way up.
    upkeep : Upkeep
        How tables are kept.
    """

    sizes: tuple[int, ...] = (22, 22, 22)
    settled: bool = False
    condensation: Condensation = field(default_factory=Condensation)
    upkeep: Upkeep = field(default_factory=Upkeep)

    def __post_init__(self) -> None:
        """Refuse address spaces that cannot be."""
        AddressSpace(self.sizes)


class _Settled(Hierarchy):
    """Begins with exact tables."""

    def bootstrap(self, cycle: int = 0) -> None:
        self.membership.settle(cycle, self.network.alive)


class Delivery:
    """Publishes the test events over the tables as they are.

    Parameters
    ----------
    events : (m, d) array_like
    settings : Gossip
    folder : Path
    details : bool
        Whether to add what became of each event to the table `events`.
    """

    name = "delivery"

    def __init__(self, events: ArrayLike, settings: Gossip, folder: Path, details: bool = True) -> None:
        self.events, self.settings, self.folder, self.details = points(events), settings, folder, details

    def execute(self, simulation: Simulation) -> Row:
        """Publish all of them."""
        overlay = simulation.overlay
        known = overlay.membership.knowledge()
        views, live = known.views(), np.flatnonzero(overlay.network.alive)
        low, high = (overlay.population.boxes[:, side, : overlay.population.d] for side in (0, 1))
        bits = draws(simulation.key(self.name), np.arange(len(self.events)))
        trials = []
        for number, event in enumerate(self.events):
            wants = ((low <= event) & (event < high)).all(axis=1) & (overlay.network.alive == 1)
            outcome = disseminate(
                views, known.match(event), int(live[int(bits[number] % np.uint64(live.size))]), self.settings,
                network=overlay.network, seed=int(bits[number] >> np.uint64(2)), event=number,
            )  # fmt: skip
            got = outcome.infected & wants
            first = int(got.sum()) - int(got[outcome.publisher])
            trials.append(
                Trial(
                    matches=int(wants.sum()),
                    reached=int(got.sum()),
                    hops=int(outcome.round[got].max(initial=0)),
                    messages=int(outcome.messages.sum()),
                    duplicates=int(outcome.received[wants].sum()) - first,
                    spam=int(outcome.received[~wants].sum()),
                )
            )
        return record_trials(trials, self.folder, simulation.cycle, self.details)


class Views:
    """How right the views of the living are."""

    name = "views"

    def execute(self, simulation: Simulation) -> Row:
        """Compare with the views they should have."""
        layer, alive = simulation.overlay.membership, simulation.overlay.network.alive
        found = audit(layer.knowledge().views(), layer.exact(alive).views(), alive)
        levels = {f"right_{level}": float(share) for level, share in enumerate(found.right, 1)}
        return {"whole": found.whole, **levels, "dead": found.dead, "missing": found.missing}


def addressed(interests: Interests, spare: int, space: AddressSpace) -> Population:
    """Subscribers and places for newcomers at addresses spread evenly over an address space."""
    n = len(interests.lows)
    if n + spare > space.capacity:
        raise InputError(
            f"layers.sizes: expected room for {n + spare} participants, there is some for {space.capacity}"
        )
    addresses = np.arange(n + spare) * space.capacity // (n + spare)
    taken = np.zeros(n + spare, bool)
    taken[np.arange(n) * (n + spare) // n] = True
    which: NDArray[np.int64] = np.zeros(n + spare, np.int64)
    which[taken] = np.arange(n)
    people = Population.of(interests.lows[which], interests.highs[which], ids=addresses)
    people.row[:], people.host[:] = np.where(taken, which, DORMANT), np.where(taken, which, -1)
    return people


def prepare(experiment: Experiment, seed: int) -> Prepared:
    """The hierarchy of an experiment before anybody has joined."""
    interests = experiment.workload.load(experiment.population.size, seed)
    layers, space = experiment.layers, AddressSpace(experiment.layers.sizes)
    people = addressed(interests, experiment.population.spare, space)
    kind = _Settled if layers.settled else Hierarchy
    return Prepared(
        kind(people, space, layers.condensation, layers.upkeep, seed=seed),
        {"interests": interests, "events": interests.events, "settings": experiment.dissemination},
    )


SYSTEM = System(
    workload=WorkloadSettings,
    layers=HierarchySettings,
    dissemination=Gossip,
    layer_names=("hpmcast",),
    observers={
        "delivery": Delivery,
        "views": Views,
        "degrees": Degrees,
        "ages": LinkAges,
        "connectivity": Connectivity,
    },
    usual=({"kind": "views", "every": 5}, {"kind": "delivery", "at": -1}),
    supplied=("interests", "events", "settings", "folder"),
    prepare=prepare,
)
