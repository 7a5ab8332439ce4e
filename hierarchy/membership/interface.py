"""What CAMCAST asks of a membership service: a layer that hands out topic and super-topic tables.

CAMCAST Section 5.2 has three: `Unstructured`, `SemiStructured` and `Structured`. A member is a process in one
community, so its topic never changes; a process that changes its mind leaves as one member and joins as
another.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import MemberParameters, Settings, member_parameters
from hierarchy.camcast.tables import Tables
from hierarchy.topics import TopicTree
from sub2sub.overlay.layer import Layer
from sub2sub.overlay.network import Network

__all__ = ["Membership", "known_parameters"]


@runtime_checkable
class Membership(Layer, Protocol):
    """A layer (`step`, `join`, `arrays`, `load`) with six more methods.

    Attributes
    ----------
    topic : (n,) int32
        Community of each member; may be set for a member that never joined.
    cycles_to_join : int
        Steps from a join to the first tables.
    true_sizes : bool
        Whether members are told the true sizes of their communities.
    """

    topic: NDArray[np.int32]
    cycles_to_join: int
    true_sizes: bool

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Let `peers` leave their communities in good order."""
        ...

    def sizes(self) -> NDArray[np.float64]:
        """What each member takes the size of its community to be, (n,)."""
        ...

    def settled(self) -> NDArray[np.bool_]:
        """Which members may publish (CAMCAST, Section 5.1): they know who is above, if anybody."""
        ...

    def topics_changed(self) -> None:
        """Take up topics, or further parents, that were added to the tree."""
        ...

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members somebody alive still knows of; only others may become members of another topic."""
        ...

    def tables(self) -> Tables:
        """The tables as they are now, to disseminate on."""
        ...


def known_parameters(
    membership: Membership, network: Network, settings: Settings | None, tree: TopicTree
) -> MemberParameters:
    """What each member does with an event: by its own estimate of sizes, or by the true ones if told."""
    sizes = membership.sizes()
    if membership.true_sizes:
        live = membership.topic[network.alive == 1]
        sizes = np.bincount(live, minlength=tree.capacity)[membership.topic].astype(float)
    return member_parameters(sizes, membership.topic, settings, tree)
