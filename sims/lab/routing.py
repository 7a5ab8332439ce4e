"""Data with which the browser shows the way of an event: views of its subscribers, or CAMCAST's rounds.

A peer forwards an event only to peers that match it, so the way depends only on the views of the matching
peers. The report's `assets/view/spread.js` makes the same decisions with them as the library. CAMCAST's
routing on the tables of the shared overlay (`hierarchy.shared`) is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierarchy.shared import CamcastRoute, SharedOverlay
from sims.engine.simulation import Simulation
from sims.report.overlay import VIEWS
from workloads.arrays import Floats, Integers


def members_of(simulation: Simulation, point: Floats) -> Integers:
    """Return the live peers that match an event, in the order of their sequence IDs."""
    population = simulation.overlay.population
    lows, highs = population.ranges()
    alive = (simulation.overlay.network.alive == 1) & population.present
    return np.flatnonzero(alive & np.all((lows <= point) & (point <= highs), axis=1))


def views_of(
    simulation: Simulation, members: Integers, names: Iterable[str] = ("near", "random", "ring")
) -> dict[str, NDArray[Any]]:
    """Return the views of some peers, in the order given: their sizes, and all targets in one array."""
    n = len(simulation.overlay.population)
    place = np.full(n, -1, np.int64)
    place[members] = np.arange(members.size)
    layers = {layer.name: layer for layer in simulation.overlay.layers}
    found: dict[str, NDArray[Any]] = {}
    for name in names:
        holders, peers, _ = layers[VIEWS[name]].links()
        held = place[holders] >= 0
        source, target = place[holders[held]], peers[held].astype(np.int64)
        way = (target - members[source]) % n if name == "ring" else np.zeros(target.size, np.int64)
        order = np.lexsort((way, source))
        found[f"{name}-size"] = np.bincount(source, minlength=members.size).astype(np.uint32)
        found[f"{name}-target"] = target[order].astype(np.uint32)
    return found


def camcast_rounds(
    simulation: Simulation, members: Integers, point: Floats, event: int
) -> tuple[int, NDArray[np.int32], dict[str, int]]:
    """Return the publisher, the round in which each member gets the event (-1: never), and the counts.

    In CAMCAST a publisher is a member of the event's own community: the smallest range that contains it.
    """
    overlay = simulation.overlay
    assert isinstance(overlay, SharedOverlay)
    lows, highs = overlay.population.ranges()
    width = (highs - lows)[members, 0]
    own = members[width == width.min()]
    publisher = int(own[event % own.size])
    outcome = overlay.spread(point[None, :], [publisher], CamcastRoute(c=4, g=20), event, record=True)
    assert outcome.receptions is not None
    first = np.full(len(overlay.population), -1, np.int32)
    first[outcome.receptions.peer] = outcome.receptions.hop
    rounds = first[members]
    counts = {
        "reached": int((rounds >= 0).sum()), "hops": int(rounds.max(initial=-1)),
        "messages": int(outcome.messages[0]), "local": 0, "duplicates": int(outcome.duplicates[0]),
        "spam": int(outcome.spam[0]), "failed": int(outcome.failed[0]),
    }  # fmt: skip
    return publisher, rounds, counts
