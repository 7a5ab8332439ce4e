"""Faults of a world, the same loss rate and the same crashed subscribers for every system; and the rule.

Subscribers crash in one random order, drawn once for a world: those that are down at 10 % are down at 30 %,
too. Crashes and loss begin after the overlays are built and before the first event; nothing is repaired
before the last event has been published. Repair is measured separately (`heal`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import NamedTuple

from sub2sub.errors import InputError


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


COSTS = (
    "bytes_per_delivery", "messages_per_delivery", "copies_per_delivery", "control_per_delivery",
    "last_ms_median",
)  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """Which setting a system is shown with: the cheapest that delivers under all faults, in time.

    Attributes
    ----------
    faults : tuple of Fault
        Under each of them it delivers `good`; costs are those under the first.
    good : float
        Share of the deliveries, by the lower end of the confidence interval.
    budget : float
        Milliseconds within which the last subscriber has an event, in the median of the events, under each of
        the faults; 0 for any time.
    cost : str
        The metric of which the least is taken, one of `COSTS`.

    Examples
    --------
    >>> print(Rule())
    99 % with 5 % loss and with 10 % crashed, the last within 2 s
    >>> Rule.of(Rule(budget=500.0).text()).budget
    500.0
    """

    faults: tuple[Fault, ...] = (Fault(loss=0.05), Fault(crashed=0.1))
    good: float = 0.99
    budget: float = 2000.0
    cost: str = "bytes_per_delivery"

    def __post_init__(self) -> None:
        shares = [share for fault in self.faults for share in fault]
        if not self.faults or not all(0 <= share < 1 for share in [*shares, 1 - self.good]):
            raise InputError("rule: expected faults and a share to deliver, from 0 to 1")
        if not self.budget >= 0:
            raise InputError(f"budget = {self.budget}: expected milliseconds, or 0 for any time")
        if self.cost not in COSTS:
            raise InputError(f"cost: expected one of {', '.join(COSTS)}, got {self.cost!r}")

    def __str__(self) -> str:
        """In words."""
        faults = " and ".join(f"with {fault}" for fault in self.faults)
        return f"{100 * self.good:g} % {faults}" + (
            f", the last within {self.budget / 1000:g} s" if self.budget else ""
        )

    def text(self) -> str:
        """As text, for units."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Rule:
        """The rule of such a text; the usual one of none."""
        given = json.loads(text or "{}")
        return cls(**{**given, "faults": tuple(Fault(*pair) for pair in given.get("faults", cls.faults))})

    @property
    def least_copies(self) -> float:
        """Copies for each delivery that no system can do without: those that are lost have to be sent again.

        Examples
        --------
        >>> round(Rule().least_copies, 3)
        1.042
        """
        return max(self.good / (1 - fault.loss) for fault in self.faults)


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
WORKING = Rule.faults[0]
FRONTIER = (NONE, WORKING, Fault(crashed=0.3))  # under which settings that do not deliver are shown as well
