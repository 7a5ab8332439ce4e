"""Sub-2-Sub: events follow the rings of matching subscribers, and random shortcuts across them (Sub-2-Sub).

Every subscriber is a peer with its box. It is billed for the exchanges of CYCLON, VICINITY and the ring layer
and for probes. Two ways of publishing: `Rings` is the paper's, which knows no failures; `AcknowledgedRings`
tries the next neighbour when one does not answer (`retries`), and is billed an acknowledgement for every
message that arrives, since only acknowledgements can tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.compare.systems.system import Knob, System, Traffic
from sims.compare.tally import (
    ACKS,
    DELIVERED,
    DUPLICATES,
    FAILED,
    HOPS,
    MATCHES,
    MESSAGES,
    RECEIVED,
    SENT,
    SPAM,
    Tally,
)
from sims.compare.worlds.world import World
from sub2sub.events.dissemination import DisseminationSettings, disseminate
from sub2sub.overlay.links import Links
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population

__all__ = ["AcknowledgedRings", "RingOverlay", "Rings"]


class RingOverlay(System):
    """The overlay of a world's interests; what is sent over it is up to subclasses.

    Attributes
    ----------
    peer : (n,) int64
        The peer of each subscriber; peers are numbered in the order of their sequence IDs.
    """

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        self.overlay = Overlay(Population.of(world.lows, world.highs, seed=seed), seed=seed)
        self.network = self.overlay.network
        self.row = self.overlay.population.row
        self.peer = np.empty(world.n, np.int64)
        self.peer[self.row] = np.arange(world.n)
        self.overlay.bootstrap()

    def step(self, cycle: int) -> Traffic:
        """One exchange of each layer, and probes."""
        costs = list(self.overlay.step(cycle).values())
        return Traffic(sum(cost["messages"] for cost in costs), sum(cost["bytes"] for cost in costs))

    def links(self) -> dict[str, NDArray[np.int64]]:
        """Random, proximity and ring links."""
        o = self.overlay
        sizes: dict[str, NDArray[Any]] = {
            "random": o.cyclon.size,
            "proximity": o.vicinity.size,
            "ring": o.ring.pool.size,
        }
        return {kind: size[self.peer].astype(np.int64) for kind, size in sizes.items()}

    def members(self, alive: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Peers in ring order."""
        up: NDArray[np.uint8] = alive[self.row]
        return up


class Rings(RingOverlay):
    """Ring neighbours and k shortcuts."""

    name = "sub2sub"
    knobs = tuple(Knob(shortcuts=k) for k in (0, 1, 2, 4, 8))
    retries = 0

    def publish(
        self, events: NDArray[np.int64], publishers: NDArray[np.int64], knob: Knob, salt: int
    ) -> Tally:
        """Let each event enter at its publisher's peer."""
        settings = DisseminationSettings(shortcuts=knob["shortcuts"], retries=self.retries)
        outcome = disseminate(
            Links.of(self.overlay), self.network, self.world.points[events], entry=self.peer[publishers],
            settings=settings, seed=self.seed, cycle=salt,
        )  # fmt: skip
        tally = Tally.empty(len(events), self.world.n)
        row = tally.events
        row[:, MATCHES] = outcome.matches - 1
        row[:, DELIVERED] = outcome.reached - 1
        row[:, HOPS] = np.where(outcome.reached > 1, outcome.hops, -1)
        row[:, MESSAGES], row[:, DUPLICATES] = outcome.messages, outcome.duplicates
        row[:, SPAM], row[:, FAILED] = outcome.spam, outcome.failed
        if self.retries:
            row[:, ACKS] = outcome.messages - outcome.failed
        tally.hosts[:, SENT] = outcome.forwarded[self.peer]
        # The kernel counts the copy with which an event enters; no message brought it.
        tally.hosts[:, RECEIVED] = outcome.received[self.peer] - np.bincount(
            publishers, minlength=self.world.n
        )
        return tally


class AcknowledgedRings(Rings):
    """The same with acknowledgements: who does not answer is replaced by the next on the ring."""

    name = "sub2sub acks"
    retries = 3
