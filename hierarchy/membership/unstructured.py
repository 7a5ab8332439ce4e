"""The unstructured membership: SCAMP for topic tables, gateways or neighbours for contacts.

CAMCAST Section 5.2.1, and Section 3.3 for members that know no gateway and ask their neighbourhood.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings
from hierarchy.camcast.tables import Tables
from hierarchy.channel import WORD
from hierarchy.membership.gateways import Gateways
from hierarchy.membership.rows import named
from hierarchy.membership.scamp.layer import Scamp
from hierarchy.membership.scamp.settings import ScampSettings
from hierarchy.super_tables.layer import Finder, SuperTables
from hierarchy.topics import TopicTree
from sub2sub.overlay.network import Network
from sub2sub.overlay.views import table_links

__all__ = ["Unstructured"]


class Unstructured:
    """SCAMP views as topic tables; super-topic tables found and kept as in Section 3.

    Parameters
    ----------
    tree : TopicTree
        The hierarchy.
    topic : (n,) array
        Community of each member, present or to come.
    seed : int
        Of all draws.
    settings : Settings, optional
        Of CAMCAST.
    scamp : ScampSettings, optional
        Of SCAMP.
    finder : Finder, optional
        Where super-contacts come from; the gateways by default.

    Examples
    --------
    >>> from hierarchy.camcast import Communities
    >>> group = Communities.chain(7, 27, 84)
    >>> membership, network = Unstructured(group.tree, group.topic, seed=1), Network.whole(118)
    >>> membership.join(np.arange(118), np.full(118, -1), cycle=0)
    >>> for cycle in range(5):
    ...     cost = membership.step(cycle, network)
    >>> tables = membership.tables()
    >>> bool((tables.super_table[tables.topic > 0, 0, 0] >= 0).all())
    True
    """

    name = "unstructured"
    cycles_to_join = 1

    def __init__(
        self,
        tree: TopicTree,
        topic: ArrayLike,
        seed: int,
        settings: Settings | None = None,
        scamp: ScampSettings | None = None,
        finder: Finder | None = None,
    ) -> None:
        self.seed = seed
        self.topic = np.asarray(topic, np.int32)
        self.gateways = Gateways(tree.capacity)
        self.scamp = Scamp(len(self.topic), seed, scamp)
        self.supers = SuperTables(
            tree, self.topic, finder or self.gateways, lambda: self.scamp.views.partial, seed, settings
        )
        self.joining = np.empty(0, np.int64)

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` afresh; a contact is of the own community or of a supertopic, -1 asks a gateway."""
        peers, contacts = np.asarray(peers, np.int64), np.asarray(contacts, np.int64)
        self.supers.join(peers, contacts, cycle)
        own = (contacts >= 0) & (self.topic[contacts] == self.topic[peers])
        self.scamp.join(peers[own], contacts[own], cycle)
        self.joining = np.concatenate([self.joining[~np.isin(self.joining, peers)], peers[~own]])

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Unsubscribe `peers`."""
        self.scamp.leave(peers, cycle)
        self.supers.leave(peers, cycle)
        self.joining = self.joining[~np.isin(self.joining, peers)]

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Admit newcomers, then let SCAMP and the super-topic tables take their turn."""
        newcomers = self.joining[network.alive[self.joining] == 1]
        self.joining = self.joining[:0]
        contacts = self.gateways.admit(newcomers, self.topic, cycle, network, self.seed)
        self.scamp.join(newcomers, contacts, cycle)
        topic_tables = self.scamp.step(cycle, network)
        super_tables = self.supers.step(cycle, network)
        cost = add_up(topic_tables, super_tables)
        cost["messages"] += 2 * len(newcomers)
        cost["bytes"] += 2 * WORD * len(newcomers)
        return {
            **cost,
            "topic tables": topic_tables["messages"],
            "super tables": super_tables["messages"],
        }

    def topics_changed(self) -> None:
        """Take up topics, or further parents, that were added to the tree."""
        self.supers.topics_changed()
        self.gateways.grow(self.supers.tree.capacity)

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members somebody alive still knows of."""
        supers = self.supers.state.table[alive == 1]
        return self.scamp.referenced(alive) | named(len(alive), supers, self.gateways.table)

    def tables(self) -> Tables:
        """The views of SCAMP and the super-topic tables."""
        return Tables(self.topic, self.scamp.views.partial, self.supers.state.table)

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The views of SCAMP and the super-topic tables as (holders, members, stamps of 0)."""
        return table_links(self.scamp.views.partial, self.supers.state.table)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything a checkpoint has to keep."""
        return {
            **{f"scamp {name}": array for name, array in self.scamp.arrays().items()},
            **{f"supers {name}": array for name, array in self.supers.arrays().items()},
            "gateways": self.gateways.table,
            "waiting": self.joining,
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up the state that `arrays` gave."""
        self.scamp.load(part(arrays, "scamp "))
        self.supers.load(part(arrays, "supers "))
        self.gateways.table = arrays["gateways"].copy()
        self.joining = arrays["waiting"].copy()


def add_up(*costs: Mapping[str, int]) -> dict[str, int]:
    """What several parts cost together."""
    return {name: sum(cost[name] for cost in costs) for name in ("messages", "failed", "bytes")}


def part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays of one part of a membership, under the names the part gave them."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
