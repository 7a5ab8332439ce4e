"""rfpbcast, pmcast and hpmcast: gossip round after round, through a hierarchy of addresses (hpmcast).

Each participant gossips an event for the expected number of rounds to F random entries of its views, those
that the entries' known interests let pass. hpmcast keeps one table per level of a hierarchy of several
levels, a few delegates and a condensed interest for each subsystem; pmcast is the same with one level, so
everybody knows everybody and what each wants; rfpbcast knows everybody and asks nobody what it wants.

In a run addresses are spread evenly, and an event is published by a random live participant, interested or
not, as in the paper's simulations. In comparisons addresses are random: nobody's address says what it wants.

Tables are kept by gossip-pull from the first contact on and billed. The number of rounds is Pittel's for the
interested share that a participant sees in its own view, with `c` rounds more; compared, it allows for no
loss and no crashes, since nobody can know them beforehand. Hops are rounds, in which a participant may well
have been silent.

Flat tables hold a line for everybody at everybody, n^2 in all. Where these exceed `MOST_LINES`, pmcast and
rfpbcast are compared on the views that their paper assumes, everybody's whole knowledge; upkeep is not run
then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import (
    AddressSpace,
    Condensation,
    Gossip,
    Hierarchy,
    Knowledge,
    Membership,
    Reading,
    Upkeep,
    disseminate,
    exact_knowledge,
)
from hierarchy.hpmcast import Population as Participants
from hierarchy.hpmcast.membership.audit import audit
from sims.config.entries import Kinds
from sims.config.subscriptions import Subscriptions
from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sims.observers import Connectivity, Degrees, LinkAges
from sims.observers.deliveries import Deliveries
from sims.systems.interface import Integers, Knob, System, Traffic
from sims.systems.knowledge import shared_rows
from sims.systems.ledger import Ledger
from sub2sub.errors import InputError
from sub2sub.events.outcome import Outcome
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.population import DORMANT, Population
from sub2sub.overlay.sizes import LINK, NAME, RANGE
from sub2sub.overlay.stack import Stack

ADDRESSES, CONTACTS, CARRIERS = (
    stream_number(f"compare/{name}") for name in ("addresses", "hpmcast contacts", "hpmcast carriers")
)
REDUNDANCY = 3  # R: delegates of a subsystem, as compared
MOST_LINES = 1_000_000  # of flat tables: 1,000 participants


@dataclass(frozen=True)
class FlatSettings:
    """Settings of tables with one level.

    Attributes
    ----------
    settled : bool
        Whether everybody starts with the tables it should have, instead of knowing one other participant.
    upkeep : Upkeep
        How tables are kept.
    """

    settled: bool = False
    upkeep: Upkeep = field(default_factory=Upkeep)


@dataclass(frozen=True)
class HierarchySettings:
    """Settings of the hierarchy.

    Attributes
    ----------
    sizes : tuple of int
        Values of each component of an address, a(l-1) first; 22 x 22 x 22 is the paper's.
    settled : bool
        Whether everybody starts with the tables it should have, instead of knowing one other participant.
    condensation : Condensation
        How interests are condensed on the way up.
    upkeep : Upkeep
        How tables are kept.
    """

    sizes: tuple[int, ...] = (22, 22, 22)
    settled: bool = False
    condensation: Condensation = field(default_factory=Condensation)
    upkeep: Upkeep = field(default_factory=Upkeep)

    def __post_init__(self) -> None:
        AddressSpace(self.sizes)


class Views:
    """How right the views of the living are."""

    name = "views"

    def execute(self, simulation: Simulation[Hierarchy]) -> Row:
        """Compare with the views they should have."""
        layer, alive = simulation.overlay.membership, simulation.overlay.network.alive
        found = audit(layer.knowledge().views(), layer.exact(alive).views(), alive)
        levels = {f"right_{level}": float(share) for level, share in enumerate(found.right, 1)}
        return {"whole": found.whole, **levels, "dead": found.dead, "missing": found.missing}


class Addressed(Hierarchy):
    """A hierarchy that may begin with exact tables, and whose participants may keep their interests."""

    settled, filters, contacts = False, True, 0

    def keep_interests(self) -> None:
        """Let nobody tell what it wants: rfpbcast."""
        old = self.membership
        self.filters = False
        self.membership = Membership(old.population, old.condensation, old.upkeep, seed=self.seed)

    def bootstrap(self, cycle: int = 0) -> None:
        """Start everybody, from a contact each or with exact tables."""
        if self.settled:
            self.membership.make_exact(cycle, self.network.alive)
        elif not self.contacts:
            super().bootstrap(cycle)
        else:
            n = np.arange(len(self.population))
            chosen = draws(cycle_key(self.seed, self.contacts, 0), n) % np.maximum(n, 1).astype(np.uint64)
            self.join(n, np.where(n > 0, chosen.astype(np.int64), -1), cycle)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let peers (re)start from a contact each."""
        if self.filters:
            super().join(peers, contacts, cycle)
        else:
            self.network.alive[peers] = 1
            self.membership.join(peers, contacts, cycle)


