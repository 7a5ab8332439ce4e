"""The cycle-driven engine: simulations, schedules, controls, faults, checkpoints."""

from sims.engine.control import Control
from sims.engine.schedule import Schedule
from sims.engine.simulation import Simulation

__all__ = ["Control", "Schedule", "Simulation"]
