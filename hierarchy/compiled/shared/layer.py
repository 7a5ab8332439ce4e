"""The layer that maintains CAMCAST's tables on the overlay of the rings, for a population.

CAMCAST, Section 3.2, on the links of Sub-2-Sub, Section 4. A topic is a range, so peers with the same range
are members of one community, and peers with the tightest enclosing range are members of the super-community.
`hierarchy.peers.tables` defines what a peer does in a cycle; this layer does the same, compiled. Neither
paper has it: in CAMCAST a membership service maintains topic tables, and peers maintain super-topic tables by
asking their entries (Figure 6); Sub-2-Sub has no tables. No peer knows the tree of topics: peers use only the
ranges in descriptors that they received.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.shared.points import Points
from hierarchy.compiled.shared.rules import TableState
from hierarchy.compiled.shared.steps import Feeds, Net, StepSettings, TableContents, keep_tables
from hierarchy.peers.settings import TableSettings
from hierarchy.peers.tables import GREETINGS, STEPS, STREAM
from sub2sub.compiled.common.feed import Feed
from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import FREE, LinkTable, view_links
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.ring.layer import Ring
from sub2sub.compiled.ring_views.growing import grow_tombstones
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import DESCRIPTOR, HEADER, RANGE
from sub2sub.peers.draws import cycle_key
from sub2sub.peers.verification import TOMBSTONES


class NestedTables(LayerBase):
    """The tables of a population.

    Parameters
    ----------
    topical : (n,) uint8
        1 for peers that subscribe to a topic; read in every cycle.
    cyclon, vicinity, points, ring
        The layers whose links feed this one; the engine steps them first.

    Attributes
    ----------
    equals, above : (n, equals), (n, z) int64
        Topic tables and super-topic tables: links (see `sub2sub.compiled.common.views`), packed to the left.
    """

    name = "tables"
    saved = ("topical", "equals", "above", "below", "since", "silent", "silent_at")

    def __init__(
        self,
        population: Population,
        topical: NDArray[np.uint8],
        cyclon: Cyclon,
        vicinity: Feed,
        points: Points,
        ring: Ring,
        settings: TableSettings | None = None,
        seed: int = 0,
    ) -> None:
        self.population, self.topical, self.seed = population, topical, seed
        self.settings = settings or TableSettings()
        self.feeding = cyclon, vicinity, points, ring
        n = len(population)
        self.equals = np.full((n, self.settings.equals), FREE)
        self.above = np.full((n, self.settings.z), FREE)
        self.below = np.full((n, self.settings.below), FREE)
        self.since = np.zeros(n, np.int64)
        self.silent = np.full((n, TOMBSTONES), -1, np.int32)
        self.silent_at = np.zeros((n, TOMBSTONES), np.int32)
        self._counts = np.zeros((n, 6), np.int64)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer maintain its tables."""
        given, population = self.settings, self.population
        settings = StepSettings(
            given.neighbours, cycle - given.max_age if given.max_age else 0,
            cycle - given.suspect_age if given.suspect_age else -1, given.patience, cycle,
        )  # fmt: skip
        cyclon, vicinity, points, ring = self.feeding
        feeds = Feeds(cyclon.view, vicinity.view, points.view, ring.pool)
        state = TableState(
            population.boxes, self.topical, self.equals, self.above, self.below, self.silent, self.silent_at,
            self.since,
        )  # fmt: skip
        net = Net(network.faults(), given.tries, cycle_key(self.seed, GREETINGS, cycle))
        rooms = given.equals, given.z, given.below
        own_copy, partner_copy = (
            TableContents(*(np.empty(room, np.int64) for room in rooms)) for _ in range(2)
        )
        self._counts[:], key = 0, cycle_key(self.seed, STREAM, cycle)
        scratch = own_copy, partner_copy, np.empty(STEPS, np.int64)
        keep_tables(state, feeds, settings, net, key, scratch, self._counts)
        messages, failed, _, _, asked, greeted = self._counts.sum(axis=0).tolist()
        size = int(self.spent()[1].sum())
        return {"messages": messages, "failed": failed, "bytes": size, "asked": asked, "greeted": greeted}

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle, by peer."""
        messages, _, same, other, _, _ = self._counts.T
        # A message has the range of its sender once, and the range of each peer with another range.
        own, known = DESCRIPTOR + RANGE * self.population.d, DESCRIPTOR
        return messages.copy(), (HEADER + own) * messages + known * same + own * other

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the tables of `peers`; the first entries come from the other layers."""
        for table in (self.equals, self.above, self.below):
            table[peers] = FREE
        self.silent[peers], self.since[peers] = -1, cycle

    def links(self) -> LinkTable:
        """All entries of all tables as (holders, peers, stamps)."""
        return view_links(np.concatenate([self.equals, self.above, self.below], axis=1))

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers; the overlay updates `topical`."""
        self.equals, self.above, self.below = (
            moved.links(table) for table in (self.equals, self.above, self.below)
        )
        self.since, self._counts = moved.rows(self.since, 0), moved.rows(self._counts, 0)
        self.silent, self.silent_at = grow_tombstones(self.silent, self.silent_at, moved)
