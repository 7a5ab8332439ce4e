"""Recovery of missed events as a layer of the overlay, stepped after the ring layer.

`publish` adds events; every step then exchanges one cycle of digests (`sub2sub.compiled.events.recovery`). A
newcomer starts without events, also where another peer had its number before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.audience import half_open
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.events.recovery import Recovery
from sub2sub.geometry.matching import match_boxes
from sub2sub.peers.settings import RecoverySettings

if TYPE_CHECKING:
    from sub2sub.overlay.overlay import Overlay

LONG_AGO = -1  # the cycle in which the peers of the start joined


class EventShare(NamedTuple):
    """Pairs of an event and a peer that matches it: how many there are, and in how many the peer has it."""

    wanted: int
    has: int


class RecentEvents(LayerBase):
    """The recent events of a population.

    Parameters
    ----------
    overlay : Overlay
        Events are recovered along its rings.

    Examples
    --------
    >>> from sub2sub.compiled.events.dissemination import disseminate
    >>> from sub2sub.overlay.overlay import Overlay, OverlaySettings
    >>> settings = OverlaySettings(recovery=RecoverySettings())
    >>> overlay = Overlay.of(np.zeros((20, 1)), np.ones((20, 1)), settings=settings, seed=1).run(8)
    >>> overlay.network.loss, event = 0.7, [[0.5]]
    >>> outcome = disseminate(Links.of(overlay), overlay.network, event, cycle=8, record=True)
    >>> overlay.recent_events.publish(event, outcome, cycle=8)
    >>> overlay.network.loss = 0.0
    >>> overlay.recent_events.shares(cycle=8)[0].has < 20
    True
    >>> overlay.run(1).recent_events.shares(cycle=9)
    {1: EventShare(wanted=20, has=20)}
    """

    name = "recovery"

    def __init__(self, overlay: Overlay, settings: RecoverySettings, seed: int = 0) -> None:
        self.overlay, self.recovery = overlay, Recovery(settings, seed)
        self.joined = np.full(len(overlay.population), LONG_AGO)

    def publish(self, events: ArrayLike, outcome: Outcome, cycle: int) -> None:
        """Add events, and the peers that have them by an outcome with receptions."""
        self.recovery.publish(Links.of(self.overlay), self.overlay.network, events, outcome, cycle)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer send digests of its recent events."""
        return self.recovery.step(Links.of(self.overlay), network, cycle)

    def shares(self, cycle: int) -> dict[int, EventShare]:
        """By cycles since publication, how many of the matching peers that were there then have the events.

        Peers that have left since are not counted. The simulator computes this; no peer knows it.
        """
        alive, (low, high) = self.overlay.network.alive == 1, half_open(self.overlay.population)
        numbers, points, since = self.recovery.recent(cycle)
        found: dict[int, EventShare] = {}
        for published in np.unique(since):
            own = np.flatnonzero(since == published)
            offsets, members = match_boxes(low, high, points[own])
            event = np.repeat(numbers[own], np.diff(offsets))
            stay = alive[members] & (self.joined[members] < published)
            has = self.recovery.has(event[stay], members[stay])
            found[cycle - int(published)] = EventShare(int(has.size), int(has.sum()))
        return found

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Newcomers have no events."""
        self.joined[peers] = cycle
        self.recovery.forget(peers)

    def grow(self, moved: Renumbering) -> None:
        """Move the state of all peers to their new numbers."""
        self.joined = moved.rows(self.joined, LONG_AGO)
        self.recovery.renumber(moved)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        return {"joined": self.joined, **self.recovery.arrays()}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        self.joined[...] = arrays["joined"]
        self.recovery.load(arrays)
