"""hpmcast's membership as an overlay for the engine: subscribers, network and one layer.

The subscribers are a population as in every other overlay (`sub2sub.overlay.population`). Their sequence IDs
are addresses, so participants are numbered by address, as hpmcast requires.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.addresses import AddressSpace
from hierarchy.hpmcast.membership.layer import Membership
from hierarchy.hpmcast.population import Population
from hierarchy.hpmcast.settings import Condensation, Upkeep
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws
from sub2sub.errors import InputError
from sub2sub.overlay.population import Population as Subscribers
from sub2sub.overlay.stack import Stack
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("hpmcast-bootstrap")


class Hierarchy(Stack):
    """The membership overlay of subscribers whose sequence IDs are addresses.

    Parameters
    ----------
    population : sub2sub.overlay.population.Population
        With `ids` in the address space; peers that are not alive may join later, with their addresses.

    Examples
    --------
    >>> low = np.random.default_rng(1).random((64, 1))
    >>> population = Subscribers.of(low, low + 0.1, ids=np.arange(64))
    >>> overlay = Hierarchy(population, AddressSpace((4, 4, 4)), seed=1)
    >>> overlay.bootstrap()
    >>> costs = [overlay.step(cycle)["hpmcast"]["messages"] for cycle in range(1, 40)]
    >>> overlay.membership.tables[2].members[0].tolist()
    [16, 16, 16, 16]
    """

    def __init__(
        self,
        population: Subscribers,
        space: AddressSpace,
        condensation: Condensation | None = None,
        upkeep: Upkeep | None = None,
        capacity: ArrayLike | None = None,
        seed: int = 0,
        network: Network | None = None,
    ) -> None:
        if population.ids[-1] >= space.capacity:
            last = len(population) - 1
            raise InputError(f"ids row {last}: expected below {space.capacity}, got {population.ids[last]}")
        self.membership = Membership(
            Population.at(space, population.ids.astype(np.int64)),
            condensation or Condensation(),
            upkeep or Upkeep(),
            (population.boxes[:, 0, : population.d], population.boxes[:, 1, : population.d]),
            capacity,
            seed,
        )
        super().__init__(population, [self.membership], seed, network)

    def bootstrap(self, cycle: int = 0) -> None:
        """Start all live peers at once; the contact of each is a random one before it."""
        peers = np.flatnonzero(self.network.alive).astype(np.int64)
        places = np.arange(peers.size)
        chosen = draws(cycle_key(self.seed, STREAM, cycle), places) % np.maximum(places, 1).astype(np.uint64)
        contacts = np.where(places > 0, peers[chosen.astype(np.int64)], -1)
        self.admit(peers, contacts, cycle)

    def settle(self, cycle: int = 0) -> None:
        """Start all live peers with exact tables."""
        self._started = True
        self.membership.make_exact(cycle, self.network.alive)

    def admit(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start or restart peers with one contact each and their current subscriptions."""
        d = self.population.d
        boxes = self.population.boxes[peers]
        self.membership.resubscribe(peers, (boxes[:, 0, :d], boxes[:, 1, :d]))
        super().admit(peers, contacts, cycle)

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers are in a view of another live peer."""
        mask = np.zeros(len(self.population), bool)
        holders, peers, _ = self.membership.links()
        mask[peers[(self.network.alive[holders] == 1) & (holders != peers)]] = True
        return mask
