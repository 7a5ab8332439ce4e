"""Faults: crashes, recoveries, joins, departures, partitions, message loss and changed subscriptions.

Each fault is a control with a schedule. The affected hosts are drawn from the simulation's seed, the
control's name and the cycle. All peers of one host (`sub2sub.compiled.events.hosts`) crash, recover and are
partitioned together. A crashed or departed peer takes no turns and does not answer. It does not announce its
departure, so links to it have to age out. A peer that recovers still has its old links. A peer that joins
starts from one random live contact. A peer that has left never returns, and neither does a subscription that
was changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.randomness import draws
from sub2sub.errors import InputError
from sub2sub.overlay import arrivals
from workloads.arrays import Floats, Integers


def _share(name: str, value: float) -> None:
    if not isinstance(value, float | int | np.number) or not 0.0 <= value <= 1.0:
        raise InputError(f"{name}: expected a share from 0 to 1, got {value}")


def choose(simulation: Simulation, stream: str, among: Integers, count: int) -> Integers:
    """Choose `count` of the peers in `among` at random; return them in ascending order."""
    return arrivals.choose(simulation.key(stream), among, count)


def choose_hosts(simulation: Simulation, stream: str, among: Integers, share: float) -> Integers:
    """Choose a random share of the hosts of `among`; return the peers in `among` that run on them."""
    host = simulation.overlay.population.host[among]
    hosts = np.unique(host)
    return among[np.isin(host, choose(simulation, stream, hosts, round(share * hosts.size)))]


class _Fault:
    """A fault, which may happen to a share of the hosts or peers.

    Attributes
    ----------
    share : float
        Share of the live hosts, from 0 to 1.
    name : str
        Name of the control: names its table and selects its random numbers.
    """

    name: str
    share: float

    def __post_init__(self) -> None:
        _share(f"{self.name}.share", self.share)


@dataclass(frozen=True)
class _Departure(_Fault):
    """Peers that go down.

    Attributes
    ----------
    peers : tuple of int
        The peers that go down, instead of a share.
    """

    share: float = 0.0
    peers: tuple[int, ...] = ()
    name: str = "departure"

    def chosen(self, simulation: Simulation) -> Integers:
        """The given peers or, if none are given, the peers on a random share of the live hosts."""
        alive = simulation.overlay.network.alive
        given = np.asarray(self.peers, np.int64)
        if not self.peers:
            return choose_hosts(simulation, self.name, np.flatnonzero(alive), self.share)
        bad = given[(given < 0) | (given >= alive.size)]
        if bad.size:
            raise InputError(f"{self.name}.peers: expected peers from 0 to {alive.size - 1}, got {bad[0]}")
        return given


@dataclass(frozen=True)
class Crash(_Departure):
    """Crash a share of the live hosts, or the given peers, all at once."""

    name: str = "crash"

    def execute(self, simulation: Simulation) -> Row:
        """Crash the chosen peers."""
        hit = self.chosen(simulation)
        simulation.overlay.network.alive[hit] = 0
        return {"peers": int(hit.size)}


@dataclass(frozen=True)
class Leave(_Departure):
    """A share of the live hosts, or the given peers, leave for ever, which looks like a crash to others."""

    name: str = "leave"

    def execute(self, simulation: Simulation) -> Row:
        """Let the chosen peers leave."""
        hit = self.chosen(simulation)
        depart(simulation, hit)
        return {"peers": int(hit.size)}


@dataclass(frozen=True)
class Recover(_Fault):
    """A share of the hosts that are down recover, with the links they had.

    Attributes
    ----------
    share : float
        Share of the hosts that are down, from 0 to 1.
    """

    share: float = 1.0
    name: str = "recover"

    def execute(self, simulation: Simulation) -> Row:
        """Let the chosen hosts recover."""
        overlay = simulation.overlay
        down = np.flatnonzero((overlay.network.alive == 0) & overlay.population.present)
        back = choose_hosts(simulation, self.name, down, self.share)
        overlay.network.alive[back] = 1
        return {"peers": int(back.size)}


@dataclass(frozen=True)
class Loss(_Fault):
    """From now on each message is lost with this probability.

    Attributes
    ----------
    probability : float
        Probability of loss, from 0 to 1; 0 ends the loss.
    """

    probability: float
    name: str = "loss"

    def __post_init__(self) -> None:
        _share(f"{self.name}.probability", self.probability)

    def execute(self, simulation: Simulation) -> Row:
        """Set the probability of loss."""
        simulation.overlay.network.loss = self.probability
        return {"probability": self.probability}


@dataclass(frozen=True)
class Partition(_Fault):
    """Divide the hosts at random into groups that cannot reach each other; one group ends the partition.

    Attributes
    ----------
    groups : int
        Number of groups, from 1 to 255.
    """

    groups: int = 2
    name: str = "partition"

    def __post_init__(self) -> None:
        if not 1 <= self.groups <= 255:
            raise InputError(f"{self.name}.groups: expected 1 to 255, got {self.groups}")

    def execute(self, simulation: Simulation) -> Row:
        """Draw a group for every host."""
        key, hosts = simulation.key(self.name), np.maximum(simulation.overlay.population.host, 0)
        simulation.overlay.network.group[:] = draws(key, hosts) % np.uint64(self.groups)
        return {"groups": self.groups}


def depart(simulation: Simulation, peers: Integers) -> None:
    """Let peers leave for good."""
    arrivals.depart(simulation.overlay, peers)


def enter(
    simulation: Simulation,
    name: str,
    lows: Floats,
    highs: Floats,
    hosts: Integers | None = None,
    without: Integers | None = None,
) -> Integers:
    """Let newcomers join (`sub2sub.overlay.arrivals.enter`), with the random numbers of a control."""
    keys = simulation.key(f"{name}/slots"), simulation.key(name)
    try:
        return arrivals.enter(simulation.overlay, keys, simulation.cycle, lows, highs, hosts, without)
    except InputError as error:
        raise InputError(f"{name}, cycle {simulation.cycle}: {error}") from None


@dataclass(frozen=True)
class Churn(_Fault):
    """A share of the live hosts leaves; newcomers join with the subscriptions of the peers that left."""

    share: float
    name: str = "churn"

    def execute(self, simulation: Simulation) -> Row:
        """Replace the peers on the chosen hosts with newcomers."""
        population = simulation.overlay.population
        live = np.flatnonzero(simulation.overlay.network.alive)
        gone = choose_hosts(simulation, self.name, live, self.share)
        lows, highs = (side[gone] for side in population.ranges())
        _, number = np.unique(population.host[gone], return_inverse=True)
        hosts = int(population.host.max()) + 1 + number
        depart(simulation, gone)
        enter(simulation, self.name, lows, highs, hosts)
        return {"peers": int(gone.size)}


@dataclass(frozen=True)
class Resubscribe(_Fault):
    """A share of the live peers exchange their subscriptions with each other at random.

    A peer that changes its subscription leaves as one peer and joins as another on the same host, which may
    tell others so (`RingSettings.tell_changes`).

    Attributes
    ----------
    share : float
        Share of the live peers, from 0 to 1.
    """

    share: float
    name: str = "resubscribe"

    def execute(self, simulation: Simulation) -> Row:
        """Exchange subscriptions."""
        population = simulation.overlay.population
        live = np.flatnonzero(simulation.overlay.network.alive)
        changing = choose(simulation, self.name, live, round(self.share * live.size))
        lows, highs = (side[np.roll(changing, 1)] for side in population.ranges())
        hosts, row = population.host[changing], population.row[changing]
        newcomers = enter(simulation, self.name, lows, highs, hosts, without=changing)
        changing = np.flatnonzero(np.isin(population.row, row))  # their numbers may have changed
        depart(simulation, changing)
        if hasattr(simulation.overlay, "change"):
            simulation.overlay.change(changing, newcomers)
        return {"peers": int(changing.size)}
