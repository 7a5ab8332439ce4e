"""The interface of systems for `run` and `compare`: build, step, publish; and their costs.

A system decides how it is stepped, what counts as a link, and which settings trade messages for reliability.
Its messages go through the network of its overlay. Knowledge that only the simulator has (which peers match
an event, which are down, what is lost) enters no decision of a peer: `matches` and `alive` are used for
accounting alone.

Events are numbered as in `Subscriptions.points`, publishers by the *peers* of an outcome: the peers of the
overlay, or the subscribers where each of these has several memberships (`sims.systems.several_memberships`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sims.config.entries import Kinds
from sims.config.interests import WorkloadSettings
from sims.config.newcomers import room
from sims.config.subscriptions import Subscriptions
from sims.engine.simulated import Simulated
from sims.engine.simulation import Simulation
from sims.observers import Clustering, Connectivity, Degrees, LinkAges, PathLengths
from sims.observers.deliveries import Deliveries
from sims.observers.snapshots import Snapshots
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.events.audience import half_open
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.errors import InputError
from sub2sub.geometry.matching import Members, match_boxes
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import LINK

if TYPE_CHECKING:
    from sims.config.experiment import Experiment

Integers = NDArray[np.int64]
T = TypeVar("T")
LINK_OBSERVERS: Kinds = {
    "degrees": Degrees,
    "ages": LinkAges,
    "clustering": Clustering,
    "paths": PathLengths,
    "connectivity": Connectivity,
    "snapshot": Snapshots,
}


class Unable(Exception):
    """A system cannot run here; its empty cells show the reason."""


class Traffic(NamedTuple):
    """Messages and bytes, of all peers together."""

    messages: int
    bytes: int


@dataclass(frozen=True)
class Knob:
    """One setting of dissemination, to trade messages for reliability.

    Examples
    --------
    >>> str(Knob(fanout=4, g=10))
    'fanout 4, g 10'
    """

    settings: dict[str, Any] = field(default_factory=dict)

    def __init__(self, **settings: Any) -> None:
        object.__setattr__(self, "settings", settings)

    def __str__(self) -> str:
        """As text."""
        return ", ".join(f"{name} {value:g}" for name, value in self.settings.items())


@runtime_checkable
class CountsPeers(Protocol):
    """A layer that counts what each peer sends."""

    def spent(self) -> tuple[Integers, Integers]:
        """Messages and bytes of the last cycle, by peer."""


@dataclass(frozen=True)
class NoSettings:
    """No settings."""


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
    knobs : tuple of Knob
        Settings it is compared with.
    probe : Knob
        The one with which its convergence and healing are followed.
    static : str
        Why its overlay cannot be stepped, if only events can be published.
    overlay : Simulated
    """

    name: ClassVar[str]
    workload: ClassVar[type] = WorkloadSettings
    layers: ClassVar[type] = NoSettings
    dissemination: ClassVar[type]
    layer_names: ClassVar[tuple[str, ...]] = ()
    observers: ClassVar[Kinds] = {"delivery": Deliveries}
    usual: ClassVar[tuple[Mapping[str, Any], ...]] = ({"kind": "delivery", "every": 5},)
    supplied: ClassVar[tuple[str, ...]] = ("interests", "events", "settings", "folder", "system", "first")
    knobs: ClassVar[tuple[Knob, ...]] = ()
    probe: ClassVar[Knob]
    static: str = ""
    overlay: Simulated

    def __init__(self, wanted: Subscriptions, seed: int, layers: Any = None, spare: int = 0) -> None:
        self.wanted, self.seed = wanted, seed
        self._changes = 0 if wanted.topics is None else wanted.topics.ranges.tree.changes
        self._matched: tuple[NDArray[np.float64], NDArray[np.float64], Members] | None = None
        self._computed: dict[str, Any] = {}
        self.overlay = self.build(layers, spare)

    def make_population(self, spare: int) -> Population:
        """A peer for each subscriber, and places for newcomers."""
        return Population.of(self.wanted.lows, self.wanted.highs, spare=spare, seed=self.seed)

    @abstractmethod
    def build(self, layers: Any, spare: int) -> Simulated:
        """The overlay before any peer has joined."""

    @abstractmethod
    def publish(
        self, events: Integers, publishers: Integers, settings: Any, salt: int, record: bool = False
    ) -> Outcome:
        """Publish events, each from its publisher, under the faults of the network as it is; change nothing.

        `salt` keeps the draws of repeated publications apart; `record` asks for `Outcome.receptions`.
        """

    @abstractmethod
    def links(self) -> dict[str, Integers]:
        """Links that each subscriber's host keeps, by kind."""

    def entry_bytes(self, kind: str) -> int:
        """Bytes that a link of a kind takes where it is kept, counted as in a message."""
        return LINK

    def memory(self) -> Integers:
        """Bytes that each subscriber's host stores about other peers."""
        total: Integers = sum(
            (count * self.entry_bytes(kind) for kind, count in self.links().items()),
            start=np.zeros(self.wanted.n, np.int64),
        )
        return total

    def spent(self) -> tuple[Integers, Integers] | None:
        """Messages and bytes of each subscriber for upkeep in the last cycle, if all layers count them."""
        counted = [layer.spent() for layer in self.overlay.layers if isinstance(layer, CountsPeers)]
        if not counted or len(counted) < len(self.overlay.layers):
            return None
        messages, size = (np.asarray(sum(own[k] for own in counted)) for k in (0, 1))
        return self.by_subscriber(messages), self.by_subscriber(size)

    def by_subscriber(self, of_members: Integers) -> Integers:
        """Values of the members of the overlay, by the subscribers of the start."""
        return of_members[self.peer_of]

    @classmethod
    def prepare(cls, experiment: Experiment, seed: int) -> Self:
        """The system of an experiment, before any peer has joined."""
        found: Subscriptions = experiment.workload.load(experiment.population.size, seed)
        spare = experiment.population.spare or room(experiment.faults, found.n, experiment.cycles, seed)
        return cls(found, seed, experiment.layers, spare)

    @classmethod
    def at(cls, knob: Knob) -> Any:
        """A knob as settings of dissemination."""
        return cls.dissemination(**knob.settings)

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
    def host(self) -> Integers:
        """The peer that each member of the overlay is billed to."""
        return np.arange(len(self.overlay.population))

    @property
    def places(self) -> Integers:
        """The host that each member of the overlay runs on: the same number in every system."""
        return self.overlay.population.host

    @property
    def alive(self) -> NDArray[np.uint8]:
        """Which peers are up."""
        return self.network.alive

    @property
    def matches(self) -> Members:
        """Which peers want each event, crashed or not: the truth, for accounting."""
        boxes, points = self.overlay.population.boxes, self.points
        if self._matched is None or not (
            np.array_equal(self._matched[0], boxes) and np.array_equal(self._matched[1], points)
        ):
            self._matched = boxes.copy(), points, match_boxes(*half_open(self.overlay.population), points)
        return self._matched[2]

    def step(self, cycle: int) -> Traffic:
        """One cycle of upkeep; what it cost."""
        self.forget()
        return self.traffic(self.overlay.step(cycle))

    def traffic(self, costs: Mapping[str, Mapping[str, int]]) -> Traffic:
        """The cost of a cycle, summed over layers."""
        return Traffic(*(sum(cost[name] for cost in costs.values()) for name in Traffic._fields))

    def computed(self, name: str, compute: Callable[[], T]) -> T:
        """A value of the state of the overlay, computed once until `forget`."""
        if name not in self._computed:
            self._computed[name] = compute()
        found: T = self._computed[name]
        return found

    def forget(self) -> None:
        """Drop values computed from the state of the overlay, which has changed."""
        self._computed.clear()

    def fail(self, alive: NDArray[np.uint8], loss: float) -> None:
        """Crash subscribers, and set the probability of loss."""
        self.network.alive[:] = alive[self.overlay.population.host]
        self.network.loss = loss

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
        wanting: Integers = self.matches.of(event)
        wanting = wanting[self.alive[wanting] == 1]
        if self.wanted.topics is not None and wanting.size:
            lows, highs = self.overlay.population.ranges()
            low, high = self.wanted.topics.ranges.bounds()[self.wanted.topics.of_event[event]]
            wanting = wanting[(lows[wanting, 0] == low) & (highs[wanting, 0] == high - 1)]
        return wanting
