"""The interface of a CAMCAST membership service: a layer that provides topic and super-topic tables.

CAMCAST, Section 5.2, has three: `Unstructured`, `SemiStructured` and `Structured`. A member is a process in
one community, so its topic never changes. A process that changes its subscription leaves as one member and
joins as another.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import MemberParameters, Settings, member_parameters
from hierarchy.compiled.camcast.tables import Tables
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.network import Network


@runtime_checkable
class MembershipService(Layer, Protocol):
    """A layer with the methods that CAMCAST needs.

    Attributes
    ----------
    topic : (n,) int32
        Community of each member; may be set for a member that has never joined.
    cycles_to_join : int
        Number of steps from a join to the first tables.
    true_sizes : bool
        Whether members know the true sizes of their communities.
    """

    topic: NDArray[np.int32]
    cycles_to_join: int
    true_sizes: bool

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Let `peers` unsubscribe from their communities."""

    def sizes(self) -> NDArray[np.float64]:
        """Each member's estimate of the size of its community, (n,)."""

    def inside(self) -> NDArray[np.bool_]:
        """Which members are in their communities."""

    def ready(self) -> NDArray[np.bool_]:
        """Which members may publish (CAMCAST, Section 5.1): they know super-processes, or there are none."""

    def topics_changed(self) -> None:
        """Update the state after topics or further parents were added to the tree."""

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live member still refers to; only the others may be reused for another topic."""

    def tables(self) -> Tables:
        """The current tables, for dissemination."""


def known_parameters(
    membership: MembershipService, network: Network, settings: Settings | None, tree: TopicTree
) -> MemberParameters:
    """Dissemination parameters of each member, from its own estimates of sizes or from the true sizes."""
    sizes = membership.sizes()
    if membership.true_sizes:
        live = membership.topic[network.alive == 1]
        sizes = np.bincount(live, minlength=tree.capacity)[membership.topic].astype(float)
    return member_parameters(sizes, membership.topic, settings, tree)
