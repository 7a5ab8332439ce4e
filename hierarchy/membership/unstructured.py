"""The unstructured membership: SCAMP for topic tables, contacts from gateways or neighbours.

CAMCAST, Section 5.2.1, and Section 3.3 for members that know no gateway and ask their neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings
from hierarchy.compiled.common.channel import WORD, Channel, by_sender, channel_of
from hierarchy.compiled.common.rows import named
from hierarchy.compiled.super_tables.layer import Finder
from hierarchy.membership.gateways import FOUNDS, Gateways
from hierarchy.membership.scamp_membership import ScampMembership, add_up
from hierarchy.peers.settings import CensusSettings, ScampSettings
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.network import Network


class Unstructured(ScampMembership):
    """SCAMP views as topic tables; super-topic tables found and maintained as in Section 3.

    Parameters
    ----------
    tree : TopicTree
        The hierarchy of topics.
    topic : (n,) array
        Community of each current or future member.
    settings : Settings, optional
        Settings of CAMCAST.
    scamp : ScampSettings, optional
        Settings of SCAMP.
    finder : Finder, optional
        Finds super-contacts; by default the gateways.
    census : CensusSettings, optional
        Settings of the census, by which members estimate the size of their community.
    true_sizes : bool
        Whether members know the true sizes instead.

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
        census: CensusSettings | None = None,
        true_sizes: bool = False,
    ) -> None:
        self.gateways = Gateways(tree.capacity)
        super().__init__(tree, topic, seed, settings, scamp, finder or self.gateways, census, true_sizes)

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` with empty tables; contacts are in their community or a supertopic (-1: gateways)."""
        peers, contacts = np.asarray(peers, np.int64), np.asarray(contacts, np.int64)
        self._start(peers, contacts, cycle)
        within = (contacts >= 0) & (self.topic[contacts] == self.topic[peers])
        self.scamp.join(peers[within], contacts[within], cycle)
        self.waiting = self.waiting[~np.isin(self.waiting, peers[within])]

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Admit newcomers, then step SCAMP and the super-topic tables."""
        channel = channel_of(network)
        newcomers = self.waiting[network.alive[self.waiting] == 1]
        contacts = self.gateways.admit(newcomers, self.topic, cycle, channel, self.seed)
        answered = contacts >= FOUNDS
        self.waiting = np.setdiff1d(self.waiting, newcomers[answered], assume_unique=True)
        self.scamp.join(newcomers[answered], contacts[answered], cycle)
        asked = channel.cost(2 * len(newcomers), WORD)
        costs = add_up({"newcomers": asked, **self._keep_tables(cycle, network)})
        costs["contacts"] += costs.pop("newcomers")
        self.sent += ((channel.sent, WORD),)
        return costs

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle, by member."""
        return by_sender(self.sent + self.scamp.sent + self.supers.sent)

    def contacts_for(
        self, members: NDArray[np.int64], cycle: int, channel: Channel
    ) -> tuple[NDArray[np.int64], int]:
        """Ask the gateways of their community."""
        others = self.gateways.admit(members, self.topic, cycle, channel, self.seed)
        alone = members[others == FOUNDS]  # these members are their own only live gateways
        self.scamp.views.served[alone] = 1
        return others, 2 * len(members)

    def topics_changed(self) -> None:
        """Update the state after topics or further parents were added to the tree."""
        super().topics_changed()
        self.gateways.grow(self.supers.tree.capacity)

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live member still refers to."""
        return super().referenced(alive) | named(len(alive), self.gateways.table)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All state that a checkpoint stores."""
        return {**super().arrays(), "gateways": self.gateways.table}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that `arrays` returned."""
        super().load(arrays)
        self.gateways.table = np.array(arrays["gateways"])
