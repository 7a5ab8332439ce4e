"""Single joins: a subscriber and all links to it are removed, and it joins again (Sub-2-Sub, Section 5).

It starts from one random contact. It has rejoined when it has a link to every ring neighbour that Figure 3
selects from the whole population, and each of them has a link to it. The paper does this for one subscriber
at a time. Here a batch rejoins together on a copy of the converged overlay: at most one peer in a hundred,
and no two with overlapping subscriptions, so that they share no ring.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.engine import Simulation
from sub2sub.compiled.common.randomness import draws
from sub2sub.geometry.boxes import overlaps
from sub2sub.overlay.forgetting import forget
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.rings.selection import select_ring

STREAM = stream_number("rejoin")
MOST_CYCLES = 150
Peers = NDArray[np.int64]


def ring_of(overlay: Overlay, peer: int) -> Peers:
    """The ring neighbours that a peer would select if it knew all peers."""
    population = overlay.population
    lows, highs = population.ranges()
    others = np.flatnonzero((overlay.network.alive == 1) & (np.arange(len(population)) != peer))
    own, boxes = population.boxes[peer], population.boxes[others]
    near = others[overlaps(own[0], own[1], boxes[:, 0], boxes[:, 1])]
    chosen = select_ring(
        lows[peer], highs[peer], int(population.ids[peer]), lows[near], highs[near], population.ids[near]
    )
    return near[np.union1d(chosen.successors, chosen.predecessors)]


def batches(overlay: Overlay, sample: Peers) -> list[Peers]:
    """Divide a sample of peers into batches that may rejoin together."""
    boxes, most = overlay.population.boxes, max(1, len(overlay.population) // 100)
    found: list[list[int]] = []
    for peer in sample.tolist():
        for batch in found:
            apart = ~overlaps(boxes[peer, 0], boxes[peer, 1], boxes[batch, 0], boxes[batch, 1]).any()
            if len(batch) < most and apart:
                batch.append(peer)
                break
        else:
            found.append([peer])
    return [np.array(batch, np.int64) for batch in found]


def rejoin(simulation: Simulation[Overlay], sample: Peers) -> NDArray[np.int64]:
    """Cycles that each of a sample of peers takes to be back; -1 if not back after `MOST_CYCLES`.

    The overlay has converged, and is left as it was.
    """
    overlay, place = simulation.overlay, {peer: k for k, peer in enumerate(sample.tolist())}
    took = np.full(sample.size, -1)
    settled = {layer.name: _copied(layer.arrays()) for layer in overlay.layers}
    for number, batch in enumerate(batches(overlay, sample)):
        wanted = {peer: ring_of(overlay, peer) for peer in batch.tolist()}
        cycle = simulation.cycle + 1
        forget(overlay, batch, cycle)
        overlay.admit(batch, _contacts(overlay, batch, number), cycle)
        missing = set(wanted)
        for k in range(MOST_CYCLES):
            overlay.step(cycle + k)
            back = {peer for peer in missing if _is_back(overlay, peer, wanted[peer])}
            took[[place[peer] for peer in back]] = k + 1
            missing -= back
            if not missing:
                break
        for layer in overlay.layers:
            layer.load(_copied(settled[layer.name]))
    return took


def _copied(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in arrays.items()}


def _contacts(overlay: Overlay, batch: Peers, number: int) -> Peers:
    others = np.setdiff1d(np.flatnonzero(overlay.network.alive), batch)
    bits = draws(cycle_key(overlay.seed, STREAM, number), batch)
    return others[(bits % np.uint64(others.size)).astype(np.int64)]


def _is_back(overlay: Overlay, peer: int, wanted: Peers) -> bool:
    pool = overlay.ring.pool

    def view(holder: int) -> NDArray[np.int32]:
        start = pool.start[holder]
        return pool.peer[start : start + pool.size[holder]]

    known = bool(np.isin(wanted, view(peer)).all())
    return known and all(peer in view(int(other)) for other in wanted)
