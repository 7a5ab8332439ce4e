"""Isolated peers find the overlay again, and no peer asks without need."""

from __future__ import annotations

import numpy as np

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.cyclon.rendezvous import Rendezvous
from sub2sub.peers.settings import CyclonSettings

N, VIEW = 200, 8


def islands(patience: int) -> tuple[Cyclon, Rendezvous, Network]:
    """Pairs of peers that know only each other."""
    cyclon = Cyclon(N, CyclonSettings(view=VIEW, shuffle=4, retry=3), seed=1)
    rendezvous = Rendezvous(cyclon, patience, seed=1)
    for layer in (cyclon, rendezvous):
        layer.join(np.arange(N), np.arange(N) ^ 1, cycle=0)
    return cyclon, rendezvous, Network.whole(N)


def run(cyclon: Cyclon, rendezvous: Rendezvous, network: Network, first: int, last: int) -> list[int]:
    asked = []
    for cycle in range(first, last):
        asked.append(rendezvous.step(cycle, network)["messages"] // 2)
        cyclon.step(cycle, network)
    return asked


def test_without_rendezvous_an_island_stays_separate() -> None:
    cyclon, rendezvous, network = islands(patience=0)
    assert not any(run(cyclon, rendezvous, network, 1, 60))
    assert cyclon.size.max() == 1


def test_islands_are_joined_and_then_no_peer_asks() -> None:
    cyclon, rendezvous, network = islands(patience=10)
    asked = run(cyclon, rendezvous, network, 1, 60)
    assert sum(asked[:9]) == 0
    assert asked[9] == N
    assert not any(asked[-10:])
    assert (cyclon.size == VIEW).all()


def test_dead_peers_neither_ask_nor_are_named() -> None:
    cyclon, rendezvous, network = islands(patience=2)
    network.alive[::4] = 0
    asked = run(cyclon, rendezvous, network, 1, 3)
    assert asked[-1] == network.alive.sum()
    named = cyclon.lost[network.alive == 1]
    assert network.alive[named[named >= 0]].all()


def test_the_only_live_peer_finds_no_contact() -> None:
    cyclon, rendezvous, network = islands(patience=1)
    network.alive[1:] = 0
    run(cyclon, rendezvous, network, 1, 8)
    assert cyclon.size[0] == 0


def test_a_checkpoint_keeps_which_peers_will_ask() -> None:
    cyclon, rendezvous, network = islands(patience=4)
    run(cyclon, rendezvous, network, 1, 4)
    other = Rendezvous(cyclon, 4, seed=1)
    other.load({name: array.copy() for name, array in rendezvous.arrays().items()})
    rendezvous.step(4, network)
    first = cyclon.lost.copy()
    cyclon.lost[:] = -1
    other.step(4, network)
    assert np.array_equal(cyclon.lost, first)
