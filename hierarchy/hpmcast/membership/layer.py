"""The membership protocol: tables maintained by gossip (hpmcast, Sections 4.2 and 6.1.3).

Each participant has one table per level, with a timestamp on every line, and the layer steps all of them
once a cycle: heartbeats, newcomers, failure detection, condensation, gossip-pull. Every level has its own
arrays, so the phases of a cycle run level by level.

Beyond the paper: tombstones, without which crashed participants reappear in tables; a participant contacts a
delegate of its own branch that it does not know but others do (two newcomers may each assume that they are
the first of a subsystem); removed participants, and the one through which a participant joined, are sometimes
contacted again (`Upkeep.revisit`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.membership.detection import give_up, heartbeat, renew
from hierarchy.hpmcast.membership.exact import exact_knowledge
from hierarchy.hpmcast.membership.gossip_pull import (
    Costs,
    answer_arrivals,
    choose_partners,
    deliver,
    exchange_all,
    to_meet,
)
from hierarchy.hpmcast.membership.joining import (
    HANDED,
    NewcomerWalks,
    announce_leaves,
    first_contact,
    hand_over,
    next_contact,
    take_over,
)
from hierarchy.hpmcast.membership.tables import (
    NO_STAMP,
    Level,
    LineTables,
    copy_line,
    electorate,
    empty_table,
)
from hierarchy.hpmcast.population import Population
from hierarchy.hpmcast.settings import Condensation, Upkeep
from hierarchy.hpmcast.views import Knowledge
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import LinkTable
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.geometry.boxes import Boxes
from sub2sub.peers.descriptors import HEADER
from sub2sub.peers.draws import cycle_key, stream_number

STREAM, JOINING, LEAVING, ANSWERS = (
    stream_number(f"hpmcast-{name}") for name in ("membership", "joining", "leaving", "answers")
)
CONDENSATION, UPKEEP = Condensation(), Upkeep()


@kernel
def _write_exact(exact, bounds, slots, branch, cycle, table):
    row = np.int64(0)
    for x in range(branch.shape[0]):
        for c in range(bounds[branch[x]], bounds[branch[x] + 1]):
            copy_line(exact, row, c, table, x, np.int64(slots[c]))
            table.stamp[x, slots[c]] = cycle


def _report(costs: Costs) -> dict[str, int]:
    messages, payload, failed, lines = (int(cost.sum()) for cost in costs)
    return {"messages": messages, "failed": failed, "lines": lines, "bytes": HEADER * messages + payload}


class Membership(LayerBase):
    """The membership layer of a population.

    Parameters
    ----------
    population : Population
        All current and future participants; the network and `join` determine those that take part.
    interests : pair of (n, d) arrays, optional
        Half-open boxes, as in `exact_knowledge`.

    Attributes
    ----------
    tables : list of Table
        Level 1 first, one row per participant.

    Examples
    --------
    >>> layer, net = Membership(Population.regular(a=5, levels=2)), Network.whole(25)
    >>> layer.make_exact()
    >>> net.alive[7] = 0
    >>> costs = [layer.step(cycle, net) for cycle in range(1, 40)]
    >>> layer.tables[1].delegates[0, 1].tolist(), int(layer.tables[1].members[0, 1])
    ([5, 6, 8], 4)
    """

    name = "hpmcast"
    saved = ("contact", "sponsor", "meet", "busy", "dirty")

    def __init__(
        self,
        population: Population,
        condensation: Condensation = CONDENSATION,
        upkeep: Upkeep = UPKEEP,
        interests: Boxes | None = None,
        capacity: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        self.population, self.condensation, self.upkeep, self.seed = population, condensation, upkeep, seed
        self.voters = electorate(population.n, interests, capacity, condensation.by_coverage)
        n, levels, attributes = population.n, population.levels, self.voters.own.shape[2]
        self.compared = condensation.mask(levels, attributes)
        self.tables: list[LineTables] = [
            empty_table(n, population.space.size(i), condensation.redundancy, most, attributes)
            for i, most in enumerate(condensation.most(levels))
        ]
        self.slot = np.stack([population.slots(i + 1)[population.branch_of[i]] for i in range(levels)])
        self.contact = np.full(n, -1, np.int32)
        self.sponsor = np.full(n, -1, np.int32)
        self.meet = np.full(n, -1, np.int32)
        self.busy = np.zeros(n, np.uint8)
        self.dirty = np.ones((levels, n), np.uint8)
        self._costs, self._carried = Costs.none(n), Costs.none(n)
        self._levels = [
            Level(i + 1, table, self.slot[i], population.branch_of, self.dirty[i], self.compared[i])
            for i, table in enumerate(self.tables)
        ]

    def make_exact(self, cycle: int = 0, alive: NDArray[np.uint8] | None = None) -> None:
        """Set all tables to the exact ones, as after a long time without changes."""
        exact = self.exact(alive)
        for i, table in enumerate(self.tables):
            _write_exact(
                exact.tables[i], exact.bounds[i], self.population.slots(i + 1),
                self.population.branch_of[i + 1], cycle, table,
            )  # fmt: skip
        self.dirty[:] = 0

    def exact(self, alive: NDArray[np.uint8] | None = None) -> Knowledge:
        """The exact tables."""
        interests = (self.voters.own[:, 0], self.voters.own[:, 1])
        return exact_knowledge(
            self.population, self.condensation, interests, capacity=-self.voters.rank, alive=alive
        )

    def knowledge(self) -> Knowledge:
        """The current tables of all participants, for dissemination."""
        n = self.population.n
        bounds = [np.arange(n + 1, dtype=np.int64) * table.members.shape[1] for table in self.tables]
        row = np.tile(np.arange(n, dtype=np.int32), (len(self.tables), 1))
        return Knowledge(self.tables, bounds, row, self.compared)

    def links(self) -> LinkTable:
        """All entries of all views as (holders, peers, stamps of their lines)."""
        parts = []
        for table in self.tables:
            held = (table.members > 0)[:, :, None] & (table.delegates >= 0)
            holders, slots, _ = np.nonzero(held)
            parts.append((holders, table.delegates[held].astype(np.int64), table.stamp[holders, slots]))
        holders, peers, stamps = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return holders, peers, stamps.astype(np.int64)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let all participants renew their lines and gossip once."""
        costs = Costs.none(self.population.n)
        key = cycle_key(self.seed, STREAM, cycle)
        heartbeat(self._levels[0], self.voters.own, cycle, network.alive)
        self._renew(cycle, network)
        if (self.contact >= 0).any():
            self._join(cycle, network, costs)
        width = self.upkeep.fanout + 1
        first = 2 * width + 1  # draws below 2 * first are for partners and their messages
        for level, limit in zip(self._levels, self.upkeep.limits(len(self.tables)), strict=True):
            tries = self.upkeep.tries if level.number == 1 else 0
            give_up(level, cycle, limit, tries, first, key, network.faults(), costs)
        self._renew(cycle, network)
        self._gossip(key, network, costs)
        self._costs = Costs(*(own + carried for own, carried in zip(costs, self._carried, strict=True)))
        self._carried = Costs.none(self.population.n)
        return _report(costs)

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle and of piggybacked exchanges before it, by participant."""
        return self._costs.messages, HEADER * self._costs.messages + self._costs.payload

    def _renew(self, cycle: int, network: Network) -> None:
        for level, above in pairwise(self._levels):
            renew(level, above, self.voters, cycle, network.alive)

    def _join(self, cycle: int, network: Network, costs: Costs) -> None:
        faults, fates = network.faults(), np.zeros((2, len(self.contact)), np.uint8)
        walk = NewcomerWalks(self.contact.copy(), fates[0], fates[1], cycle_key(self.seed, JOINING, cycle))
        first_contact(walk, faults, costs)
        for level in self._levels[:0:-1]:
            next_contact(level, walk, faults, costs)
        hand_over(1 + (len(self.tables) - 1) * self.condensation.redundancy, walk, faults, costs)
        for level in self._levels:
            take_over(level, walk, costs)
        self.contact[walk.handed == HANDED] = -1

    def _gossip(self, key: np.uint64, network: Network, costs: Costs) -> None:
        n, levels = self.population.n, len(self.tables)
        partners = np.full((n, self.upkeep.fanout + 1), -1, np.int32)
        partners[:, -1] = np.where(network.alive == 1, self.meet, -1)
        active = network.alive & (1 - self.busy)
        for level in self._levels:
            choose_partners(level, levels, key, active, self.upkeep.revisit, self.sponsor, partners)
        fate = np.empty(partners.shape, np.uint8)
        deliver(partners, self.upkeep.bidirectional, key, network.faults(), fate, costs)
        x, k = np.nonzero(partners >= 0)
        gossips = np.stack([x.astype(np.int32), partners[x, k]], axis=1)
        named = np.full((n, 2), -1, np.int32)
        for level in self._levels:
            exchange_all(level, gossips, fate[x, k], named, costs)
        to_meet(self._levels[0], named, self.upkeep.timeout[0], self.meet)
        self.busy[:] = 0

    def piggyback(self, arrivals: NDArray[np.int32], cycle: int, network: Network) -> Mapping[str, int]:
        """Piggyback timestamps on event messages that arrived; only the answers are additional messages.

        A participant that sent an event sends no dedicated gossip in the next step. `arrivals` are those of
        `Multicast`, and `cycle` is the cycle in which they arrived.
        """
        costs = Costs.none(self.population.n)
        fate = np.zeros(len(arrivals), np.uint8)
        answer_arrivals(arrivals, cycle_key(self.seed, ANSWERS, cycle), network.faults(), fate, costs)
        named = np.full((self.population.n, 2), -1, np.int32)
        for level in self._levels:
            exchange_all(level, arrivals, fate, named, costs)
        before = self.meet.copy()
        to_meet(self._levels[0], named, self.upkeep.timeout[0], self.meet)
        # Participants named in gossip before are still to be contacted.
        self.meet[:] = np.where(self.meet >= 0, self.meet, before)
        self.busy[arrivals[:, 0]] = 1
        self._carried = Costs(*(one + more for one, more in zip(costs, self._carried, strict=True)))
        return _report(costs)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start `peers` with empty tables and one contact each; the next step finds their neighbours."""
        for table in self.tables:
            table.stamp[peers], table.members[peers], table.delegates[peers] = NO_STAMP, 0, -1
        self.contact[peers] = contacts
        self.sponsor[peers] = contacts
        self.meet[peers] = -1
        self.dirty[:, peers] = 1

    def leave(self, peers: NDArray[np.int64], cycle: int, network: Network) -> Mapping[str, int]:
        """Let `peers` announce to some neighbours that they leave, before the step of `cycle`."""
        costs = Costs.none(self.population.n)
        key = cycle_key(self.seed, LEAVING, cycle)
        announce_leaves(self._levels[0], cycle, peers, self.upkeep.fanout, key, network.faults(), costs)
        return _report(costs)

    def resubscribe(self, peers: NDArray[np.int64], interests: Boxes) -> None:
        """Change the interests of `peers`; they are sent with their next heartbeats."""
        self.voters.own[peers, 0], self.voters.own[peers, 1] = interests

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        state = {**super().arrays(), "own": self.voters.own}
        for i, table in enumerate(self.tables):
            state |= {f"{field}{i + 1}": array for field, array in table._asdict().items()}
        return state

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
