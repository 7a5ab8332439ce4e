"""hpmcast's membership as an overlay the engine can drive: subscribers, network and one layer.

The subscribers are those of every other overlay here (`sub2sub.overlay.population`); their sequence IDs are
read as addresses, so participants are numbered by address as the hierarchy wants them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.addresses import AddressSpace
from hierarchy.hpmcast.membership.layer import Membership
from hierarchy.hpmcast.population import Population
from hierarchy.hpmcast.settings import Condensation, Upkeep
from sub2sub.errors import InputError
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.network import Network
from sub2sub.overlay.population import Population as Subscribers

STREAM = stream_number("hpmcast-bootstrap")


class Hierarchy:
    """The membership overlay of subscribers whose sequence IDs are addresses.

    Parameters
    ----------
    population : sub2sub.overlay.population.Population
        With `ids` in the address space; dormant peers may join later, at the addresses they have.
    space : AddressSpace
    condensation : Condensation, optional
    upkeep : Upkeep, optional
    capacity : (n,) array_like, optional
    seed : int
    network : Network, optional

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
        self.population, self.seed = population, seed
        self.network = network or Network.whole(len(population))
        self.network.alive[:] &= population.present.astype(np.uint8)
        self.membership = Membership(
            Population.at(space, population.ids.astype(np.int64)),
            condensation or Condensation(),
            upkeep or Upkeep(),
            (population.boxes[:, 0, : population.d], population.boxes[:, 1, : population.d]),
            capacity,
            seed,
        )

    @property
    def layers(self) -> tuple[Membership]:
        """The layers in the order they are stepped."""
        return (self.membership,)

    def bootstrap(self, cycle: int = 0) -> None:
        """Start everybody alive at once, each but the first knowing a random one before it."""
        peers = np.flatnonzero(self.network.alive).astype(np.int64)
        places = np.arange(peers.size)
        chosen = draws(cycle_key(self.seed, STREAM, cycle), places) % np.maximum(places, 1).astype(np.uint64)
        contacts = np.where(places > 0, peers[chosen.astype(np.int64)], -1)
        self.join(peers, contacts, cycle)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let peers (re)start from a contact each, with the subscriptions they have now."""
        self.network.alive[peers] = 1
        d = self.population.d
        boxes = self.population.boxes[peers]
        self.membership.resubscribe(peers, (boxes[:, 0, :d], boxes[:, 1, :d]))
        self.membership.join(peers, contacts, cycle)

    def step(self, cycle: int) -> dict[str, Mapping[str, int]]:
        """One cycle of the layer; what it cost."""
        return {self.membership.name: self.membership.step(cycle, self.network)}

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers somebody else alive has in a view."""
        mask = np.zeros(len(self.population), bool)
        holders, peers, _ = self.membership.links()
        mask[peers[(self.network.alive[holders] == 1) & (holders != peers)]] = True
        return mask
