"""The systems that can be run and compared, one adapter each.

An adapter builds its overlay from subscriptions, says what may be set and observed, counts links, and
publishes events; `sims.runs` and `sims.compare` drive the same ones.
"""

from sims.systems.catalogue import RUNNABLE, system
from sims.systems.interface import Knob, System, Unable

__all__ = ["RUNNABLE", "Knob", "System", "Unable", "system"]
