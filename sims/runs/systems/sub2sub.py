"""Sub-2-Sub as a system to run: random, proximity and ring links, and events along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sims.config.interests import WorkloadSettings
from sims.observers import Clustering, Connectivity, Degrees, LinkAges, PathLengths, RingCompleteness
from sims.observers.deliveries import Delivery
from sims.observers.publishers import Publishers
from sims.observers.snapshots import KINDS, Snapshots
from sims.runs.systems.interface import Prepared, System
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from sub2sub.overlay.population import Population

if TYPE_CHECKING:
    from sims.config.experiment import Experiment

__all__ = ["SYSTEM"]


def prepare(experiment: Experiment, seed: int) -> Prepared:
    """The overlay of an experiment before anybody has joined."""
    interests = experiment.workload.load(experiment.population.size, seed)
    people = Population.of(interests.lows, interests.highs, spare=experiment.population.spare, seed=seed)
    return Prepared(
        Overlay(people, experiment.layers, seed=seed),
        {"interests": interests, "events": interests.events, "settings": experiment.dissemination},
    )


SYSTEM = System(
    workload=WorkloadSettings,
    layers=OverlaySettings,
    dissemination=DisseminationSettings,
    layer_names=KINDS,
    observers={
        "rings": RingCompleteness,
        "delivery": Delivery,
        "publishers": Publishers,
        "degrees": Degrees,
        "ages": LinkAges,
        "clustering": Clustering,
        "paths": PathLengths,
        "connectivity": Connectivity,
        "snapshot": Snapshots,
    },
    usual=({"kind": "rings"}, {"kind": "delivery", "at": -1}, {"kind": "degrees", "layer": "ring", "at": -1}),
    supplied=("interests", "events", "settings", "folder"),
    prepare=prepare,
)
