"""rfpbcast, pmcast and hpmcast: gossip round after round, through a hierarchy of addresses (hpmcast).

For the expected number of rounds each participant gossips an event to F random entries of its views that are
interested, as far as it knows their interests. hpmcast keeps a table for each level of a hierarchy, with some
delegates and a condensed interest for each subsystem. pmcast is the same with one level, so every participant
knows all others and their interests. In rfpbcast every participant knows all others, but no interests.

In a run addresses are spread evenly, and an event is published by a random live participant, interested or
not, as in the paper's simulations. In comparisons addresses are random: they do not depend on interests.

Tables are built and kept by gossip-pull, which is billed. The number of rounds is Pittel's for the interested
share that a participant sees in its own view, plus `c`. In comparisons it makes no allowance for loss and
crashes, which no participant can know beforehand. Hops are rounds, including those in which a participant
sent nothing.

With one level every participant has a line for every other, n^2 lines in all. Above `MOST_LINES`, pmcast and
rfpbcast are compared on the views that their paper assumes, complete ones, and upkeep is not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import (
    AddressSpace,
    Condensation,
    Gossip,
    Knowledge,
    Reading,
    disseminate,
    exact_knowledge,
)
from hierarchy.hpmcast import Population as Participants
from sims.config.entries import Kinds
from sims.engine.simulation import Simulation
from sims.observers import Connectivity, Degrees, LinkAges
from sims.observers.deliveries import Deliveries
from sims.systems.hpmcast_overlay import Addressed, FlatSettings, HierarchySettings, Views, addressed
from sims.systems.interface import Integers, Knob, System, Traffic
from sims.systems.knowledge import shared_rows
from sims.systems.ledger import Ledger, Truth
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack
from sub2sub.peers.descriptors import LINK, NAME, RANGE
from sub2sub.peers.draws import cycle_key, stream_number

ADDRESSES, CONTACTS, CARRIERS = (
    stream_number(f"compare/{name}") for name in ("addresses", "hpmcast contacts", "hpmcast carriers")
)
REDUNDANCY = 3  # R: delegates of a subsystem, as compared
MOST_LINES = 1_000_000  # of flat tables: 1,000 participants


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

    @classmethod
    def at(cls, knob: Knob) -> Gossip:
        """F, c and D, and no allowance for loss or crashes."""
        given = knob.settings
        return Gossip(
            given["F"], float(given["c"]), audience=given.get("D", 0), retries=given.get("retries", 0)
        )

    def build(self, layers: FlatSettings | None, spare: int) -> Addressed | Stack:
        """Participants at addresses."""
        if layers is None:
            return self._compared()
        space, condensation = AddressSpace((self.wanted.n + spare,)), Condensation(redundancy=1)
        if isinstance(layers, HierarchySettings):
            space, condensation = AddressSpace(layers.sizes), layers.condensation
        population = addressed(self.wanted, spare, space)
        overlay = Addressed(population, space, condensation, layers.upkeep, seed=self.seed)
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
            self._computed["known"] = exact_knowledge(
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
        """Drop the computed views, unless they are complete and do not change."""
        if not self.static:
            super().forget()

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
        views = self._knowledge().views()
        ledger = Ledger(Truth.of(self), self.network, events, publishers, record)
        published = zip(events.tolist(), publishers.tolist(), keys, strict=True)
        for k, (event, publisher, (seed, number)) in enumerate(published):
            trace = disseminate(
                views, self._passed(event), publisher, settings, network=self.network, seed=seed,
                event=number, places=self.places,
            ).trace  # fmt: skip
            ledger.enter(k, trace.first, trace.sent, trace.received, trace.when)
        return ledger.outcome(settings.retries > 0)

    def _knowledge(self) -> Knowledge:
        def compute() -> Knowledge:
            assert isinstance(self.overlay, Addressed)
            return shared_rows(self.overlay.membership.knowledge())

        return self.computed("known", compute)

    def _passed(self, event: int) -> NDArray[np.uint8]:
        """Which lines an event passes, matched once for all publications of it."""
        point = self.wanted.points[event] if self.filters else []
        return self.computed(f"passed {event}", lambda: self._knowledge().match(point))


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
    """Every participant knows all others and their interests."""

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
    """Every participant knows all others, but not their interests."""

    name = "rfpbcast"
    layers = FlatSettings
    levels = 1
    filters = False
    probe = Knob(F=2, c=0)
    knobs = (
        *(Knob(F=f, c=c) for f, c in ((2, -2), (2, -1), (2, 0), (2, 2), (3, 3))),
        *(Knob(F=2, c=c, retries=2) for c in (-3, -2, -1)),
    )
