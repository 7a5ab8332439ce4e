"""A tree of the subscribers that match an event: no protocol, because only the simulator knows which match.

An event goes from its publisher down a tree of them, in which each sends it to `arity` others; nothing is
repaired. It is no lower bound: with acknowledgements it needs two messages for a delivery, and a star whose
subscribers ask for what they miss needs fewer (`sims.compare.bound`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sims.rivals.base.entrants import Knob, Look
from sims.rivals.base.system import Integers
from sims.rivals.below.known_trees import KnownTrees, Plan
from sub2sub.errors import require
from sub2sub.overlay.stack import Stack


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


class MatchingTree(KnownTrees):
    """The tree of matching subscribers, which only the simulator knows."""

    name = "matching tree"
    dissemination = TreeShape
    knobs = tuple(Knob(arity=a, retries=r) for a, r in ((2, 0), (8, 0), (2, 2), (4, 2), (8, 2), (8, 3)))
    probe = Knob(arity=4, retries=2)
    look = Look("black", "+", ":")
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