class Hpmcast(System):
    """A hierarchy of three levels."""

    name = "hpmcast"
    layers: ClassVar[type] = HierarchySettings
    dissemination = Gossip
    layer_names = ("hpmcast",)
    observers: ClassVar[Kinds] = {
        "delivery": Deliveries,
        "views": Views,
        "degrees": Degrees,
        "ages": LinkAges,
        "connectivity": Connectivity,
    }
    usual = ({"kind": "views", "every": 5}, {"kind": "delivery", "at": "end"})
    probe = Knob(F=4, c=6)
    knobs = (
        *(Knob(F=f, c=c) for f, c in ((2, 3), (3, 3), (4, 3), (4, 6), (8, 6))),
        *(Knob(F=2, c=c, D=d) for c, d in ((0, 6), (2, 6), (3, 6), (3, 12))),
        *(Knob(F=2, c=c, retries=2) for c in (0, 3)),
        Knob(F=2, c=0, D=6, retries=2),
    )
    levels = 3
    filters = True
    overlay: Addressed | Stack  # without layers where the overlay is static

    def __init__(self, wanted: Subscriptions, seed: int, layers: Any = None, spare: int = 0) -> None:
        self._known: Knowledge | None = None
        self._hits: dict[int, NDArray[np.uint8]] = {}
        super().__init__(wanted, seed, layers, spare)

    @classmethod
    def at(cls, knob: Knob) -> Gossip:
        """F, c and D, and no allowance for loss or crashes."""
        given = knob.settings
        return Gossip(
            given["F"], float(given["c"]), audience=given.get("D", 0), retries=given.get("retries", 0)
        )

    def build(self, layers: HierarchySettings | FlatSettings | None, spare: int) -> Addressed | Stack:
        """Participants at addresses."""
        if layers is None:
            return self._compared()
        sizes = layers.sizes if isinstance(layers, HierarchySettings) else (self.wanted.n + spare,)
        condensation = layers.condensation if isinstance(layers, HierarchySettings) else None
        space = AddressSpace(sizes)
        overlay = Addressed(
            addressed(self.wanted, spare, space), space, condensation or Condensation(redundancy=1),
            layers.upkeep, seed=self.seed,
        )  # fmt: skip
        overlay.settled = layers.settled
        if not self.filters:
            overlay.keep_interests()
        return overlay

    def _compared(self) -> Addressed | Stack:
        n = self.wanted.n
        space = AddressSpace((ceil(round(n ** (1 / self.levels), 9)),) * self.levels)
        marks = draws(cycle_key(self.seed, ADDRESSES, 0), np.arange(space.capacity))
        addresses = np.sort(np.argsort(marks, kind="stable")[:n])
        row = np.argsort(draws(cycle_key(self.seed, ADDRESSES, 1), np.arange(n)), kind="stable")
        population = Population.of(self.wanted.lows[row], self.wanted.highs[row], ids=addresses, hosts=row)
        condensation = Condensation(redundancy=REDUNDANCY if self.levels > 1 else 1)
        if self.levels == 1 and n * n > MOST_LINES:
            self.static = f"not run: {n:,}² lines of tables, more than {MOST_LINES:,}"
            boxes = population.boxes[:, 0, : population.d], population.boxes[:, 1, : population.d]
            self._known = exact_knowledge(
                Participants.at(space, addresses), condensation, boxes if self.filters else None
            )
            return Stack(population, (), self.seed)
        overlay = Addressed(population, space, condensation, seed=self.seed)
        overlay.contacts = CONTACTS
        if not self.filters:
            overlay.keep_interests()
        return overlay

    def entry_bytes(self, kind: str) -> int:
        """An address and, where events are filtered, what it wants: one box, condensed or not."""
        return LINK + NAME + (RANGE * self.wanted.d if self.filters else 0)

    def links(self) -> dict[str, Integers]:
        """Entries of the views, oneself left out, by level."""
        views = self._knowledge().views()
        sizes = np.diff(views.start)[views.row] - (views.position >= 0)
        return {f"level {i + 1}": size[self.peer_of].astype(np.int64) for i, size in enumerate(sizes)}

    def forget(self) -> None:
        """Work out anew what participants know, unless they know all there is."""
        if not self.static:
            self._known, self._hits = None, {}

    def publish(
        self, events: Integers, publishers: Integers, settings: Gossip, salt: int, record: bool = False
    ) -> Outcome:
        """Gossip each event from its publisher, level by level."""
        first = salt * len(self.wanted.points)
        keys = [(self.seed, first + event) for event in events.tolist()]
        return self._gossip(events, publishers, settings, keys, record)

    def publish_tests(
        self, simulation: Simulation, settings: Gossip, record: bool = False
    ) -> tuple[Integers, Outcome]:
        """Publish each event from a random live participant."""
        self.forget()
        publishers = self.draw_publishers(simulation)
        events = np.flatnonzero(publishers >= 0)
        bits = draws(simulation.key("delivery"), events)
        keys = [(int(own >> np.uint64(2)), event) for own, event in zip(bits, events.tolist(), strict=True)]
        return events, self._gossip(events, publishers[events], settings, keys, record)

    def may_publish(self, event: int) -> Integers:
        """All that live."""
        return np.flatnonzero(self.network.alive)

    def _gossip(
        self,
        events: Integers,
        publishers: Integers,
        settings: Gossip,
        keys: Sequence[tuple[int, int]],
        record: bool,
    ) -> Outcome:
        """Publish events with these seeds and numbers for their draws."""
        views, ledger = self._knowledge().views(), Ledger(self, events, publishers, record)
        published = zip(events.tolist(), publishers.tolist(), keys, strict=True)
        for k, (event, publisher, (seed, number)) in enumerate(published):
            trace = disseminate(
                views, self._passed(event), publisher, settings, network=self.network, seed=seed,
                event=number, places=self.places,
            ).trace  # fmt: skip
            ledger.enter(k, trace.first, trace.sent, trace.received, trace.when)
        return ledger.outcome(settings.retries > 0)

    def _knowledge(self) -> Knowledge:
        if self._known is None:
            assert isinstance(self.overlay, Addressed)
            self._known = shared_rows(self.overlay.membership.knowledge())
        return self._known

    def _passed(self, event: int) -> NDArray[np.uint8]:
        """Which lines an event passes, matched once for all publications of it."""
        if event not in self._hits:
            self._hits[event] = self._knowledge().match(self.wanted.points[event] if self.filters else [])
        return self._hits[event]


