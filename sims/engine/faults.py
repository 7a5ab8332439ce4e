"""Faults: crashes, recoveries, joins, departures, partitions, message loss and changed subscriptions.

Each fault is a control with a schedule. The affected hosts are drawn from the simulation's seed, the
control's name and the cycle. All peers of one host (`sub2sub.events.hosts`) crash, recover and are
partitioned together. A crashed or departed peer takes no turns and does not answer. It does not announce its
departure, so links to it have to age out. A peer that recovers still has its old links. A peer that joins
starts from one random live contact. A peer that has left never returns, and neither does a subscription that
was changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError
from sub2sub.kernels.randomness import draws
from sub2sub.overlay.growth import Renumbering, make_room

Peers = NDArray[np.int64]


def _share(name: str, value: float) -> None:
    if not isinstance(value, float | int | np.number) or not 0.0 <= value <= 1.0:
        raise InputError(f"{name}: expected a share from 0 to 1, got {value}")


def choose(simulation: Simulation, stream: str, among: Peers, count: int) -> Peers:
    """Choose `count` of the peers in `among` at random; return them in ascending order."""
    key = simulation.key(stream)
    marks = draws(key, among)
    return np.sort(among[np.argsort(marks, kind="stable")[:count]])


def choose_hosts(simulation: Simulation, stream: str, among: Peers, share: float) -> Peers:
    """Choose a random share of the hosts of `among`; return the peers in `among` that run on them."""
    host = simulation.overlay.population.host[among]
    hosts = np.unique(host)
    return among[np.isin(host, choose(simulation, stream, hosts, round(share * hosts.size)))]


def contacts_for(simulation: Simulation, stream: str, peers: Peers, among: Peers | None = None) -> Peers:
    """Choose a random live contact for each of `peers`, other than itself; from `among` if given."""
    if among is None:
        live = np.flatnonzero(simulation.overlay.network.alive)
        among = live[~np.isin(live, peers)]
    if among.size == 0:
        raise InputError(f"{stream}: expected a live peer to contact, there is none")
    key = simulation.key(stream)
    return among[(draws(key, peers, 1) % np.uint64(among.size)).astype(np.int64)]


def _hit(simulation: Simulation, name: str, share: float, peers: tuple[int, ...]) -> Peers:
    """The given peers or, if none are given, the peers on a random share of the live hosts."""
    alive = simulation.overlay.network.alive
    given = np.asarray(peers, np.int64)
    if not peers:
        return choose_hosts(simulation, name, np.flatnonzero(alive), share)
    bad = given[(given < 0) | (given >= alive.size)]
    if bad.size:
        raise InputError(f"{name}.peers: expected peers from 0 to {alive.size - 1}, got {bad[0]}")
    return given


class _OfShare:
    """A fault that happens to a share of the hosts or peers."""

    name: str
    share: float

    def __post_init__(self) -> None:
        _share(f"{self.name}.share", self.share)


@dataclass(frozen=True)
class Crash(_OfShare):
    """Crash a share of the live hosts, or the given peers, all at once.

    Attributes
    ----------
    share : float
        Share of the live hosts, from 0 to 1.
    peers : tuple of int
        The peers that go down, instead of a share.
    name : str
        Name of the control: names its table and selects its random numbers.
    """

    share: float = 0.0
    peers: tuple[int, ...] = ()
    name: str = "crash"

    def execute(self, simulation: Simulation) -> Row:
        """Crash the chosen peers."""
        hit = _hit(simulation, self.name, self.share, self.peers)
        simulation.overlay.network.alive[hit] = 0
        return {"peers": int(hit.size)}


@dataclass(frozen=True)
class Leave(_OfShare):
    """A share of the live hosts, or the given peers, leave for ever; others cannot tell it from a crash.

    Attributes
    ----------
    share : float
        Share of the live hosts, from 0 to 1.
    peers : tuple of int
        The peers that leave, instead of a share.
    name : str
        Name of the control: names its table and selects its random numbers.
    """

    share: float = 0.0
    peers: tuple[int, ...] = ()
    name: str = "leave"

    def execute(self, simulation: Simulation) -> Row:
        """Let the chosen peers leave."""
        hit = _hit(simulation, self.name, self.share, self.peers)
        depart(simulation, hit)
        return {"peers": int(hit.size)}


@dataclass(frozen=True)
class Recover(_OfShare):
    """A share of the hosts that are down recover, with the links they had.

    Attributes
    ----------
    share : float
        Share of the hosts that are down, from 0 to 1.
    name : str
        Name of the control: names its table and selects its random numbers.
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
class Loss:
    """From now on each message is lost with this probability.

    Attributes
    ----------
    probability : float
        Probability of loss, from 0 to 1; 0 ends the loss.
    name : str
        Name of the control: names its table and selects its random numbers.
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
class Partition:
    """Divide the hosts at random into groups that cannot reach each other; one group ends the partition.

    Attributes
    ----------
    groups : int
        Number of groups, from 1 to 255.
    name : str
        Name of the control: names its table and selects its random numbers.
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


