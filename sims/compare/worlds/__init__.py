"""The worlds that systems are compared in: topics, ranges, and the family between."""

from sims.compare.worlds.build import World, build_world
from sims.compare.worlds.conditions import FAULTS, HEAL_CRASHED, Fault

__all__ = ["FAULTS", "HEAL_CRASHED", "Fault", "World", "build_world"]