class PrintedHpmcast(Hpmcast):
    """Rounds as line 27 of Figure 6 is printed: R times as many participants at the lowest level."""

    name = "hpmcast as printed"
    knobs = (
        *(Knob(F=f, c=c) for f, c in ((2, -2), (2, -1), (2, 0), (2, 1), (2, 3), (3, 3), (4, 3))),
        *(Knob(F=2, c=c, D=6) for c in (-2, 0, 1)),
        *(Knob(F=2, c=c, retries=2) for c in (-3, -2)),
    )
    probe = Knob(F=2, c=3)

    @classmethod
    def at(cls, knob: Knob) -> Gossip:
        """The same with the lines as printed."""
        return replace(super().at(knob), reading=Reading.LINE_27, redundancy=REDUNDANCY)


class PiggybackedHpmcast(PrintedHpmcast):
    """The same where events carry tables along (Section 4.2): one event a cycle, from a random participant.

    A participant that sends an event sends no other gossip in that cycle; one that receives an event answers
    it as it would answer gossip. The answers and what is carried along are billed as upkeep, the events are
    not.
    """

    name = "hpmcast, piggybacked"
    knobs = (*(Knob(F=2, c=c) for c in (-1, 0, 1)), Knob(F=2, c=-2, retries=2))

    def step(self, cycle: int) -> Traffic:
        """Publish an event that carries tables, then step."""
        assert isinstance(self.overlay, Addressed)
        self.forget()
        live, event = np.flatnonzero(self.network.alive), cycle % len(self.wanted.points)
        bits = int(draws(cycle_key(self.seed, CARRIERS, cycle), np.zeros(1, np.int64))[0])
        arrivals = disseminate(
            self._knowledge().views(), self._passed(event), int(live[bits % live.size]), self.at(self.probe),
            network=self.network, seed=self.seed, event=cycle, record=True, places=self.places,
        ).arrivals  # fmt: skip
        carried = self.overlay.membership.piggyback(arrivals, cycle, self.network)
        own = super().step(cycle)
        return Traffic(own.messages + carried["messages"], own.bytes + carried["bytes"])


