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
sent nothing. `as printed` has the rounds of line 27 of Figure 6 as printed, `piggybacked` events that carry
tables.

With one level every participant has a line for every other, n^2 lines in all. Above `MOST_LINES`, pmcast and
rfpbcast are compared on the views that their paper assumes, complete ones, and upkeep is not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from sims.config.interests import WorkloadSettings
from sims.engine.simulation import Simulation
from sims.observers import Connectivity, Degrees, LinkAges
from sims.observers.deliveries import Deliveries
from sims.rivals.base.accounts import Ledger
from sims.rivals.base.entrants import Compared, Knob, Look, Traffic, Variant
from sims.rivals.base.system import Integers, Publication
from sims.rivals.below.addressed import (
    Addressed,
    FlatSettings,
    HierarchySettings,
    Views,
    addressed,
    shared_rows,
)
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


PRINTED = Gossip(reading=Reading.LINE_27, redundancy=REDUNDANCY)  # R times as many at the lowest level


@dataclass(frozen=True)
class Piggybacked(HierarchySettings):
    """The hierarchy as compared, whose tables events carry along."""


def fanouts(*pairs: tuple[int, float], retries: int = 0) -> tuple[Knob, ...]:
    """Knobs of F and c."""
    again = {"retries": retries} if retries else {}
    return tuple(Knob(fanout=f, constant=float(c), **again) for f, c in pairs)


def audiences(*pairs: tuple[float, int], retries: int = 0) -> tuple[Knob, ...]:
    """Knobs of c and D, with F = 2."""
    return tuple(Knob(knob, audience=d) for c, d in pairs for knob in fanouts((2, c), retries=retries))


class Hpmcast(Compared):
    """A hierarchy of three levels."""

    open_to_others = True

    name = "hpmcast"
    layers: ClassVar[type] = HierarchySettings
    workload = WorkloadSettings
    dissemination = Gossip
    look = Look("sky", "P", "-")
    layer_names = ("hpmcast",)
    observers: ClassVar[Kinds] = {
        "delivery": Deliveries,
        "views": Views,
        "degrees": Degrees,
        "ages": LinkAges,
        "connectivity": Connectivity,
    }
    usual = ({"kind": "views", "every": 5}, {"kind": "delivery", "at": "end"})
    probe = Knob(fanout=4, constant=6.0)
    knobs = (
        *fanouts((2, 3), (3, 3), (4, 3), (4, 6), (8, 6)),
        *audiences((0, 6), (2, 6), (3, 6), (3, 12)),
        *fanouts((2, 0), (2, 3), retries=2),
        *audiences((0, 6), retries=2),
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "as printed": Variant(
            base=PRINTED, look=Look("sky", "X", ":"), probe=Knob(fanout=2, constant=3.0),
            knobs=(
                *fanouts((2, -2), (2, -1), (2, 1), (2, 3), (3, 3), (4, 3)),
                *audiences((-2, 6), (0, 6), (1, 6)),
                *fanouts((2, -3), (2, -2), retries=2),
            ),
        ),
        "piggybacked": Variant(
            Piggybacked(), PRINTED, (*fanouts((2, -1), (2, 1)), *fanouts((2, -2), retries=2)), ("topics",),
            Look("sky", "v", "-"), Knob(fanout=2, constant=3.0),
        ),
    }  # fmt: skip
    levels = 3
    filters = True
    overlay: Addressed | Stack  # without layers where the overlay is static

    def build(self, layers: FlatSettings | None, spare: int) -> Addressed | Stack:
        """Participants at addresses."""
        self.carries = isinstance(layers, Piggybacked)
        if layers is None or self.carries:
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
        return {f"level {i + 1}": self.by_subscriber(size.astype(np.int64)) for i, size in enumerate(sizes)}

    def forget(self) -> None:
        """Drop the computed views, unless they are complete and do not change."""
        if not self.static:
            super().forget()

    def spread(self, asked: Publication, settings: Gossip) -> Outcome:
        """Gossip each event from its publisher, level by level."""
        first = asked.salt * len(self.wanted.points)
        return self._gossip(asked, settings, [(self.seed, first + event) for event in asked.events.tolist()])

    def publish_tests(
        self, simulation: Simulation, settings: Gossip, record: bool = False
    ) -> tuple[Integers, Outcome]:
        """Publish each event from a random live participant."""
        self.forget()
        publishers = self.draw_publishers(simulation)
        events = np.flatnonzero(publishers >= 0)
        bits = draws(simulation.key("delivery"), events)
        keys = [(int(own >> np.uint64(2)), event) for own, event in zip(bits, events.tolist(), strict=True)]
        asked = Publication(events, publishers[events], simulation.cycle, record)
        return events, self._gossip(asked, settings, keys)

    def may_publish(self, event: int) -> Integers:
        """Live participants, interested or not."""
        return np.flatnonzero(self.network.alive)

    def step(self, cycle: int) -> Traffic:
        """Step by a cycle; if events carry tables (Section 4.2), publish one first, of a random participant.

        A participant that sends an event sends no other gossip in that cycle; one that receives an event
        answers it as it would answer gossip. The answers and what is carried along are billed as upkeep, the
        events are not.
        """
        if not self.carries:
            return super().step(cycle)
        assert isinstance(self.overlay, Addressed)
        self.forget()
        live, event = np.flatnonzero(self.network.alive), cycle % len(self.wanted.points)
        bits = int(draws(cycle_key(self.seed, CARRIERS, cycle), np.zeros(1, np.int64))[0])
        arrivals = disseminate(
            self._knowledge().views(), self._passed(event), int(live[bits % live.size]),
            replace(PRINTED, constant=3.0), network=self.network, seed=self.seed, event=cycle, record=True,
            places=self.truth.places,
        ).arrivals  # fmt: skip
        carried = self.overlay.membership.piggyback(arrivals, cycle, self.network)
        own = super().step(cycle)
        return Traffic(own.messages + carried["messages"], own.bytes + carried["bytes"])

    def _gossip(self, asked: Publication, settings: Gossip, keys: Sequence[tuple[int, int]]) -> Outcome:
        """Publish events with these seeds and numbers for their draws."""
        views, truth = self._knowledge().views(), self.truth
        ledger = Ledger(truth, self.network, asked, asked.publishers)
        published = zip(asked.events.tolist(), asked.publishers.tolist(), keys, strict=True)
        for k, (event, publisher, (seed, number)) in enumerate(published):
            trace = disseminate(
                views, self._passed(event), publisher, settings, network=self.network, seed=seed,
                event=number, places=truth.places,
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
