"""Meghdoot: events are routed to the corner of their region, then spread from zone to zone.

A subscription is a point of a content-addressable network (`sims.rivals.below.can`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sims.config.entries import Kinds
from sims.config.interests import WorkloadSettings
from sims.rivals.base.accounts import ENTERING, Ledger, Retries, RouteSender, keys_of
from sims.rivals.base.entrants import Compared, Knob, Look
from sims.rivals.base.grouped import Pushed, counts
from sims.rivals.base.groups import Groups, GroupStack
from sims.rivals.base.objects import ObjectLayer
from sims.rivals.base.system import Integers, Publication
from sims.rivals.below.can import MeghdootPeer, MeghdootSettings
from sims.rivals.below.zones import Zones, spread_zones
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.agenda import new_agenda
from sub2sub.compiled.timing.latency import Clock
from sub2sub.peers.descriptors import LINK, VALUE
from sub2sub.peers.draws import Dice, cycle_key, stream_number

JITTER = stream_number("anchors/meghdoot points")
Floats = NDArray[np.float64]
MOST_HOPS = 2_000  # a limit for routes, in case peers disagree
FINE = 2.0**-30  # share of the domain: the finest resolution of values


class Scale:
    """From ranges to points of the unit cube, and from events to the corner of what they concern.

    `step` is the resolution of values; within one step points are random, so that equal subscriptions are
    different points with different zones.

    Parameters
    ----------
    low, high : (d,) float64
        The domain of each attribute, which all peers know.
    step : (d,) float64
        Resolution of each; 1 where values are whole numbers.

    Examples
    --------
    >>> scale = Scale(np.array([0.0]), np.array([9.0]), step=np.array([1.0]))
    >>> points = scale.points(np.array([[2.0]]), np.array([[4.0]]), seed=1)
    >>> bool(0.2 <= points[0, 0] < 0.3), bool(0.4 <= points[0, 1] < 0.5)
    (True, True)
    >>> scale.corner(np.array([4.0])).round(3).tolist()  # low ends below 0.5, high ends from 0.4 on
    [0.5, 0.4]
    """

    def __init__(self, low: Floats, high: Floats, step: Floats) -> None:
        self.low, self.step = low, step
        self.width = high - low + step

    def points(self, lows: Floats, highs: Floats, seed: int) -> Floats:
        """Points of subscriptions, (n, 2 d)."""
        n, d = lows.shape
        found = np.empty((n, 2 * d))
        for k in range(2 * d):
            inside = draws(cycle_key(seed, JITTER, 0), np.arange(n), k) / 2.0**64
            ends = (lows, highs)[k % 2][:, k // 2]
            found[:, k] = (ends - self.low[k // 2] + self.step[k // 2] * inside) / self.width[k // 2]
        return np.clip(found, 0.0, np.nextafter(1.0, 0.0))

    def corner(self, event: Floats) -> Floats:
        """The point (2 d,) up to which low ends, and from which on high ends, may match an event."""
        found = np.repeat((event - self.low) / self.width, 2)
        found[::2] += self.step / self.width
        return np.clip(found, 0.0, 1.0)


class ZoneLayer(ObjectLayer[MeghdootPeer]):
    """A content-addressable network of subscribers.

    `points` gives the points (n, 2 d) of all peers, as they subscribe now.
    """

    def __init__(self, n: int, points: Callable[[], Floats], settings: MeghdootSettings, seed: int) -> None:
        self.points, self._at = points, points()
        super().__init__("meghdoot", n, lambda peer: self._fresh(peer, settings), settings.tries, seed)

    def _fresh(self, peer: int, settings: MeghdootSettings) -> MeghdootPeer:
        return MeghdootPeer(peer, tuple(self._at[peer].tolist()), settings)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start peers; if no peer has a zone, the one without a contact starts with the whole space."""
        self._at = self.points()
        super().join(peers, contacts, cycle)
        if not any(peer.zones for peer in self.peers):
            self.peers[int(peers[np.argmin(contacts)])].take_whole_space()


def zones_of(layer: ZoneLayer) -> Zones:
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


class Meghdoot(Compared):
    """A zone for each subscriber."""

    open_to_others = True

    streams = False
    name = "meghdoot"
    layers = MeghdootSettings
    dissemination = Retries
    knobs = tuple(Knob(retries=r) for r in (0, 1, 2, 3))
    probe = Knob(retries=2)
    layer_names = ("meghdoot",)
    look = Look("orange", "D", "--")
    workload = WorkloadSettings
    observers: ClassVar[Kinds] = Pushed.observers
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

        self.layer = ZoneLayer(len(population), points, layers or MeghdootSettings(), self.seed)
        return GroupStack(population, Groups(population), [self.layer], self.seed)

    def entry_bytes(self, kind: str) -> int:
        """An address and a zone."""
        return LINK + 4 * VALUE * self.wanted.d

    def links(self) -> dict[str, Integers]:
        """Neighbours."""
        return {"neighbours": self.by_subscriber(counts([peer.links() for peer in self.layer.peers]))}

    def spread(self, asked: Publication, settings: Retries) -> Outcome:
        """Route each event to its corner, and spread it from there."""
        zones = self.computed("zones", lambda: zones_of(self.layer))
        truth, faults, keys = self.truth, self.network.faults(), keys_of(self.seed, asked.salt, asked.events)
        ledger = Ledger(truth, self.network, asked, asked.publishers)
        n, clock = len(truth.host), Clock.of(self.network.timing, truth.places)
        agenda, first, when = new_agenda(n, clock), np.empty(n, np.int32), np.empty(n)
        sent, arrived = np.empty(n, np.int64), np.empty(n, np.int64)
        traced = first, sent, arrived, when
        for k, (event, publisher) in enumerate(
            zip(asked.events.tolist(), asked.publishers.tolist(), strict=True)
        ):
            first[:], sent[:], arrived[:], when[:] = -1, 0, 0, np.inf
            first[publisher], when[publisher] = 0, 0.0
            corner = self.scale.corner(self.wanted.points[event])
            root = self.route(publisher, corner, settings.retries, clock, keys[k], traced)
            if root >= 0:
                corner[::2] *= -1
                spread_zones(zones, corner, root, settings.retries, faults, keys[k], clock, agenda, traced)
            ledger.enter(k, *traced)
        return ledger.outcome(settings.retries > 0)

    def route(
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
            copies, came, arrives = route.send(peer, following, now)
            sent[peer] += copies
            if arrives is not None:
                arrived[following] += came
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
