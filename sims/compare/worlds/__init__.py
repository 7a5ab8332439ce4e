"""The worlds that systems are compared in: topics, ranges, and the family between."""

from sims.compare.worlds.build import World, build_world, interests_digest, world_options
from sims.compare.worlds.conditions import CRASH, FAULTS, FRONTIER, GOOD, HEAL_CRASHED, NONE, WORKING, Fault

__all__ = [
    "CRASH", "FAULTS", "FRONTIER", "GOOD", "HEAL_CRASHED", "NONE", "WORKING", "Fault", "World", "build_world",
    "interests_digest", "world_options",
]  # fmt: skip