class Pmcast(Hpmcast):
    """Everybody knows everybody, and what each wants."""

    name = "pmcast"
    layers = FlatSettings
    levels = 1
    probe = Knob(F=32, c=10)
    knobs = (
        *(Knob(F=f, c=c) for f, c in ((4, 3), (8, 3), (32, 3), (32, 10), (32, 20))),
        *(Knob(F=2, c=c, D=d) for c, d in ((0, 6), (0, 12), (3, 12))),
        *(Knob(F=f, c=c, retries=2) for f, c in ((8, 3), (32, 3))),
    )


class Rfpbcast(Hpmcast):
    """Everybody knows everybody, and nothing of what they want."""

    name = "rfpbcast"
    layers = FlatSettings
    levels = 1
    filters = False
    probe = Knob(F=2, c=0)
    knobs = (
        *(Knob(F=f, c=c) for f, c in ((2, -2), (2, -1), (2, 0), (2, 2), (3, 3))),
        *(Knob(F=2, c=c, retries=2) for c in (-3, -2, -1)),
    )


def addressed(wanted: Subscriptions, spare: int, space: AddressSpace) -> Population:
    """Subscribers and places for newcomers at addresses spread evenly over an address space."""
    n = wanted.n
    if n + spare > space.capacity:
        raise InputError(
            f"layers.sizes: expected room for {n + spare} participants, there is some for {space.capacity}"
        )
    addresses = np.arange(n + spare) * space.capacity // (n + spare)
    taken = np.zeros(n + spare, bool)
    taken[np.arange(n) * (n + spare) // n] = True
    which: NDArray[np.int64] = np.zeros(n + spare, np.int64)
    which[taken] = np.arange(n)
    population = Population.of(wanted.lows[which], wanted.highs[which], ids=addresses)
    population.row[:], population.host[:] = np.where(taken, which, DORMANT), np.where(taken, which, -1)
    return population
