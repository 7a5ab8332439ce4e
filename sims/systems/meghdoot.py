"""Meghdoot as a system: events are routed to the corner of their region, then spread from zone to zone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.anchors.groups import Groups, GroupStack
from sims.anchors.meghdoot.dissemination import Zones, spread_zones
from sims.anchors.meghdoot.layer import Meghdoot, Scale
from sims.anchors.meghdoot.settings import MeghdootSettings
from sims.systems.bounds import Retries
from sims.systems.grouped import ENTERING, Grouped, counts
from sims.systems.interface import Integers, Knob, System
from sims.systems.ledger import Ledger, Truth, keys_of
from sims.systems.route_sender import RouteSender
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.agenda import new_agenda
from sub2sub.compiled.timing.latency import Clock
from sub2sub.peers.descriptors import LINK, VALUE
from sub2sub.peers.draws import Dice

MOST_HOPS = 2_000  # a limit for routes, in case peers disagree
FINE = 2.0**-30  # share of the domain: the finest resolution of values


def zones_of(layer: Meghdoot) -> Zones:
    """The zones of all peers, and the zones of others that each knows, as arrays."""
    number: dict[Any, int] = {}
    own, own_start, zone, peer, start = [], [0], [], [], [0]
    for each in layer.peers:
        own += [number.setdefault(held, len(number)) for held in each.zones]
        own_start.append(len(own))
        for other, zones in each.near.items():
            zone += [number.setdefault(held, len(number)) for held in zones]
            peer += [other] * len(zones)
        start.append(len(zone))
    corners = np.array(list(number), np.float64).reshape(len(number), 2, -1)
    corners[:, :, ::2] = -corners[:, ::-1, ::2]  # low ends are negated
    low, high = (np.ascontiguousarray(corners[:, side]) for side in (0, 1))
    return Zones(low, high, *(np.array(column, np.int64) for column in (own_start, own, start, zone, peer)))


class MeghdootSystem(System):
    """A zone for each subscriber."""

    name = "meghdoot"
    layers = MeghdootSettings
    dissemination = Retries
    knobs = tuple(Knob(retries=r) for r in (0, 1, 2, 3))
    probe = Knob(retries=2)
    layer_names = ("meghdoot",)
    observers = Grouped.observers
    overlay: GroupStack

    def build(self, layers: MeghdootSettings | None, spare: int) -> GroupStack:
        """The network, over the domain of all interests."""
        population = self.make_population(spare)
        low, high = self.wanted.lows.min(axis=0), self.wanted.highs.max(axis=0)
        whole = bool((self.wanted.lows % 1 == 0).all() and (self.wanted.highs % 1 == 0).all())
        self.scale = Scale(low, high, np.maximum(1.0 if whole else FINE, (high - low) * FINE))

        def points() -> NDArray[np.float64]:
            lows, highs = population.ranges()
            return self.scale.points(np.clip(lows, low, high), np.clip(highs, low, high), self.seed)

        self.layer = Meghdoot(len(population), points, layers or MeghdootSettings(), self.seed)
        return GroupStack(population, Groups(population), [self.layer], self.seed)

    def entry_bytes(self, kind: str) -> int:
        """An address and a zone."""
        return LINK + 4 * VALUE * self.wanted.d

    def links(self) -> dict[str, Integers]:
        """Neighbours."""
        return {"neighbours": counts([peer.links() for peer in self.layer.peers])[self.peer_of]}

    def publish(
        self, events: Integers, publishers: Integers, settings: Retries, salt: int, record: bool = False
    ) -> Outcome:
        """Route each event to its corner, and spread it from there."""
        zones = self.computed("zones", lambda: zones_of(self.layer))
        n, faults, keys = len(self.host), self.network.faults(), keys_of(self.seed, salt, events)
        ledger = Ledger(Truth.of(self), self.network, events, publishers, record)
        clock = Clock.of(self.network.timing, self.places)
        agenda, first, when = new_agenda(n, clock), np.empty(n, np.int32), np.empty(n)
        sent, arrived = np.empty(n, np.int64), np.empty(n, np.int64)
        traced = first, sent, arrived, when
        for k, (event, publisher) in enumerate(zip(events.tolist(), publishers.tolist(), strict=True)):
            first[:], sent[:], arrived[:], when[:] = -1, 0, 0, np.inf
            first[publisher], when[publisher] = 0, 0.0
            corner = self.scale.corner(self.wanted.points[event])
            root = self._route(publisher, corner, settings.retries, clock, keys[k], traced)
            if root >= 0:
                corner[::2] *= -1
                spread_zones(zones, corner, root, settings.retries, faults, keys[k], clock, agenda, traced)
            ledger.enter(k, *traced)
        return ledger.outcome(settings.retries > 0)

    def _route(
        self,
        peer: int,
        corner: NDArray[np.float64],
        retries: int,
        clock: Clock,
        key: np.uint64,
        traced: tuple[NDArray[np.int32], Integers, Integers, NDArray[np.float64]],
    ) -> int:
        """The peer that has the corner, -1 if it is not reached."""
        first, sent, arrived, when = traced
        point = np.clip(corner, 0.0, np.nextafter(1.0, 0.0))
        point[::2] = np.nextafter(corner[::2], 0.0)  # low ends lie below theirs
        goal, silent, hop, now = tuple(point.tolist()), frozenset[int](), 0, 0.0
        route = RouteSender(self.network, clock, Dice(key).of_peer(ENTERING), retries)
        while hop < MOST_HOPS and self.layer.peers[peer].zones:
            following = self.layer.peers[peer].next_hop(goal, silent)
            if following == peer:
                return peer
            copies, arrives = route.send(peer, following, now)
            sent[peer] += copies
            if arrives is not None:
                arrived[following] += 1
                hop, now = hop + 1, arrives
                if first[following] < 0:
                    first[following], when[following] = hop, now
                peer = following
            elif retries:
                silent |= {following}
                now += route.silence
            else:
                break
        return -1
