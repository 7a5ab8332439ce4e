"""The simulations of CAMCAST Section 6.1: runs over static tables against the share of failed processes.

Setting: communities of 1000, 100 and 10 (g below d below a, the root), c = 5, g = 5, a = 1, z = 3, a
message arrives with probability 0.85, a random live process of g publishes, tables are drawn anew for
each run. The share of failed processes is each process's own chance, the paper's "probability for a
process to crash". Two models of failure: `crashed` processes are dead from the start, to everybody, and
stay in the tables; processes `seeming` crashed are alive, but missing from a table with that chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters, thin
from sims.reproduce.registry import Progress
from sub2sub.kernels.randomness import cycle_key, stream_number
from sub2sub.overlay.network import Network

__all__ = ["LEVELS", "P_SUCCESS", "SIZES", "Sweep", "mean", "random_publisher", "sweep"]

SIZES = (10, 100, 1000)
LEVELS = ("a", "d", "g")  # the paper's names of the three topics, the root first
P_SUCCESS = 0.85

Model = Literal["crashed", "seeming"]


@dataclass(frozen=True)
class Sweep:
    """Outcomes of all runs, (shares, runs, topics) each; NaN where nobody of a community is alive."""

    shares: NDArray[np.float64]
    alive: NDArray[np.float64]
    sent: NDArray[np.float64]
    upward: NDArray[np.float64]
    upward_arrived: NDArray[np.float64]
    reception: NDArray[np.float64]

    @property
    def everybody(self) -> NDArray[np.float64]:
        """1 for a run in which every live process of the community received the event, else 0."""
        return np.where(np.isnan(self.reception), np.nan, self.reception == 1.0)

    @property
    def overall_reception(self) -> NDArray[np.float64]:
        """Share of all live processes that received the event, as (shares,)."""
        received = np.nansum(self.reception * self.alive, axis=(1, 2))
        shares: NDArray[np.float64] = received / self.alive.sum(axis=(1, 2))
        return shares

    def at(self, share: float) -> int:
        """Index of the share nearest to `share`."""
        return int(np.abs(self.shares - share).argmin())

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """Means over the runs as the columns of a table."""
        columns = {"failed": self.shares}
        for name in ("sent", "upward", "upward_arrived", "reception", "everybody"):
            for t, level in enumerate(LEVELS):
                columns[f"{name}_{level}"] = mean(getattr(self, name))[:, t]
        return columns


def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the runs, as (shares, topics)."""
    means: NDArray[np.float64] = np.nanmean(values, axis=1)
    return means


def sweep(
    model: Model, quick: bool, seed: int, progress: Progress, settings: TopicSettings | None = None
) -> Sweep:
    """Run the setting of Section 6.1 for failed shares from 0 to 0.9."""
    communities = Communities.chain(*SIZES)
    static = StaticTables(communities, settings)
    params = parameters(communities.sizes, settings)
    shares = np.linspace(0, 0.9, 10 if quick else 19)
    runs = 40 if quick else 100
    results = np.full((5, len(shares), runs, len(SIZES)), np.nan)
    for run in range(runs):
        tables = static.draw(seed, run)
        dice = np.random.default_rng(int(cycle_key(seed, stream_number("camcast sweep"), run)))
        fate = dice.random(len(communities))
        for i, share in enumerate(shares):
            network = Network.whole(len(communities))
            network.loss = 1 - P_SUCCESS
            known = tables
            if model == "crashed":
                network.alive[:] = fate >= share
            else:
                known = thin(tables, float(share), seed, run)
            publisher = random_publisher(communities, len(SIZES) - 1, network, dice)
            spread = disseminate(known, params, publisher, seed=seed, event=run, network=network)
            alive = np.bincount(communities.topic[network.alive == 1], minlength=len(SIZES))
            reception = np.divide(spread.delivered, alive, out=np.full(len(SIZES), np.nan), where=alive > 0)
            results[:, i, run] = alive, spread.sent, spread.upward, spread.upward_arrived, reception
        progress(run + 1, runs)
    return Sweep(shares, *results)


def random_publisher(
    communities: Communities, topic: int, network: Network, dice: np.random.Generator
) -> int:
    """A live member of a community, chosen at random."""
    members = communities.community(topic)
    return int(dice.choice(members[network.alive[members] == 1]))
