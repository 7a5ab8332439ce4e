"""Ranges expressed as topics: subscribers join the cells of an encoding, on any topic engine.

The space is halved repeatedly, one attribute after the other. With one attribute the cells are the dyadic
intervals, with more those of a k-d tree; they form one binary tree, as topics do. A cell of depth t is the
number 1 b1 b2 ... bt in binary, where the bits are the halves taken; its parent is that number without the
last bit, and the root is 1. Points of a grid of 2^bits values per attribute are the cells of depth bits * d;
their bits are the Morton code (Morton, 1966).

Topics are the cells that have subscribers; the parent of a topic is the smallest larger cell that is a topic.
Each cell that a subscriber joins is a membership with its own tables, which costs memory and upkeep. Events
that it does not want count as spam.

An event belongs to the smallest topic around its point, and goes up from there. Its publisher is the only
member of a community below that topic, with contacts above that it finds, checks and refills as all members
do. What this membership sends and receives is billed to the subscriber that publishes, its upkeep is not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hierarchy.topics import NestedRanges, TopicTree
from sims.config.entries import Kinds
from sims.config.interests import Subscriptions, Topics, WorkloadSettings
from sims.engine.control import Simulated
from sims.observers.deliveries import Deliveries
from sims.rivals.base.entrants import Compared, Knob, SeveralMemberships, Traffic, Unable, Variant
from sims.rivals.base.system import Integers, Publication, Truth
from sims.rivals.others.gossipsub import GossipSub
from sims.rivals.others.plumtree import Plumtree
from sims.rivals.papers.camcast import Camcast
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.errors import InputError

MOST_MEMBERS = 500_000  # memberships, about 1 GB of SCAMP's views
MOST_BITS = 62
Floats = NDArray[np.float64]
Cells = tuple[Integers, Integers]  # subscriber and cell of each membership


@dataclass(frozen=True)
class Engine:
    """The topic engine under an encoding.

    Attributes
    ----------
    system : type
    layers : object
        Its settings.
    """

    system: type[Compared] = Camcast
    layers: object = None


def on(system: type[Compared], variant: Variant | None = None) -> Variant:
    """An encoding on a topic engine; it takes part where it is asked for."""
    layers = None if variant is None else variant.layers
    base = system.base or system.dissemination()
    return Variant(Engine(system, layers), base, system.knobs, (), system.look, system.probe)


ENGINES: Mapping[str, Variant] = {
    "gossipsub": on(GossipSub),
    "gossipsub D 3": on(GossipSub, GossipSub.variants["D 3"]),
    "plumtree": on(Plumtree),
}


class Encoded(SeveralMemberships):
    """Members of cells; the last ones are the events' publishers, each on its own host, which never fails."""

    workload = WorkloadSettings
    layers = Engine
    dissemination: ClassVar[type] = Camcast.dissemination
    base = Camcast.base
    knobs = Camcast.knobs
    probe: ClassVar[Knob] = Camcast.probe
    variants = ENGINES
    observers: ClassVar[Kinds] = {"delivery": Deliveries}

    def build(self, layers: Engine | None, spare: int) -> Simulated:
        """A membership for each cell and for each event."""
        wanted, chosen = self.wanted, layers or Engine()
        self.publisher = np.zeros(len(wanted.points), np.int64)  # the subscriber that publishes each event
        self.members, cells = self.memberships()
        if len(cells) > MOST_MEMBERS:
            raise Unable(f"not run: {len(cells):,} memberships, more than {MOST_MEMBERS:,}")
        tree, topic = _tree(cells, self.topic_cells(wanted.points))
        ranges, of_event = NestedRanges(tree), topic[len(cells) :]
        bounds = ranges.bounds().astype(np.float64)
        low, high = bounds[topic, :1], bounds[topic, 1:] - 1.0
        hosts = np.append(self.members, wanted.n + np.arange(len(wanted.points)))
        topics = Topics(ranges, topic, of_event)
        inner = Subscriptions(low, high, bounds[of_event, :1], topics=topics, hosts=hosts)
        self.engine = chosen.system(inner, self.seed, chosen.layers)
        self.engine.owner = self
        return self.engine.overlay

    def topic_cells(self, points: Floats) -> Integers:
        """The finest cell of each point."""
        return point_cells(points, self.wanted.bits)

    @abstractmethod
    def memberships(self) -> Cells:
        """Subscriber and cell of each membership."""

    @property
    def truth(self) -> Truth:
        """Publishers' memberships are those of the subscribers that publish."""
        up = np.zeros(self.wanted.n, np.uint8)
        up[self.members[self.network.alive[: len(self.members)] == 1]] = 1
        host = np.append(self.members, self.publisher)
        return Truth(host, host, up, self.matches)

    def spent(self) -> tuple[Integers, Integers] | None:
        """That of all memberships."""
        return self.engine.spent()

    def forget(self) -> None:
        """Drop what the engine has computed, too."""
        super().forget()
        self.engine.forget()

    def traffic(self, costs: Mapping[str, Mapping[str, int]]) -> Traffic:
        """That of subscribers: publishers' memberships are left out."""
        spent = self.spent()
        assert spent is not None
        return Traffic(*(int(own.sum()) for own in spent))

    def links(self) -> dict[str, Integers]:
        """Those of all memberships."""
        return self.engine.links()

    def entry_bytes(self, kind: str) -> int:
        """As the engine keeps them."""
        return self.engine.entry_bytes(kind)

    def fail(self, alive: NDArray[np.uint8], loss: float) -> None:
        """Take subscribers down with all their memberships, but no publisher."""
        super().fail(np.append(alive, np.ones(len(self.wanted.points), np.uint8)), loss)

    def spread(self, asked: Publication, settings: object) -> Outcome:
        """Let each event go up from its publisher's own community."""
        self.publisher[:] = 0
        self.publisher[asked.events] = asked.publishers
        return self.engine.spread(asked._replace(publishers=len(self.members) + asked.events), settings)


def point_cells(points: Floats, bits: int) -> Integers:
    """The cells of depth bits * d of points of the grid.

    Examples
    --------
    >>> [f"{cell:b}" for cell in point_cells(np.array([[5.0, 0.0], [5.0, 7.0]]), bits=3)]
    ['1100010', '1110111']
    """
    values = np.asarray(points).astype(np.int64)
    d = values.shape[1]
    if bits * d > MOST_BITS:
        raise InputError(f"bits = {bits}: expected at most {MOST_BITS // d} with {d} attributes")
    cells = np.ones(len(values), np.int64)
    for bit in range(bits - 1, -1, -1):
        for axis in range(d):
            cells = cells << 1 | values[:, axis] >> bit & 1
    return cells


def _tree(cells: Integers, points: Integers) -> tuple[TopicTree, Integers]:
    """A tree of the cells that have subscribers, and the topic of each membership, publishers last.

    Each publisher's topic lies below the smallest cell around its point.
    """
    number = {1: 0}
    tree = TopicTree("1")
    for cell in np.unique(cells).tolist():  # a cell's number is greater than those around it
        if cell != 1:
            number[cell] = tree.add(f"{cell:b}", [_smallest(cell >> 1, number)])
    publishers = [tree.add(f"event {k}", [_smallest(cell, number)]) for k, cell in enumerate(points.tolist())]
    return tree, np.array([number[cell] for cell in cells.tolist()] + publishers, np.int64)


def _smallest(cell: int, number: dict[int, int]) -> int:
    while cell not in number:
        cell >>= 1
    return number[cell]
