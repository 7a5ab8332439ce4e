"""Membership as a protocol: real tables, kept up by gossip (hpmcast, Sections 4.2 and 6.1.3).

Each participant has one table per level, with a timestamp on every line, and the layer steps all of them
once a cycle: heartbeats, newcomers, failure detection, condensation, gossip-pull. Every level is an array
of its own; what one cycle does at different levels touches different arrays, so levels are walked one
after the other.

Beyond the paper: tombstones, without which dead participants reappear in tables; a participant
that others hold to be a delegate of one's own branch is contacted if one does not (two newcomers may each
think themselves the first of a subsystem); and lines given up, and the contact of a
participant, are tried again now and then (`Upkeep.revisit`).
"""

from __future__ import annotations

from collections.abc import Mapping
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
    exchange_arrivals,
    to_meet,
)
from hierarchy.hpmcast.membership.joining import (
    HANDED,
    Walk,
    bury,
    first_contact,
    hand_over,
    next_contact,
    take_over,
)
from hierarchy.hpmcast.membership.tables import NEVER, Table, copy_line, electorate, empty_table
from hierarchy.hpmcast.population import Population
from hierarchy.hpmcast.settings import Condensation, Upkeep
from hierarchy.hpmcast.views import Knowledge
from sub2sub.geometry.boxes import Boxes
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import cycle_key, stream_number
from sub2sub.overlay.network import Network
from sub2sub.overlay.sizes import HEADER

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


