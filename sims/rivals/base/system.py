"""What a run needs of a system: it is built from subscriptions, stepped by its overlay, and publishes events.

Messages go through the network of the overlay. Knowledge that only the simulator has (which peers match an
event, which are down, what is lost) enters no decision of a peer: `truth` is used for accounting alone.

Events are numbered as in `Subscriptions.points`, publishers by the *peers* of an outcome: the peers of the
overlay, or the subscribers where each of these has several members in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws
from sub2sub.errors import InputError
from sub2sub.geometry.matching import Members, match_boxes
from sub2sub.overlay.population import Population

if TYPE_CHECKING:
    from sims.config.entries import Kinds
    from sims.config.experiment import Experiment
    from sims.config.interests import Subscriptions
    from sims.engine.control import Simulated
    from sims.engine.simulation import Simulation
    from sub2sub.compiled.events.outcome import Outcome

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True)
class NoSettings:
    """No settings."""


class Publication(NamedTuple):
    """Events to publish, each from its publisher.

    Attributes
    ----------
    events, publishers : (m,) int64
    salt : int
        Keeps the draws of repeated publications apart.
    record : bool
        Whether to keep who received what (`Outcome.receptions`).
    at : (m,) float64, optional
        Milliseconds at which each is published, where they share uplinks (`sims.rivals.base.streams`);
        without it each has the network to itself.
    """

    events: Integers
    publishers: Integers
    salt: int
    record: bool
    at: Floats | None = None


class Truth(NamedTuple):
    """What only accounting knows: the peer of each member, which peers are up, which match each event.

    Attributes
    ----------
    host, places : (members,) int64
        The peer that each member is billed to, and the host it runs on: the same number in every system.
    alive : (peers,) uint8
    matches : Members
        The peers that match each event, crashed or not.
    """

    host: Integers
    places: Integers
    alive: NDArray[np.uint8]
    matches: Members


class System(ABC):
    """A system, built for some subscriptions.

    Parameters
    ----------
    wanted : Subscriptions
    seed : int
    layers : object, optional
        Settings of the overlay, an instance of `layers`; if not given, those used in comparisons.
    spare : int
        Places for newcomers.

    Attributes
    ----------
    name : str
        The name of its file, with spaces.
    workload, layers, dissemination : type
        Dataclasses whose fields are the settings of the tables of these names.
    layer_names : tuple of str
        Layers whose links can be observed.
    observers : mapping
        What can be observed, by kind.
    usual : tuple of tables
        Observers of an experiment that names none; `at = "end"` is the last cycle.
    supplied : tuple of str
        Parameters of observers and faults that a run gives.
    overlay : Simulated
    """

    name: ClassVar[str]
    workload: ClassVar[type]
    layers: ClassVar[type] = NoSettings
    dissemination: ClassVar[type]
    layer_names: ClassVar[tuple[str, ...]] = ()
    observers: ClassVar[Kinds]
    usual: ClassVar[tuple[Mapping[str, Any], ...]] = ({"kind": "delivery", "every": 5},)
    supplied: ClassVar[tuple[str, ...]] = ("interests", "events", "settings", "folder", "system", "first")
    overlay: Simulated

    def __init__(self, wanted: Subscriptions, seed: int, layers: Any = None, spare: int = 0) -> None:
        self.wanted, self.seed = wanted, seed
        self._changes = 0 if wanted.topics is None else wanted.topics.ranges.tree.changes
        self._matched: tuple[NDArray[np.float64], NDArray[np.float64], Members] | None = None
        self._computed: dict[str, Any] = {}
        self.overlay = self.build(layers, spare)

    @classmethod
    def prepare(cls, experiment: Experiment, seed: int) -> Self:
        """The system of an experiment, before any peer has joined."""
        found: Subscriptions = experiment.workload.load(experiment.population.size, seed)
        spare = experiment.population.spare
        if experiment.faults and not spare:
            from sims.config.newcomers import room

            spare = room(experiment.faults, found.n, experiment.cycles, seed)
        return cls(found, seed, experiment.layers, spare)

    def make_population(self, spare: int) -> Population:
        """A peer for each subscriber, and places for newcomers."""
        wanted = self.wanted
        ids = None if wanted.hosts is None else np.arange(wanted.n)
        return Population.of(wanted.lows, wanted.highs, ids, wanted.hosts, spare, self.seed)

    @abstractmethod
    def build(self, layers: Any, spare: int) -> Simulated:
        """The overlay before any peer has joined."""

    @abstractmethod
    def spread(self, asked: Publication, settings: Any) -> Outcome:
        """Publish events under the faults of the network as it is; change nothing."""

    def publish(
        self, events: Integers, publishers: Integers, settings: Any, salt: int, record: bool = False
    ) -> Outcome:
        """`spread` these events."""
        return self.spread(Publication(events, publishers, salt, record), settings)

    @property
    def points(self) -> NDArray[np.float64]:
        """The events; those of topics are where their ranges are now."""
        topics = self.wanted.topics
        if topics is None or topics.ranges.tree.changes == self._changes:
            return self.wanted.points
        return topics.ranges.bounds()[topics.of_event, :1].astype(np.float64)

    @property
    def network(self) -> Network:
        """The network of the overlay."""
        return self.overlay.network

    @property
    def peer_of(self) -> Integers:
        """The peer of each subscriber of the start."""
        population = self.overlay.population
        peer = np.empty(self.wanted.n, np.int64)
        own = population.present & (population.host < self.wanted.n)
        peer[population.host[own]] = np.flatnonzero(own)
        return peer

    @property
    def truth(self) -> Truth:
        """What accounting knows."""
        members = np.arange(len(self.overlay.population))
        return Truth(members, self.overlay.population.host, self.network.alive, self.matches)

    @property
    def matches(self) -> Members:
        """Which peers want each event."""
        boxes, points = self.overlay.population.boxes, self.points
        if self._matched is None or not (
            np.array_equal(self._matched[0], boxes) and np.array_equal(self._matched[1], points)
        ):
            from sub2sub.compiled.events.audience import half_open

            self._matched = boxes.copy(), points, match_boxes(*half_open(self.overlay.population), points)
        return self._matched[2]

    def computed(self, name: str, compute: Callable[[], T]) -> T:
        """A value of the state of the overlay, computed once until `forget`."""
        if name not in self._computed:
            self._computed[name] = compute()
        found: T = self._computed[name]
        return found

    def forget(self) -> None:
        """Drop values computed from the state of the overlay, which has changed."""
        self._computed.clear()

    def publish_tests(
        self, simulation: Simulation, settings: Any, record: bool = False
    ) -> tuple[Integers, Outcome]:
        """Publish all events that have a publisher; return their numbers and the outcome."""
        self.forget()
        publishers = self.draw_publishers(simulation)
        events = np.flatnonzero(publishers >= 0)
        if not events.size:
            raise InputError(f"delivery: expected a live publisher in cycle {simulation.cycle}, got none")
        return events, self.publish(events, publishers[events], settings, simulation.cycle, record)

    def draw_publishers(self, simulation: Simulation) -> Integers:
        """A random one of the live peers that may publish each event; -1 where there is none."""
        bits = draws(simulation.key("delivery"), np.arange(len(self.wanted.points)))
        found = np.full(len(bits), -1, np.int64)
        for event, own in enumerate(bits):
            among = self.may_publish(event)
            if among.size:
                found[event] = among[int(own % np.uint64(among.size))]
        return found

    def may_publish(self, event: int) -> Integers:
        """Live peers that may publish a test event: those that match it.

        Where interests are topics it subscribes to the event's own topic, because a process that publishes on
        a topic belongs to its community (CAMCAST, Section 2.1).
        """
        truth = self.truth
        wanting: Integers = truth.matches.of(event)
        wanting = wanting[truth.alive[wanting] == 1]
        return wanting if self.wanted.topics is None else wanting[self.on_topic(wanting, event)]

    def on_topic(self, peers: Integers, event: int) -> NDArray[np.bool_]:
        """Which of these peers subscribe to an event's own topic."""
        lows, highs = (side[peers, 0] for side in self.overlay.population.ranges())
        low, high = self.wanted.tree.ranges.bounds()[self.wanted.tree.of_event[event]]
        return np.asarray((lows == low) & (highs == high - 1))
