"""Peers that come and go: newcomers get numbers, hosts and contacts; those that leave are never seen again.

The faults of a simulation (`sims.engine.faults`) and programs (`sub2sub.overlay.subscribers`) use the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.growth import make_room
from sub2sub.compiled.common.randomness import draws

Peers = NDArray[np.int64]


def choose(key: np.uint64, among: Peers, count: int) -> Peers:
    """Choose `count` of the peers in `among` at random; return them in ascending order."""
    return np.sort(among[np.argsort(draws(key, among), kind="stable")[:count]])


def _contacts(key: np.uint64, peers: Peers, among: Peers) -> Peers:
    """Choose a random contact in `among` for each of `peers`.

    If there is none, because all change at once or nobody is there, each joins by one before it.
    """
    drawn, order = draws(key, peers, 1), np.arange(len(peers))
    if among.size == 0:
        before = (drawn % np.maximum(order, 1).astype(np.uint64)).astype(np.int64)
        return np.where(order > 0, peers[before], -1)
    return among[(drawn % np.uint64(among.size)).astype(np.int64)]


def enter(
    overlay: Any,
    keys: tuple[np.uint64, np.uint64],
    cycle: int,
    lows: ArrayLike,
    highs: ArrayLike,
    hosts: Peers | None = None,
    without: Peers | None = None,
) -> Peers:
    """Let newcomers with these subscriptions (closed ranges) join; return their peer numbers.

    They take numbers never used before, or those of departed peers to which no links are left. If there are
    too few, the population grows, and all peers have new numbers afterwards. Each newcomer has its own host,
    unless hosts are given. In a partitioned network a host that is already up stays in its group, and a new
    host enters the group of its contact. A contact is a live peer that is not in `without`. The random keys
    are for the numbers and for the contacts.
    """
    wanted = len(np.asarray(lows))
    moved = make_room(overlay, wanted)
    newcomers = choose(keys[0], np.flatnonzero(overlay.population.dormant), wanted)
    if moved is not None and without is not None:
        without = moved.peers(without)
    population, alive, group = overlay.population, overlay.network.alive, overlay.network.group
    live = np.flatnonzero(alive)
    if hosts is None:
        hosts = int(population.host.max()) + 1 + np.arange(wanted)
    among = live if without is None else np.setdiff1d(live, without)
    contacts = _contacts(keys[1], newcomers, among)
    part = group[contacts] if among.size else np.zeros(wanted, group.dtype)
    by_host = live[np.argsort(population.host[live], kind="stable")]
    is_up = np.isin(hosts, population.host[live])
    part[is_up] = group[by_host[np.searchsorted(population.host[by_host], hosts[is_up])]]
    for number in np.unique(part[part != group[contacts]]):
        inside = among[group[among] == number]
        misplaced = np.flatnonzero((part == number) & (group[contacts] != number))
        if inside.size:
            contacts[misplaced] = _contacts(keys[1], newcomers[misplaced], inside)
    population.activate(newcomers, lows, highs, hosts)
    group[newcomers] = part
    overlay.admit(newcomers, contacts, cycle)
    return newcomers


def depart(overlay: Any, peers: Peers) -> None:
    """Let peers leave for good, without a word."""
    overlay.network.alive[peers] = 0
    overlay.population.retire(peers)
