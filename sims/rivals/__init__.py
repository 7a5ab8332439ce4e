"""The systems that can be run and compared, one file each, found by walking the rooms.

The rooms `papers`, `others` and `encodings` hold rivals. A rival's file holds it whole: settings, peer,
links, what it is tuned by and its variants, how it looks in figures and the worlds it can enter. `base` has
what they share, `below` the overlays that some are built on.
"""

from sims.rivals.base.catalogue import RUNNABLE, system
from sims.rivals.base.entrants import Knob, Unable
from sims.rivals.base.system import System

__all__ = ["RUNNABLE", "Knob", "System", "Unable", "system"]
