"""CAMCAST as a system to run: communities of topics, events gossiped within them and upward.

An event of a topic is published by a random live member of its community.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.settings import TopicSettings
from hierarchy.membership import CommunityOverlay, SemiStructured, Structured, Unstructured
from hierarchy.topics import NestedRanges, TopicTree
from sims.config.interests import USUAL_SIZE
from sims.engine import Simulation
from sims.engine.control import Row
from sims.runs.systems.interface import Prepared, System
from sims.runs.trials import Trial, record_trials
from sub2sub.errors import InputError
from sub2sub.kernels.randomness import draws
from workloads.generate.topics import TopicSpec, regular_tree

if TYPE_CHECKING:
    from sims.config.experiment import Experiment

__all__ = ["SYSTEM", "CommunitySettings", "TopicWorkload"]

MEMBERSHIPS = {"unstructured": Unstructured, "semi-structured": SemiStructured, "structured": Structured}


@dataclass(frozen=True)
class TopicWorkload:
    """Which topics there are, and who subscribes to which.

    Attributes
    ----------
    tree : tuple of int
        Subtopics of the root, of each of those, and so on.
    exponent : float
        Of the Zipf law of subscribers over topics; 0 for equal shares.
    depth_bias : float
        Factor on a topic's share per level of depth.
    event_exponent : float
        Of the Zipf law of events over topics.
    chain : tuple of int
        Instead of a tree: sizes of nested communities, the root's first; 10, 100, 1000 are the paper's.
        Events are then published in the last.
    events : int
        Test events.
    """

    tree: tuple[int, ...] = (4, 4)
    exponent: float = 1.0
    depth_bias: float = 1.0
    event_exponent: float = 0.0
    chain: tuple[int, ...] = ()
    events: int = 100

    def __post_init__(self) -> None:
        """Refuse trees that cannot be."""
        if self.events < 1:
            raise InputError(f"workload.events: expected 1 or more, got {self.events}")
        if any(size < 1 for size in self.chain):
            raise InputError(f"chain: expected sizes of 1 or more, got {list(self.chain)}")
        self.spec()

    def spec(self) -> TopicSpec:
        """The topics, and how popular they are."""
        shape = (1,) * (len(self.chain) - 1) if self.chain else self.tree
        return TopicSpec(regular_tree(shape), self.exponent, self.depth_bias, self.event_exponent)


class Subscriptions:
    """Topics of subscribers as ranges, and topics of events.

    Attributes
    ----------
    ranges : NestedRanges
        Their topics have the numbers of the spec's.
    """

    def __init__(self, workload: TopicWorkload, seed: int) -> None:
        self.workload, self.spec, self.seed = workload, workload.spec(), seed
        self.ranges = NestedRanges(TopicTree.numbered(self.spec.topics))

    def topics(self, start: int, stop: int) -> NDArray[np.int64]:
        """Numbers of the topics that the subscribers [start, stop) want."""
        if self.workload.chain:
            ends = np.cumsum(self.workload.chain)
            place: NDArray[np.int64] = np.searchsorted(ends, np.arange(start, stop) % ends[-1], side="right")
            return place
        return self.spec.subscriptions(stop - start, self.seed, start)

    def rows(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Closed ranges of the subscriptions [start, stop)."""
        bounds = self.ranges.bounds()[self.topics(start, stop)].astype(float)
        return bounds[:, :1], bounds[:, 1:] - 1

    def events(self) -> NDArray[np.int64]:
        """Numbers of the topics of the test events."""
        if self.workload.chain:
            return np.full(self.workload.events, len(self.spec.topics) - 1)
        return self.spec.events(self.workload.events, self.seed)


@dataclass(frozen=True)
class CommunitySettings:
    """Settings of communities.

    Attributes
    ----------
    membership : str
        How members find one another and the super-community (Section 5.2).
    topics : TopicSettings
        What every community tunes.
    """

    membership: Literal["unstructured", "semi-structured", "structured"] = "unstructured"
    topics: TopicSettings = field(default_factory=TopicSettings)


@dataclass(frozen=True)
class NoSettings:
    """CAMCAST's dissemination is tuned with its tables, in `layers.topics`."""


class Delivery:
    """Publishes the test events over the tables as they are.

    Parameters
    ----------
    events : (m,) int64
        Topics.
    folder : Path
    details : bool
        Whether to add what became of each event to the table `events`.
    """

    name = "delivery"

    def __init__(self, events: NDArray[np.int64], folder: Path, details: bool = True) -> None:
        self.events, self.folder, self.details = events, folder, details

    def execute(self, simulation: Simulation) -> Row:
        """Publish those that somebody alive can publish."""
        overlay = simulation.overlay
        alive, people = overlay.network.alive == 1, overlay.communities()
        bits = draws(simulation.key(self.name), np.arange(len(self.events)))
        trials = []
        for number, topic in enumerate(self.events.tolist()):
            members = np.flatnonzero(alive & (people.topic == topic))
            if not members.size:
                continue
            publisher = int(members[int(bits[number] % np.uint64(members.size))])
            spread = overlay.publish(publisher, event=simulation.cycle * len(self.events) + number)
            owed = people.interested(topic) & alive
            got = owed & (spread.round_of >= 0)
            spam = spread.parasites(people, topic)
            trials.append(
                Trial(
                    matches=int(owed.sum()),
                    reached=int(got.sum()),
                    hops=int(spread.round_of[got].max(initial=0)),
                    messages=int(spread.sent.sum() + spread.upward.sum()),
                    duplicates=int(spread.arrived.sum()) - spam - (int(got.sum()) - 1),
                    spam=spam,
                )
            )
        if not trials:
            raise InputError(f"delivery: nobody alive can publish a test event in cycle {simulation.cycle}")
        return record_trials(trials, self.folder, simulation.cycle, self.details)


def prepare(experiment: Experiment, seed: int) -> Prepared:
    """The communities of an experiment before anybody has joined."""
    subscriptions = Subscriptions(experiment.workload, seed)
    size = experiment.population.size or sum(experiment.workload.chain) or USUAL_SIZE
    overlay = CommunityOverlay(
        subscriptions.ranges,
        subscriptions.topics(0, size),
        seed,
        experiment.layers.topics,
        MEMBERSHIPS[experiment.layers.membership],
        experiment.population.spare,
    )
    return Prepared(overlay, {"interests": subscriptions, "events": subscriptions.events()})


SYSTEM = System(
    workload=TopicWorkload,
    layers=CommunitySettings,
    dissemination=NoSettings,
    layer_names=(),
    observers={"delivery": Delivery},
    usual=({"kind": "delivery", "every": 5},),
    supplied=("interests", "events", "folder"),
    prepare=prepare,
)
