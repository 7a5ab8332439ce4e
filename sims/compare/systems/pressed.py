"""Ranges pressed into topics, both ways people do it, on CAMCAST.

Topics are the cells of a dyadic grid (`sims.compare.dyadic`); those that somebody subscribes to exist, each
below the next larger one that exists. CAMCAST runs on them as on any topics. `Enclosing`: a subscriber takes
the smallest cell around its box and throws away what it did not want; spam is the price. `Cover`: it takes
all cells of an exact cover, each a membership of its own with tables of its own; tables are the price.

An event belongs to the smallest topic around its point, and goes up from there, so it has to enter at the
bottom. As everybody who publishes on a topic does in CAMCAST, its publisher is a member of a community of its
own below that topic, with a super-topic table that it finds, checks and refills as all members do.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from hierarchy.topics import TopicTree
from sims.compare.dyadic import cover, enclosing, point_cells
from sims.compare.systems.communities import KNOBS, Communities
from sims.compare.systems.gossip import spread_tables
from sims.compare.systems.system import Knob, System, Traffic, Unable
from sims.compare.tally import Tally
from sims.compare.worlds.world import World
from sub2sub.overlay.network import Network

__all__ = ["Cover", "Enclosing", "Pressed"]

MOST_MEMBERS = 500_000  # memberships, about 1 GB of SCAMP's views
SAMPLE = 100  # subscribers whose covers are counted to say how many there would be

Integers = NDArray[np.int64]


class Pressed(System):
    """Members of cells; the last ones are the events' publishers.

    Attributes
    ----------
    host : (members,) int64
        The subscriber each membership belongs to. A publisher's membership belongs to whoever publishes.
    """

    knobs = KNOBS

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        self.host, cells = self.memberships(world)
        tree, topic = _tree(cells, point_cells(world.points, world.bits))
        self.network = Network.whole(len(topic))
        self.alive = np.ones(world.n, np.uint8)
        self.communities = Communities(tree, topic, seed)

    @abstractmethod
    def memberships(self, world: World) -> tuple[Integers, Integers]:
        """Subscriber and cell of each membership."""

    def step(self, cycle: int) -> Traffic:
        """One cycle of the memberships."""
        return self.communities.step(cycle, self.network)

    def links(self) -> dict[str, Integers]:
        """Both tables of all memberships of a host; those of publishers, who come and go, are left out."""
        kinds = zip(("topic table", "super-topic table"), self.communities.sizes(), strict=True)
        return {
            kind: np.bincount(self.host, weights=sizes[: len(self.host)], minlength=self.world.n).astype(
                np.int64
            )
            for kind, sizes in kinds
        }

    def members(self, alive: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """All memberships of those who are up, and all publishers."""
        return np.append(alive[self.host], np.ones(len(self.world.points), np.uint8))

    def fail(self, alive: NDArray[np.uint8], loss: float) -> None:
        """Take subscribers down with all their memberships."""
        super().fail(alive, loss)
        self.alive = alive

    def publish(self, events: Integers, publishers: Integers, knob: Knob, salt: int) -> Tally:
        """Let each event go up from its publisher's own community."""
        of_events = np.zeros(len(self.world.points), np.int64)
        of_events[events] = publishers
        return spread_tables(
            *self.communities.tables(knob), self.network, np.append(self.host, of_events), self.alive,
            self.world.matches, events, len(self.host) + events, publishers, self.seed, salt,
        )  # fmt: skip


class Enclosing(Pressed):
    """One enclosing topic a subscriber."""

    name = "enclosing topic"

    def memberships(self, world: World) -> tuple[Integers, Integers]:
        """One each."""
        return np.arange(world.n), enclosing(world.lows, world.highs, world.bits)


class Cover(Pressed):
    """An exact cover by several topics."""

    name = "exact cover"

    def memberships(self, world: World) -> tuple[Integers, Integers]:
        """As many as the cover has cells."""
        found = cover(world.lows, world.highs, world.bits, MOST_MEMBERS)
        if found is None:
            raise Unable(_too_many(world))
        offsets, cells = found
        return np.repeat(np.arange(world.n), np.diff(offsets)), cells


def _too_many(world: World) -> str:
    """How many memberships an exact cover would take, from the first subscribers."""
    some = cover(world.lows[:SAMPLE], world.highs[:SAMPLE], world.bits, 40 * MOST_MEMBERS)
    if some is None:
        each = f"more than {40 * MOST_MEMBERS // SAMPLE:,}"
    else:
        each = f"about {len(some[1]) // min(SAMPLE, world.n):,}"
    return f"not run: {each} topics a subscriber, more than {MOST_MEMBERS:,} memberships in all"


def _tree(cells: Integers, points: Integers) -> tuple[TopicTree, Integers]:
    """A tree of the cells that somebody takes, and the topic of each membership, publishers' last.

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
