"""rfpbcast, pmcast and hpmcast: gossip round after round, through a hierarchy of addresses (hpmcast).

Each participant gossips an event for the expected number of rounds to F random entries of its views, those
that the entries' known interests let pass. hpmcast keeps one table per level of a hierarchy of three levels,
a few delegates and a condensed interest for each subsystem; pmcast is the same with one level, so everybody
knows everybody and what each wants; rfpbcast knows everybody and asks nobody what it wants.

Tables are kept by gossip-pull from the first contact on and billed. Addresses are random: nobody's address
says what it wants. The number of rounds is Pittel's for the interested share that a participant sees in its
own view, with `c` rounds more; it allows for no loss and no crashes, since nobody can know them beforehand.
Hops are rounds, in which a participant may well have been silent.

Flat tables hold a line for everybody at everybody, n^2 in all. Where these exceed `MOST_LINES`, pmcast and
rfpbcast publish on the views that their paper assumes, everybody's whole knowledge; upkeep is not run then.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import (
    AddressSpace,
    Condensation,
    Gossip,
    Knowledge,
    Membership,
    Population,
    disseminate,
    exact_knowledge,
)
from sims.compare.systems.knowledge import shared_rows
from sims.compare.systems.system import Knob, System, Traffic
from sims.compare.tally import Tally, enter, new_desk
from sims.compare.worlds.world import World
from sub2sub.geometry.boxes import normalise
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.network import Network

__all__ = ["Hpmcast", "Pmcast", "Rfpbcast"]

ADDRESSES, CONTACTS = stream_number("compare/addresses"), stream_number("compare/hpmcast contacts")
MOST_LINES = 1_000_000  # of flat tables: 1,000 participants


class Hpmcast(System):
    """A hierarchy of three levels.

    Attributes
    ----------
    row : (n,) int64
        The subscriber at each place in the order of addresses.
    """

    name = "hpmcast"
    knobs = tuple(Knob(F=f, c=c) for f, c in ((2, 3), (3, 3), (4, 6), (8, 6)))
    levels = 3
    filters = True

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        n = world.n
        space = AddressSpace((ceil(round(n ** (1 / self.levels), 9)),) * self.levels)
        marks = draws(cycle_key(seed, ADDRESSES, 0), np.arange(space.capacity))
        addresses = np.sort(np.argsort(marks, kind="stable")[:n])
        self.population = Population.at(space, addresses)
        self.row = np.argsort(draws(cycle_key(seed, ADDRESSES, 1), np.arange(n)), kind="stable")
        self.place = np.empty(n, np.int64)
        self.place[self.row] = np.arange(n)
        self.network = Network.whole(n)
        low, high = normalise(world.lows, world.highs)
        self.interests = (low[self.row], high[self.row]) if self.filters else None
        self.condensation = Condensation(redundancy=3 if self.levels > 1 else 1)
        self.known: Knowledge | None = None
        self.hits: dict[int, NDArray[np.uint8]] = {}
        if self.levels == 1 and n * n > MOST_LINES:
            self.static = f"not run: {n:,}² lines of tables, more than {MOST_LINES:,}"
            self.known = exact_knowledge(self.population, self.condensation, self.interests)
            return
        self.membership = Membership(self.population, self.condensation, interests=self.interests, seed=seed)
        chosen = draws(cycle_key(seed, CONTACTS, 0), np.arange(n)) % np.maximum(np.arange(n), 1).astype(
            np.uint64
        )
        self.membership.join(np.arange(n), np.where(np.arange(n) > 0, chosen.astype(np.int64), -1), 0)

    def step(self, cycle: int) -> Traffic:
        """One cycle of gossip-pull."""
        self._forget()
        cost = self.membership.step(cycle, self.network)
        return Traffic(cost["messages"], cost["bytes"])

    def links(self) -> dict[str, NDArray[np.int64]]:
        """Entries of the views, oneself left out, by level."""
        views = self._knowledge().views()
        sizes = np.diff(views.start)[views.row] - (views.position >= 0)
        return {f"level {i + 1}": size[self.place].astype(np.int64) for i, size in enumerate(sizes)}

    def members(self, alive: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """In the order of addresses."""
        up: NDArray[np.uint8] = alive[self.row]
        return up

    def publish(
        self, events: NDArray[np.int64], publishers: NDArray[np.int64], knob: Knob, salt: int
    ) -> Tally:
        """Gossip each event from its publisher, level by level."""
        world = self.world
        views = self._knowledge().views()
        gossip = Gossip(fanout=knob["F"], constant=float(knob["c"]))
        tally, desk = Tally.empty(len(events), world.n), new_desk(self.row)
        alive = self.network.alive[self.place]
        for k, (event, publisher) in enumerate(zip(events.tolist(), publishers.tolist(), strict=True)):
            outcome = disseminate(
                views, self._passed(event), int(self.place[publisher]),
                gossip, network=self.network, seed=self.seed, event=salt * len(world.points) + event,
            )  # fmt: skip
            enter(
                tally, world.matches, k, event, publisher, alive, outcome.round, outcome.sent,
                outcome.received, desk,
            )  # fmt: skip
        return tally

    def _forget(self) -> None:
        self.known, self.hits = None, {}

    def _knowledge(self) -> Knowledge:
        if self.known is None:
            self.known = shared_rows(self.membership.knowledge())
        return self.known

    def _passed(self, event: int) -> NDArray[np.uint8]:
        """Which lines an event passes, matched once for all cells."""
        if event not in self.hits:
            point = self.world.points[event] if self.filters else []
            self.hits[event] = self._knowledge().match(point)
        return self.hits[event]


class Pmcast(Hpmcast):
    """Everybody knows everybody, and what each wants."""

    name = "pmcast"
    levels = 1
    knobs = tuple(Knob(F=f, c=c) for f, c in ((8, 3), (32, 3), (32, 10), (32, 40)))


class Rfpbcast(Hpmcast):
    """Everybody knows everybody, and nothing of what they want."""

    name = "rfpbcast"
    levels = 1
    filters = False
    knobs = tuple(Knob(F=f, c=c) for f, c in ((2, -2), (2, -1), (2, 0), (2, 2), (3, 3)))
