"""Sub-2-Sub: events follow the rings of matching subscribers, and random shortcuts across them (Sub-2-Sub).

Every subscriber is a peer with its box. It is billed for the exchanges of CYCLON, VICINITY and the ring layer
and for probes. Knobs are the number of shortcuts and whether events go with acknowledgements (`tries`): then
a peer sends again to a neighbour that does not answer, then to the next, and is billed an acknowledgement for
every message to a ring neighbour that arrives. The variant `as published` is the paper's, overlay and events.
A publisher that does not match its event searches for a peer that does (Section 4.1): a step takes twice the
network's `ms`, and its reply counts as so many control messages as have its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sims.config.entries import LINKS, Kinds
from sims.config.interests import WorkloadSettings
from sims.config.layer_entries import LAYER
from sims.engine.simulation import Simulation
from sims.rivals.base.entrants import Compared, Holdings, Knob, Look, SeveralMemberships, Variant
from sims.rivals.base.system import Floats, Integers, Publication
from sub2sub.compiled.common.links import Links
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import DESCRIPTOR, HEADER, LINK, NAME, RANGE
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings, PublisherSettings

if TYPE_CHECKING:
    from sub2sub.compiled.events.outcome import Outcome

PLAIN = {"tries": 1, "retries": 0}  # without acknowledgements


@dataclass(frozen=True)
class RingLayers(OverlaySettings):
    """Settings of the layers, and custom layers.

    Attributes
    ----------
    near : table
        A layer in VICINITY's place, `kind = "module:Class"` and its settings.
    above : list of tables
        Layers above the rings.
    """

    near: LAYER | None = None
    above: tuple[LAYER, ...] = ()


class RingOverlay(Compared):
    """The overlay of Sub-2-Sub; what is sent over it is up to subclasses."""

    workload: ClassVar[type] = WorkloadSettings
    layers: ClassVar[type] = RingLayers
    layer_names: ClassVar[tuple[str, ...]] = ("cyclon", "vicinity", "ring")
    observers: ClassVar[Kinds] = {
        "rings": "sims.observers.rings:RingCompleteness",
        "delivery": "sims.observers.deliveries:Deliveries",
        "publishers": "sims.observers.publishers:Publishers",
        "recovery": "sims.observers.recovering:Recovering",
        **LINKS,
    }
    usual: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"kind": "rings"},
        {"kind": "delivery", "at": "end"},
        {"kind": "degrees", "layer": "ring", "at": "end"},
    )
    overlay: Overlay

    def build(self, layers: OverlaySettings | None, spare: int) -> Overlay:
        """Random, proximity and ring links."""
        population = self.make_population(spare)
        near, above = (layers.near, layers.above) if isinstance(layers, RingLayers) else (None, ())
        return Overlay(population, layers, seed=self.seed, vicinity=near, above=above)

    def make_population(self, spare: int) -> Population:
        """A peer for each subscriber, with the ID that its workload gives it."""
        wanted = self.wanted
        return Population.of(wanted.lows, wanted.highs, wanted.ids, spare=spare, seed=self.seed)

    def entry_bytes(self, kind: str) -> int:
        """Random links are addresses; others include a box."""
        return LINK if kind == "random" else DESCRIPTOR + RANGE * self.wanted.d

    def links(self) -> dict[str, Integers]:
        """Random, proximity and ring links."""
        o = self.overlay
        sizes: dict[str, NDArray[Any]] = {
            "random": o.cyclon.size,
            "proximity": o.vicinity.size,
            "ring": o.ring.pool.size,
        }
        return {kind: self.by_subscriber(size.astype(np.int64)) for kind, size in sizes.items()}


class Hosted(SeveralMemberships):
    """Virtual peers: their hosts are the subscribers, and pass events among their own peers for nothing."""

    open_to_others = False
    streams = False
    overlay: Overlay
    _enter: Callable[..., Outcome]

    def make_population(self, spare: int) -> Population:
        """A peer for each range."""
        assert isinstance(self.wanted, Holdings)
        assert self.wanted.parts is not None
        lows, highs, host = self.wanted.parts
        return Population.of(lows, highs, hosts=host, spare=spare, seed=self.seed)

    def spread(self, asked: Publication, settings: DisseminationSettings) -> Outcome:
        """Let each event enter at a peer of its publisher that matches it."""
        lows, highs = self.overlay.population.ranges()
        host, entry = self.overlay.population.host, []
        for own, point in zip(asked.publishers.tolist(), self.points[asked.events], strict=True):
            matching = ((lows <= point) & (point <= highs)).all(axis=1)
            entry.append(int(np.flatnonzero(matching & (host == own))[0]))
        found = self._enter(asked, np.array(entry, np.int64), settings)
        taken, received, forwarded, spammed = map(
            self.by_subscriber, (found.taken, found.received, found.forwarded, found.spammed)
        )
        return replace(
            found, entry=asked.publishers, taken=taken, received=received, forwarded=forwarded,
            spammed=spammed,
        )  # fmt: skip


class Sub2Sub(RingOverlay):
    """Ring neighbours and k shortcuts."""

    open_to_others = True
    streams = True

    name = "sub2sub"
    dissemination = DisseminationSettings
    probe = Knob(shortcuts=2, **PLAIN)
    knobs: ClassVar[tuple[Knob, ...]] = (
        *(Knob(shortcuts=k, **PLAIN) for k in (0, 1, 2, 4, 8)),
        *(Knob(shortcuts=k, tries=3) for k in (0, 2, 3, 4)),
    )
    worlds = ("topics", "ranges", "between")
    look = Look("blue", "o", "-")
    variants: ClassVar[Mapping[str, Variant]] = {
        "as published": Variant(
            OverlaySettings.paper(), DisseminationSettings.paper(),
            tuple(Knob(shortcuts=k) for k in (0, 1, 2, 4, 8)), ("topics", "ranges"), Look("blue", "v", "--"),
        )
    }  # fmt: skip

    def spread(self, asked: Publication, settings: DisseminationSettings) -> Outcome:
        """Let each event enter at its publisher's peer, or at one that matches and that it finds."""
        points, population = self.points[asked.events], self.overlay.population
        if asked.at is not None:
            return self._stream(asked, asked.at, settings)
        lows, highs = (side[asked.publishers] for side in population.ranges())
        if ((lows <= points) & (points <= highs)).all():
            return self._enter(asked, asked.publishers, settings)
        from sub2sub.compiled.events.publishing import find_entry

        search = PublisherSettings()
        walks = find_entry(
            Links.of(self.overlay), self.network, points, settings=search, seed=self.seed, cycle=asked.salt,
            scale=population.scale,
        )  # fmt: skip
        found = self._enter(asked, walks.entry, settings)
        reply = search.view * (DESCRIPTOR + RANGE * self.wanted.d) // (HEADER + NAME)
        times, timing = found.times, self.network.timing
        if times is not None and timing is not None:
            waited = np.repeat(2 * timing.ms * walks.steps, np.diff(times.offsets))
            times = replace(times, ms=times.ms + waited.astype(np.float32))
        return replace(
            found, entry=asked.publishers, entered=np.zeros_like(found.entered), times=times,
            messages=found.messages + walks.found, control=walks.messages - walks.found + walks.steps * reply,
        )  # fmt: skip

    @classmethod
    def for_hosts(cls) -> type[Compared]:
        """Return rings of virtual peers, one for each range of a host (Section 3)."""
        return type(cls.__name__, (Hosted, cls), {})

    def _stream(self, asked: Publication, at: Floats, settings: DisseminationSettings) -> Outcome:
        """Push events along rings and shortcuts drawn beforehand; a silent neighbour is asked `tries` times.

        None behind it is tried, and shortcuts are acknowledged as well: few messages with little loss.
        """
        from sims.rivals.base.push_tables import PushRules, PushTables, Rows, Starts, rows
        from sims.rivals.base.streams import spread_stream

        rng, matches = np.random.default_rng([self.seed, asked.salt]), self.matches
        ring, near, random = (self.overlay.kinds[name].links() for name in ("ring", "vicinity", "cyclon"))
        nobody = Rows(np.zeros(len(self.overlay.population) + 1, np.int64), np.empty(0, np.int32))
        tables = []
        for event in asked.events.tolist():
            eager: list[list[int]] = [[] for _ in range(len(self.overlay.population))]
            wanting = np.zeros(len(eager), bool)
            wanting[matches.of(event)] = True
            others: dict[int, list[int]] = {}
            for kind in (ring, near, random):
                there = wanting[kind[0]] & wanting[kind[1]]
                for holder, other in zip(kind[0][there].tolist(), kind[1][there].tolist(), strict=True):
                    if kind is ring:
                        eager[holder].append(other)
                    others.setdefault(holder, []).append(other)
            for holder, known in others.items():
                # Neighbours in the order of the ring: the nearest on either side are the first and the last.
                sides = list(dict.fromkeys([*eager[holder][:1], *eager[holder][-1:]]))
                free = sorted(set(known) - set(sides))
                eager[holder] = sides + rng.permutation(free)[: settings.shortcuts].tolist()
            tables.append(PushTables(rows(eager), nobody, nobody))
        rules = PushRules(retries=settings.tries - 1 if settings.acknowledged else 0)
        starts = Starts.of(asked.publishers.tolist())
        return spread_stream(tables, rules, asked, starts, self.network, self.truth, at, self.seed)

    def publish_tests(
        self, simulation: Simulation, settings: DisseminationSettings, record: bool = False
    ) -> tuple[Integers, Outcome]:
        """Let each event enter at a random subscriber of it; events without subscribers cost nothing."""
        asked = Publication(np.arange(len(self.points)), np.empty(0, np.int64), simulation.cycle, record)
        return asked.events, self._enter(asked, None, settings)

    def _enter(self, asked: Publication, entry: Integers | None, settings: DisseminationSettings) -> Outcome:
        from sub2sub.compiled.events.dissemination import disseminate

        return disseminate(
            Links.of(self.overlay), self.network, self.points[asked.events], entry=entry, settings=settings,
            seed=self.seed, cycle=asked.salt, record=asked.record,
        )  # fmt: skip
