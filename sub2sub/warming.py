"""Compiles the kernels of an overlay before they are needed: `sub2sub warm`.

Each part calls kernels on a tiny overlay, with the types that overlays of any size have; what is compiled is
found in the cache (`sub2sub.compiled.machinery.cache`) from then on. The ring layer takes as long as
everything else together, so two processes are done in about half the time of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import numpy as np

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.overlay.overlay import Overlay
from sub2sub.rings.selection import select_ring


def tiny_overlay() -> Overlay:
    """An overlay of 64 peers with one link each."""
    low = np.random.default_rng(1).random((64, 3)) * 0.7
    return Overlay.of(low, low + 0.3, seed=1)


def warm_ring() -> None:
    """Compile the ring layer: exchanges, hellos, a newcomer."""
    overlay = tiny_overlay()
    overlay.ring.step(1, overlay.network)
    overlay.admit(np.array([5]), np.array([9]), cycle=2)
    overlay.ring.step(2, overlay.network)


def warm_rest() -> None:
    """Compile the other layers, publishers and dissemination, and ring selection."""
    overlay = tiny_overlay()
    for layer in overlay.layers:
        if layer is not overlay.ring:
            layer.step(1, overlay.network)
    links, events = Links.of(overlay), np.random.default_rng(2).random((80, 3))
    walks = find_entry(links, overlay.network, events)
    disseminate(links, overlay.network, events, entry=walks.entry)
    select_ring([0.0], [1.0], 5, [[0.0]], [[1.0]], [7])


PARTS = {"ring links": warm_ring, "everything else": warm_rest}


def _warm_part(name: str) -> str:
    PARTS[name]()
    return name


def warm() -> Iterator[str]:
    """Compile all parts, each in a process of its own; yields the name of each that is done."""
    with ProcessPoolExecutor(len(PARTS), get_context("spawn")) as pool:
        for job in as_completed([pool.submit(_warm_part, name) for name in PARTS]):
            yield job.result()