class Membership:
    """The membership layer of a population.

    Parameters
    ----------
    population : Population
        Everybody who may ever take part; who does is up to the network and to `join`.
    condensation : Condensation
    upkeep : Upkeep
    interests : pair of (n, d) arrays, optional
        Half-open boxes, as in `exact_knowledge`.
    capacity : (n,) array_like, optional
    seed : int

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
        self.tables: list[Table] = [
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

    def make_exact(self, cycle: int = 0, alive: NDArray[np.uint8] | None = None) -> None:
        """Give everybody exact tables, as after a long time without change."""
        exact = self.exact(alive)
        for i, table in enumerate(self.tables):
            _write_exact(
                exact.tables[i], exact.bounds[i], self.population.slots(i + 1),
                self.population.branch_of[i + 1], cycle, table,
            )  # fmt: skip
        self.dirty[:] = 0

    def exact(self, alive: NDArray[np.uint8] | None = None) -> Knowledge:
        """The tables that everybody should have."""
        interests = (self.voters.own[:, 0], self.voters.own[:, 1])
        return exact_knowledge(
            self.population, self.condensation, interests, capacity=-self.voters.rank, alive=alive
        )

    def knowledge(self) -> Knowledge:
        """The tables that everybody has, for dissemination."""
        n = self.population.n
        bounds = [np.arange(n + 1, dtype=np.int64) * table.members.shape[1] for table in self.tables]
        row = np.tile(np.arange(n, dtype=np.int32), (len(self.tables), 1))
        return Knowledge(self.tables, bounds, row, self.compared)

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All entries of all views as (holders, peers, stamps of their lines)."""
        parts = []
        for table in self.tables:
            held = (table.members > 0)[:, :, None] & (table.delegates >= 0)
            holders, slots, _ = np.nonzero(held)
            parts.append((holders, table.delegates[held].astype(np.int64), table.stamp[holders, slots]))
        holders, peers, stamps = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return holders, peers, stamps.astype(np.int64)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let everybody renew its lines and gossip once."""
        costs = Costs.none(self.population.n)
        key = cycle_key(self.seed, STREAM, cycle)
        heartbeat(self.tables[0], self.slot[0], self.voters.own, cycle, network.alive, self.dirty[0])
        self._renew(cycle, network)
        if (self.contact >= 0).any():
            self._join(cycle, network, costs)
        width = self.upkeep.fanout + 1
        first = 2 * width + 1  # twice that: the draws before serve partners and their messages
        for i, limit in enumerate(self.upkeep.limits(len(self.tables))):
            give_up(
                self.tables[i], self.slot[i], cycle, limit, self.upkeep.tries if i == 0 else 0, first, key,
                network.faults(), self.dirty[i], costs,
            )  # fmt: skip
        self._renew(cycle, network)
        self._gossip(key, network, costs)
        self._costs = Costs(*(own + carried for own, carried in zip(costs, self._carried, strict=True)))
        self._carried = Costs.none(self.population.n)
        return _report(costs)

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle and of what events carried along before, by participant."""
        return self._costs.messages, HEADER * self._costs.messages + self._costs.payload

    def _renew(self, cycle: int, network: Network) -> None:
        for i in range(1, len(self.tables)):
            renew(
                self.tables[i - 1], self.compared[i - 1], self.tables[i], self.slot[i], self.compared[i],
                self.voters, cycle, network.alive, self.dirty[i - 1], self.dirty[i],
            )  # fmt: skip

    def _join(self, cycle: int, network: Network, costs: Costs) -> None:
        branch, faults, n = self.population.branch_of, network.faults(), len(self.contact)
        levels, redundancy = len(self.tables), self.condensation.redundancy
        fates = np.zeros((2, n), np.uint8)
        walk = Walk(self.contact.copy(), fates[0], fates[1], cycle_key(self.seed, JOINING, cycle))
        first_contact(walk, faults, costs)
        for i in range(levels - 1, 0, -1):
            next_contact(i + 1, self.tables[i], self.slot[i], branch, walk, faults, costs)
        hand_over(1 + (levels - 1) * redundancy, walk, faults, costs)
        for i, table in enumerate(self.tables):
            take_over(i + 1, table, self.slot[i], branch, walk, self.dirty[i], costs)
        self.contact[walk.handed == HANDED] = -1

    def _gossip(self, key: np.uint64, network: Network, costs: Costs) -> None:
        levels, branch = len(self.tables), self.population.branch_of
        n = self.population.n
        partners = np.full((n, self.upkeep.fanout + 1), -1, np.int32)
        partners[:, -1] = np.where(network.alive == 1, self.meet, -1)
        active = network.alive & (1 - self.busy)
        for i, table in enumerate(self.tables):
            choose_partners(table, i + 1, levels, key, active, self.upkeep.revisit, self.sponsor, partners)
        fate = np.empty(partners.shape, np.uint8)
        deliver(partners, self.upkeep.bidirectional, key, network.faults(), fate, costs)
        named = np.full((n, 2), -1, np.int32)
        for i, table in enumerate(self.tables):
            exchange_all(i + 1, table, self.slot[i], branch, partners, fate, named, self.dirty[i], costs)
        to_meet(self.tables[0], self.slot[0], branch, named, self.upkeep.timeout[0], self.meet)
        self.busy[:] = 0

    def piggyback(self, arrivals: NDArray[np.int32], cycle: int, network: Network) -> Mapping[str, int]:
        """Let event messages that arrived carry timestamps along; only the answers are messages more.

        A participant that sent an event sends no dedicated gossip in the next step.

        Parameters
        ----------
        arrivals : (m, 2) int32
            `Multicast.arrivals`.
        cycle : int
            The cycle in which they arrived.
        network : Network
            Answers may be lost in it.
        """
        costs, branch = Costs.none(self.population.n), self.population.branch_of
        fate = np.zeros(len(arrivals), np.uint8)
        answer_arrivals(arrivals, cycle_key(self.seed, ANSWERS, cycle), network.faults(), fate, costs)
        named = np.full((self.population.n, 2), -1, np.int32)
        for i, table in enumerate(self.tables):
            exchange_arrivals(i + 1, table, self.slot[i], branch, arrivals, fate, named, self.dirty[i], costs)
        before = self.meet.copy()
        to_meet(self.tables[0], self.slot[0], branch, named, self.upkeep.timeout[0], self.meet)
        self.meet[:] = np.where(
            self.meet >= 0, self.meet, before
        )  # those that gossip named are still to be met
        self.busy[arrivals[:, 0]] = 1
        self._carried = Costs(*(one + more for one, more in zip(costs, self._carried, strict=True)))
        return _report(costs)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start `peers` afresh, each knowing one contact; they walk to their neighbours in the next step."""
        for table in self.tables:
            table.stamp[peers], table.members[peers], table.delegates[peers] = NEVER, 0, -1
        self.contact[peers] = contacts
        self.sponsor[peers] = contacts
        self.meet[peers] = -1
        self.dirty[:, peers] = 1

    def leave(self, peers: NDArray[np.int64], cycle: int, network: Network) -> Mapping[str, int]:
        """Let `peers` say goodbye to some neighbours before `cycle` is stepped; then take them down."""
        costs = Costs.none(self.population.n)
        bury(
            self.tables[0], self.slot[0], cycle, peers, self.upkeep.fanout,
            cycle_key(self.seed, LEAVING, cycle), network.faults(), self.dirty[0], costs,
        )  # fmt: skip
        return _report(costs)

    def resubscribe(self, peers: NDArray[np.int64], interests: Boxes) -> None:
        """Change the interests of `peers`; their next heartbeat carries them."""
        self.voters.own[peers, 0], self.voters.own[peers, 1] = interests

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        state: dict[str, NDArray[Any]] = {
            "contact": self.contact,
            "sponsor": self.sponsor,
            "meet": self.meet,
            "busy": self.busy,
            "dirty": self.dirty,
            "own": self.voters.own,
        }
        for i, table in enumerate(self.tables):
            state |= {f"{field}{i + 1}": array for field, array in table._asdict().items()}
        return state

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
