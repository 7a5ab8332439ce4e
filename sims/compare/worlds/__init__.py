"""The worlds that systems are compared in: topics, ranges, and the family between."""

from sims.compare.worlds.build import World, build_world, interests_digest, world_options
from sims.compare.worlds.conditions import FAULTS, FRONTIER, HEAL_CRASHED, WORKING, Fault, Rule

__all__ = [
    "FAULTS", "FRONTIER", "HEAL_CRASHED", "WORKING", "Fault", "Rule", "World", "build_world",
    "interests_digest", "world_options",
]  # fmt: skip
