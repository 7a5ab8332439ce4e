"""Small worlds that the tests of the comparison share."""

from __future__ import annotations

from functools import cache

from sims.compare.worlds import World, build_world

WORLDS = ("topics", "ranges power-law-1", "ranges power-law-2", "between 0.3")


@cache
def small(name: str, seed: int = 1, n: int = 120) -> World:
    return build_world(name, n, events=12, probes=4, seed=seed)