def depart(simulation: Simulation, peers: Peers) -> None:
    """Let peers leave for good."""
    simulation.overlay.network.alive[peers] = 0
    simulation.overlay.population.retire(peers)


def _places(simulation: Simulation, name: str, count: int) -> tuple[Peers, Renumbering | None]:
    """Choose rows for newcomers: never used ones, or those of departed peers to which no links are left.

    And the new numbers of all peers if the population had to grow for that.
    """
    overlay = simulation.overlay
    try:
        moved = make_room(overlay, count)
    except InputError as error:
        raise InputError(f"{name}, cycle {simulation.cycle}: {error}") from None
    return choose(simulation, f"{name}/slots", np.flatnonzero(overlay.population.dormant), count), moved


def enter(
    simulation: Simulation,
    name: str,
    lows: NDArray[np.float64],
    highs: NDArray[np.float64],
    hosts: Peers | None = None,
    without: Peers | None = None,
) -> Peers:
    """Let newcomers with these subscriptions (closed ranges) join; return their peer numbers.

    Each newcomer has its own host, unless hosts are given. In a partitioned network a host that is already
    up stays in its group, and a new host enters the group of its contact. A contact is a live peer that is
    not in `without`. If the population has to grow for them, all peers have new numbers afterwards.
    """
    overlay = simulation.overlay
    newcomers, moved = _places(simulation, name, len(lows))
    if moved is not None and without is not None:
        without = moved.peers(without)
    population, alive, group = overlay.population, overlay.network.alive, overlay.network.group
    live = np.flatnonzero(alive)
    if hosts is None:
        hosts = int(population.host.max()) + 1 + np.arange(len(lows))
    among = live if without is None else np.setdiff1d(live, without)
    contacts = contacts_for(simulation, name, newcomers, among)
    part = group[contacts]
    by_host = live[np.argsort(population.host[live], kind="stable")]
    at = np.minimum(np.searchsorted(population.host[by_host], hosts), by_host.size - 1)
    is_up = population.host[by_host[at]] == hosts
    part[is_up] = group[by_host[at[is_up]]]
    for number in np.unique(part[part != group[contacts]]):
        inside = among[group[among] == number]
        misplaced = np.flatnonzero((part == number) & (group[contacts] != number))
        if inside.size:
            contacts[misplaced] = contacts_for(simulation, name, newcomers[misplaced], inside)
    population.activate(newcomers, lows, highs, hosts)
    group[newcomers] = part
    overlay.join(newcomers, contacts, simulation.cycle)
    return newcomers


@dataclass(frozen=True)
class Join:
    """Newcomers with these subscriptions (closed ranges) join, each on a new host unless hosts are given."""

    lows: ArrayLike
    highs: ArrayLike
    hosts: ArrayLike | None = None
    name: str = "join"

    def execute(self, simulation: Simulation) -> Row:
        """Let the newcomers join."""
        lows, highs = np.asarray(self.lows, float), np.asarray(self.highs, float)
        hosts = None if self.hosts is None else np.asarray(self.hosts, np.int64)
        if hosts is not None and hosts.shape != lows.shape[:1]:
            raise InputError(f"{self.name}.hosts: expected {len(lows)} hosts, got shape {hosts.shape}")
        return {"peers": int(enter(simulation, self.name, lows, highs, hosts).size)}


@dataclass(frozen=True)
class Churn(_OfShare):
    """A share of the live hosts leaves; newcomers join with the subscriptions of the peers that left.

    Attributes
    ----------
    share : float
        Share of the live hosts, from 0 to 1.
    name : str
        Name of the control: names its table and selects its random numbers.
    """

    share: float
    name: str = "churn"

    def execute(self, simulation: Simulation) -> Row:
        """Replace the peers on the chosen hosts with newcomers."""
        population = simulation.overlay.population
        gone = choose_hosts(
            simulation, self.name, np.flatnonzero(simulation.overlay.network.alive), self.share
        )
        lows, highs = (side[gone] for side in population.ranges())
        _, number = np.unique(population.host[gone], return_inverse=True)
        hosts = int(population.host.max()) + 1 + number
        depart(simulation, gone)
        enter(simulation, self.name, lows, highs, hosts)
        return {"peers": int(gone.size)}


@dataclass(frozen=True)
class Resubscribe(_OfShare):
    """A share of the live peers exchange their subscriptions with each other at random.

    A peer that changes its subscription leaves as one peer and joins as another on the same host, which may
    tell others so (`RingSettings.tell_changes`).

    Attributes
    ----------
    share : float
        Share of the live peers, from 0 to 1.
    name : str
        Name of the control: names its table and selects its random numbers.
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
        changing = np.flatnonzero(np.isin(population.row, row))  # by their numbers now
        depart(simulation, changing)
        if hasattr(simulation.overlay, "change"):
            simulation.overlay.change(changing, newcomers)
        return {"peers": int(changing.size)}
