"""Ranges expressed as topics in two ways, on CAMCAST.

Topics are the cells of a dyadic grid (`sims.systems.dyadic`) that have subscribers; the parent of a topic is
the smallest larger cell that is a topic. CAMCAST runs on them as on any topics. `Enclosing`: a subscriber
subscribes to the smallest cell around its box, and drops the events that it does not want, which count as
spam. `Cover`: it subscribes to all cells of an exact cover. Each is a membership with its own tables, which
costs memory.

An event belongs to the smallest topic around its point, and goes up from there. Its publisher is the only
member of a community below that topic, with a super-topic table that it finds, checks and refills as all
members do.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierarchy.membership import CommunityOverlay
from hierarchy.topics import NestedRanges, TopicTree
from sims.config.subscriptions import Subscriptions
from sims.systems.community_sizes import CommunityGossip, CommunityTables, compared_communities, tables_of
from sims.systems.dyadic import cover, enclosing, point_cells
from sims.systems.interface import Integers, Traffic, Unable
from sims.systems.ledger import Truth
from sims.systems.several_memberships import SeveralMemberships
from sub2sub.compiled.events.outcome import Outcome

MOST_MEMBERS = 500_000  # memberships, about 1 GB of SCAMP's views
SAMPLE = 100  # subscribers from whose covers the number of memberships is estimated


class DyadicTopics(SeveralMemberships, CommunityTables):
    """Members of cells; the last ones are the events' publishers, each on its own host, which never fails.

    What a publisher's membership sends and receives is billed to the subscriber that publishes.
    """

    dissemination = CommunityGossip

    def build(self, layers: Any, spare: int) -> CommunityOverlay:
        """A membership for each cell and for each event."""
        wanted = self.wanted
        self.owner, cells = self.memberships()
        tree, topic = _tree(cells, point_cells(wanted.points, wanted.bits))
        hosts = np.append(self.owner, wanted.n + np.arange(len(wanted.points)))
        return compared_communities(NestedRanges(tree), topic, hosts, self.seed)

    @abstractmethod
    def memberships(self) -> tuple[Integers, Integers]:
        """Subscriber and cell of each membership."""

    @property
    def alive(self) -> NDArray[np.uint8]:
        """Which subscribers are up."""
        up = np.zeros(self.wanted.n, np.uint8)
        up[self.owner[self.network.alive[: len(self.owner)] == 1]] = 1
        return up

    def traffic(self, costs: Mapping[str, Mapping[str, int]]) -> Traffic:
        """With headers, less the share of publishers' memberships, of which there are as many as events."""
        share = len(self.owner) / len(self.overlay.population)
        return Traffic(*(round(share * cost) for cost in super().traffic(costs)))

    def fail(self, alive: NDArray[np.uint8], loss: float) -> None:
        """Take subscribers down with all their memberships, but no publisher."""
        super().fail(np.append(alive, np.ones(len(self.wanted.points), np.uint8)), loss)

    def publish(
        self,
        events: Integers,
        publishers: Integers,
        settings: CommunityGossip,
        salt: int,
        record: bool = False,
    ) -> Outcome:
        """Let each event go up from its publisher's own community."""
        of_events = np.zeros(len(self.wanted.points), np.int64)
        of_events[events] = publishers
        host = np.append(self.owner, of_events)
        truth = Truth(host, host, self.alive, self.matches)
        tables, starts = tables_of(self.overlay, settings), len(self.owner) + events
        return self.spread(tables, events, publishers, settings, salt, record, starts, truth=truth)


class Enclosing(DyadicTopics):
    """One enclosing topic a subscriber."""

    name = "enclosing topic"

    def memberships(self) -> tuple[Integers, Integers]:
        """One each."""
        return np.arange(self.wanted.n), enclosing(self.wanted.lows, self.wanted.highs, self.wanted.bits)


class Cover(DyadicTopics):
    """An exact cover by several topics."""

    name = "exact cover"

    def memberships(self) -> tuple[Integers, Integers]:
        """As many as the cover has cells."""
        found = cover(self.wanted.lows, self.wanted.highs, self.wanted.bits, MOST_MEMBERS)
        if found is None:
            raise Unable(_too_many(self.wanted))
        offsets, cells = found
        return np.repeat(np.arange(self.wanted.n), np.diff(offsets)), cells


def _too_many(wanted: Subscriptions) -> str:
    """How many memberships an exact cover would take, from the first subscribers."""
    some = cover(wanted.lows[:SAMPLE], wanted.highs[:SAMPLE], wanted.bits, 40 * MOST_MEMBERS)
    if some is None:
        each = f"more than {40 * MOST_MEMBERS // SAMPLE:,}"
    else:
        each = f"about {len(some[1]) // min(SAMPLE, wanted.n):,}"
    return f"not run: {each} topics a subscriber, more than {MOST_MEMBERS:,} memberships in all"


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
