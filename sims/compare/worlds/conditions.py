"""Faults of a world: the same loss rate and the same crashed subscribers for every system.

Subscribers crash in one random order, drawn once for a world: those that are down at 10 % are down at 30 %,
too. Crashes and loss begin after the overlays are built and before the first event; nothing is repaired
before the last event has been published. Repair is measured separately (`heal`).
"""

from __future__ import annotations

from typing import NamedTuple

GOOD = 0.99  # what a system has to deliver to be compared with others


class Fault(NamedTuple):
    """A share of the messages that is lost, and a share of the subscribers that is down.

    Examples
    --------
    >>> str(Fault(loss=0.05)), str(Fault(crashed=0.3)), str(Fault())
    ('5 % loss', '30 % crashed', 'no faults')
    """

    loss: float = 0.0
    crashed: float = 0.0

    def __str__(self) -> str:
        """In words."""
        parts = [f"{100 * self.loss:g} % loss"] if self.loss else []
        parts += [f"{100 * self.crashed:g} % crashed"] if self.crashed else []
        return ", ".join(parts) or "no faults"


NONE = Fault()
FAULTS = (
    NONE,
    Fault(loss=0.05),
    Fault(loss=0.15),
    Fault(crashed=0.1),
    Fault(crashed=0.3),
    Fault(crashed=0.5),
)
HEAL_CRASHED = 0.2  # the share that crashes when healing is measured
WORKING = Fault(loss=0.05)  # what each system is tuned for
CRASH = Fault(crashed=0.1)  # what tables and findings say of working points as well
FRONTIER = (
    NONE,
    WORKING,
    Fault(crashed=0.3),
)  # faults under which settings that do not deliver are shown as well
