"""The cycle-driven engine: simulations, schedules, controls, faults, checkpoints."""

from sims.engine.control import Control, Schedule, Simulated
from sims.engine.simulation import Simulation
from sub2sub.overlay.stack import Stack

__all__ = ["Control", "Schedule", "Simulated", "Simulation", "Stack"]
