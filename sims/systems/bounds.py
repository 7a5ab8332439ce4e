"""Nobody has to find anybody: a broker that knows everything, and a tree of the matching subscribers.

A broker is what most engineers would use. It needs one message to the broker and one for each delivery, and
carries the whole load. In comparisons it stays up while subscribers crash; in a run it may crash.

The tree of matching subscribers is not a protocol: only the simulator knows which subscribers match. An event
goes from its publisher down a tree of them, in which each sends it to `arity` others; nothing is repaired.
It is no lower bound: with acknowledgements it needs two messages for a delivery, and a star whose subscribers
ask for what they miss would need 1.11 with 5 % loss.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.anchors.broker.layer import BrokerLayer
from sims.anchors.broker.settings import BrokerSettings
from sims.anchors.trees import descend
from sims.systems.interface import Integers, Knob, System
from sims.systems.ledger import Ledger, Truth, keys_of
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.agenda import new_agenda
from sub2sub.compiled.timing.latency import Clock
from sub2sub.errors import require
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack

NOWHERE = -1e18  # the broker's own subscription, which no event matches

Plan = tuple[Integers, Integers]  # nodes, and the place of each one's parent


@dataclass(frozen=True)
class Retries:
    """Settings of a broker's deliveries.

    Attributes
    ----------
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    retries: int = 2

    def __post_init__(self) -> None:
        require(self, retries=0)


@dataclass(frozen=True)
class TreeShape:
    """Settings of the tree.

    Attributes
    ----------
    arity : int
        Children of a node. With more of them events arrive faster, and nodes near the root send more.
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    arity: int = 4
    retries: int = 2

    def __post_init__(self) -> None:
        require(self, arity=1, retries=0)


class KnownTrees(System):
    """A system in which an event goes down a tree that is known when it is published."""

    @abstractmethod
    def plan(self, event: int, publisher: int, settings: Any) -> Plan:
        """The tree of one event."""

    def publish(
        self, events: Integers, publishers: Integers, settings: Any, salt: int, record: bool = False
    ) -> Outcome:
        """Send each event down its tree."""
        members, faults, keys = len(self.host), self.network.faults(), keys_of(self.seed, salt, events)
        traced = np.empty(members, np.int32), np.empty(members, np.int64), np.empty(members, np.int64)
        ledger = Ledger(Truth.of(self), self.network, events, publishers, record)
        clock = Clock.of(self.network.timing, self.places)
        agenda = new_agenda(members, clock)
        for k, (event, publisher) in enumerate(zip(events.tolist(), publishers.tolist(), strict=True)):
            nodes, parents = self.plan(event, publisher, settings)
            descend(nodes, parents, settings.retries, faults, keys[k], clock, agenda, traced)
            ledger.enter(k, *traced, agenda.when)
        return ledger.outcome(settings.retries > 0)


class BrokerSystem(KnownTrees):
    """Every subscriber is a client of one broker, which is an additional peer."""

    name = "broker"
    layers = BrokerSettings
    dissemination = Retries
    knobs = tuple(Knob(retries=r) for r in (0, 1, 2, 3))
    probe = Knob(retries=2)
    layer_names = ("broker",)
    overlay: Stack

    def build(self, layers: BrokerSettings | None, spare: int) -> Stack:
        """Build clients and a broker."""
        nowhere = np.full((1, self.wanted.d), NOWHERE)
        lows, highs = (np.concatenate([side, nowhere]) for side in (self.wanted.lows, self.wanted.highs))
        population = Population.of(lows, highs, spare=spare, seed=self.seed)
        self.broker = int(np.flatnonzero(population.row == self.wanted.n)[0])
        self.layer = BrokerLayer(
            len(population), self.broker, self.wanted.d, layers or BrokerSettings(), self.seed
        )
        return Stack(population, [self.layer], self.seed)

    def fail(self, alive: NDArray[np.uint8], loss: float) -> None:
        """Crash subscribers, but not the broker."""
        super().fail(np.append(alive, np.uint8(1)), loss)

    def links(self) -> dict[str, Integers]:
        """One link each, to the broker."""
        return {"broker": np.ones(self.wanted.n, np.int64)}

    def plan(self, event: int, publisher: int, settings: Retries) -> Plan:
        """To the broker, and from there to the matching subscribers that it knows."""
        wanting = self.matches.of(event)
        known = self.computed("subscribed", self.layer.subscribed)
        others = wanting[known[wanting] & (wanting != publisher)]
        nodes = np.concatenate([[publisher, self.broker], others])
        parents = np.ones(len(nodes), np.int64)
        parents[:2] = 0
        return nodes, parents


class MatchingTree(KnownTrees):
    """The tree of matching subscribers, which only the simulator knows."""

    name = "matching tree"
    dissemination = TreeShape
    knobs = tuple(Knob(arity=a, retries=r) for a, r in ((2, 0), (8, 0), (2, 2), (4, 2), (8, 2), (8, 3)))
    probe = Knob(arity=4, retries=2)
    static = "not a protocol"
    overlay: Stack

    def build(self, layers: Any, spare: int) -> Stack:
        """Build a population without layers."""
        return Stack(self.make_population(spare), (), self.seed)

    def links(self) -> dict[str, Integers]:
        """No links."""
        return {"none": np.zeros(self.wanted.n, np.int64)}

    def plan(self, event: int, publisher: int, settings: TreeShape) -> Plan:
        """A tree of the matching subscribers, in the order of their numbers."""
        wanting = self.matches.of(event)
        nodes = np.concatenate([[publisher], wanting[wanting != publisher]])
        return nodes, (np.arange(len(nodes)) - 1) // settings.arity
