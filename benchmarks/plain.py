"""What the kernels are worth: the same work by the readable peers, by a plain compiled loop, and by a layer.

    python benchmarks/plain.py                     300 and 10,000 peers

The readable peers (`sub2sub/*/peer.py`, stepped as the tests do) are plain Python, and take the same
decisions: their rings are compared. The plain compiled loop is CYCLON as one would first write it with numba:
a matrix of peers, one of ages, a permutation for every sample, one comparison after the other. It draws other
numbers, so only its time is compared. Processor time of one thread, all in one run, the best of several
cycles.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from sub2sub import Network, Overlay, OverlaySettings, Population
from sub2sub.compiled.common.threads import use_threads
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.peers.ring import RingPeer
from workloads import named

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.sub2sub.overlay.engine import CyclonEngine, RingEngine, VicinityEngine, descriptors, row

FEW, MANY, CYCLES = 300, 10_000, 8
VIEW, SHUFFLE = 20, 8


@numba.njit
def plain_cyclon(view: np.ndarray, age: np.ndarray) -> None:
    """One cycle of CYCLON; -1 in a view is a free place."""
    n, width = view.shape
    for i in range(n):
        oldest = -1
        for k in range(width):
            age[i, k] += 1
            if view[i, k] >= 0 and (oldest < 0 or age[i, k] > age[i, oldest]):
                oldest = k
        if oldest < 0:
            continue
        q = view[i, oldest]
        mine = np.random.permutation(width)[: SHUFFLE - 1]  # noqa: NPY002  (numba knows no other)
        his = np.random.permutation(width)[:SHUFFLE]  # noqa: NPY002
        sent, sent_age = np.append(view[i, mine], i), np.append(age[i, mine], 0)
        back, back_age = view[q, his].copy(), age[q, his].copy()
        view[i, oldest] = -1
        plain_merge(q, view[q], age[q], sent, sent_age, his)
        plain_merge(i, view[i], age[i], back, back_age, mine)


@numba.njit
def plain_merge(
    own: int, row: np.ndarray, age: np.ndarray, links: np.ndarray, ages: np.ndarray, sent: np.ndarray
) -> None:
    """Fill free places with what is not known, then overwrite what was sent."""
    used = 0
    for k in range(links.size):
        peer = links[k]
        if peer < 0 or peer == own or (row == peer).any():
            continue
        place = -1
        for at in range(row.size):
            if row[at] < 0:
                place = at
                break
        if place < 0:
            if used == sent.size:
                break
            place = sent[used]
            used += 1
        row[place], age[place] = peer, ages[k]


def seconds(step: Callable[[int], object], cycles: int = CYCLES) -> float:
    """Processor seconds of the quickest of some cycles, after one that may compile."""
    taken = []
    for cycle in range(1, cycles + 2):
        before = time.process_time()
        step(cycle)
        taken.append(time.process_time() - before)
    return min(taken[1:])


def against_a_plain_loop(n: int) -> None:
    """CYCLON alone."""
    contacts = (np.arange(n) + 1) % n
    view, age = np.full((n, VIEW), -1), np.zeros((n, VIEW), np.int64)
    view[:, 0] = contacts
    layer, network = Cyclon(n, seed=1), Network.whole(n)
    layer.join(np.arange(n), contacts, cycle=0)
    for cycle in range(1, 11):  # until views are full
        plain_cyclon(view, age)
        layer.step(cycle, network)
    plain = seconds(lambda cycle: plain_cyclon(view, age))
    ours = seconds(lambda cycle: layer.step(cycle + 10, network))
    print(f"CYCLON, {n:,} peers: a plain compiled loop {1e6 * plain / n:.2f} us a peer, "
          f"the layer {1e6 * ours / n:.2f}: {plain / ours:.1f} times as fast")  # fmt: skip


class Readable:
    """An overlay of readable peers."""

    def __init__(self, overlay: Overlay) -> None:
        settings, seed = overlay.settings, overlay.seed
        boxes = overlay.population.boxes[:, :, : overlay.population.d]
        population = descriptors([list(zip(low.tolist(), high.tolist(), strict=True)) for low, high in boxes])
        self.cyclon = CyclonEngine(population, settings.cyclon, seed)
        self.vicinity = VicinityEngine(population, self.cyclon, settings.vicinity, seed)
        self.ring = RingEngine(population, settings.ring, seed)
        self.ring.peers = [RingPeer(own, settings.ring, around=len(population)) for own in population]
        for number, peer, stamp in zip(*overlay.cyclon.links(), strict=True):
            self.cyclon.join(int(number), int(peer), int(stamp))
        self.network = overlay.network

    def step(self, cycle: int) -> None:
        """Step the layers."""
        self.cyclon.step(cycle, self.network)
        self.vicinity.step(cycle, self.network)
        layers = self.vicinity.peers, self.cyclon.peers
        self.ring.step(cycle, self.network, [row(a.view) + row(b.view) for a, b in zip(*layers, strict=True)])


def against_readable_peers(n: int) -> None:
    """The whole stack, while rings form."""
    lows, highs = named("power-law-3").subscriptions(n, 1)
    overlay = Overlay(Population.of(lows, highs, seed=1), OverlaySettings.paper(), seed=1)
    overlay.bootstrap()
    readable = Readable(overlay)
    plain = seconds(readable.step)
    ours = seconds(overlay.step)
    holders, peers, _ = overlay.ring.links()
    same = set(zip(holders.tolist(), peers.tolist(), strict=True)) == {
        (peer.own.id, link[0]) for peer, links in zip(readable.ring.peers, readable.ring.links(), strict=True)
        for link in links
    }  # fmt: skip
    rings = "the same" if same else "OTHER"
    print(f"whole stack, {n:,} peers: readable peers {1e6 * plain / n:.0f} us a peer, the layers "
          f"{1e6 * ours / n:.2f}: {plain / ours:.0f} times as fast; {rings} rings")  # fmt: skip


def main() -> None:
    """Measure both."""
    use_threads(1)
    against_readable_peers(FEW)
    against_a_plain_loop(MANY)


if __name__ == "__main__":
    main()
