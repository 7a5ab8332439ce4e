"""What befalls a population: crash, recovery, joining, churn, partition, loss, changed subscriptions.

Each is a control with a schedule. Who is hit is drawn from the simulation's seed, the control's name and
the cycle. A crashed or departed peer takes no turn and answers nobody; it tells nobody either, and what
others know of it has to age out. A peer that recovers keeps its links as they were; one that joins starts
from one random live contact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError
from sub2sub.randomness import draws

__all__ = ["Churn", "Crash", "Join", "Loss", "Partition", "Recover", "Resubscribe", "choose", "contacts_for"]


def _share(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name}: expected a share from 0 to 1, got {value}")


def choose(simulation: Simulation, stream: str, among: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """`count` of `among` at random, in ascending order."""
    key = simulation.key(stream)
    marks = draws(key, among)
    return np.sort(among[np.argsort(marks, kind="stable")[:count]])


def contacts_for(simulation: Simulation, stream: str, peers: NDArray[np.int64]) -> NDArray[np.int64]:
    """A random live contact for each of `peers`, none of them itself."""
    live = np.flatnonzero(simulation.overlay.network.alive)
    live = live[~np.isin(live, peers)]
    if live.size == 0:
        raise InputError(f"{stream}: expected a live peer to contact, there is none")
    key = simulation.key(stream)
    return live[(draws(key, peers, 1) % np.uint64(live.size)).astype(np.int64)]


@dataclass(frozen=True)
class Crash:
    """A share of the live peers, or the given peers, go down at once."""

    share: float = 0.0
    peers: tuple[int, ...] = ()
    name: str = "crash"

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        _share(f"{self.name}.share", self.share)

    def execute(self, simulation: Simulation) -> Row:
        """Take them down."""
        alive = simulation.overlay.network.alive
        live = np.flatnonzero(alive).astype(np.int64)
        hit = np.asarray(self.peers, np.int64)
        if not self.peers:
            hit = choose(simulation, self.name, live, round(self.share * live.size))
        alive[hit] = 0
        return {"peers": int(hit.size)}


@dataclass(frozen=True)
class Recover:
    """Peers that have subscriptions and are down come up again, with the links they had."""

    share: float = 1.0
    name: str = "recover"

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        _share(f"{self.name}.share", self.share)

    def execute(self, simulation: Simulation) -> Row:
        """Bring them up."""
        overlay = simulation.overlay
        down = np.flatnonzero((overlay.network.alive == 0) & overlay.population.present).astype(np.int64)
        back = choose(simulation, self.name, down, round(self.share * down.size))
        overlay.network.alive[back] = 1
        return {"peers": int(back.size)}


@dataclass(frozen=True)
class Loss:
    """From now on each message is lost with this probability."""

    probability: float
    name: str = "loss"

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        _share(f"{self.name}.probability", self.probability)

    def execute(self, simulation: Simulation) -> Row:
        """Set it."""
        simulation.overlay.network.loss = self.probability
        return {"probability": self.probability}


@dataclass(frozen=True)
class Partition:
    """Divide the peers at random into groups that do not reach each other; one group merges all."""

    groups: int = 2
    name: str = "partition"

    def __post_init__(self) -> None:
        """Refuse numbers of groups that cannot be."""
        if not 1 <= self.groups <= 255:
            raise InputError(f"{self.name}.groups: expected 1 to 255, got {self.groups}")

    def execute(self, simulation: Simulation) -> Row:
        """Draw everybody's group."""
        key, group = simulation.key(self.name), simulation.overlay.network.group
        group[:] = draws(key, np.arange(group.size)) % np.uint64(self.groups)
        return {"groups": self.groups}


def _dormant(simulation: Simulation, name: str, count: int) -> NDArray[np.int64]:
    """Peers that newcomers can be: never used ones, or dead ones that nobody alive remembers."""
    overlay = simulation.overlay
    free = np.flatnonzero(~overlay.population.present).astype(np.int64)
    if free.size < count:
        forgotten = (overlay.network.alive == 0) & ~overlay.referenced()
        overlay.population.row[forgotten] = -1
        free = np.flatnonzero(~overlay.population.present).astype(np.int64)
    if free.size < count:
        raise InputError(
            f"{name}: expected {count} spare peers in cycle {simulation.cycle}, {free.size} are left: "
            "give the population more to spare"
        )
    return choose(simulation, f"{name}/slots", free, count)


@dataclass(frozen=True)
class Join:
    """Newcomers with these subscriptions (closed ranges) join, each through a random live contact."""

    lows: ArrayLike
    highs: ArrayLike
    name: str = "join"

    def execute(self, simulation: Simulation) -> Row:
        """Let them in."""
        lows, highs = np.asarray(self.lows, float), np.asarray(self.highs, float)
        hosts = int(simulation.overlay.population.host.max()) + 1 + np.arange(len(lows))
        newcomers = enter(simulation, self.name, lows, highs, hosts)
        return {"peers": int(newcomers.size)}


def enter(
    simulation: Simulation,
    name: str,
    lows: NDArray[np.float64],
    highs: NDArray[np.float64],
    hosts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Let newcomers with these subscriptions on these hosts join; which peers they are."""
    overlay = simulation.overlay
    newcomers = _dormant(simulation, name, len(lows))
    contacts = contacts_for(simulation, name, newcomers)
    overlay.population.settle(newcomers, lows, highs, hosts)
    overlay.join(newcomers, contacts, simulation.cycle)
    return newcomers


@dataclass(frozen=True)
class Churn:
    """A share of the live peers crashes, and as many newcomers with their subscriptions, shuffled, join."""

    share: float
    name: str = "churn"

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        _share(f"{self.name}.share", self.share)

    def execute(self, simulation: Simulation) -> Row:
        """Exchange them."""
        overlay = simulation.overlay
        live = np.flatnonzero(overlay.network.alive).astype(np.int64)
        gone = choose(simulation, self.name, live, round(self.share * live.size))
        lows, highs = (side[gone] for side in overlay.population.ranges())
        overlay.network.alive[gone] = 0
        hosts = int(overlay.population.host.max()) + 1 + np.arange(gone.size)
        enter(simulation, self.name, lows, highs, hosts)
        return {"peers": int(gone.size)}


@dataclass(frozen=True)
class Resubscribe:
    """A share of the live peers exchange their subscriptions among themselves, at random.

    A peer that changes its subscription leaves as one peer and joins as another on the same host.
    """

    share: float
    name: str = "resubscribe"

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        _share(f"{self.name}.share", self.share)

    def execute(self, simulation: Simulation) -> Row:
        """Exchange subscriptions."""
        overlay = simulation.overlay
        live = np.flatnonzero(overlay.network.alive).astype(np.int64)
        changing = choose(simulation, self.name, live, round(self.share * live.size))
        lows, highs = (side[np.roll(changing, 1)] for side in overlay.population.ranges())
        hosts = overlay.population.host[changing]
        overlay.network.alive[changing] = 0
        enter(simulation, self.name, lows, highs, hosts)
        return {"peers": int(changing.size)}
