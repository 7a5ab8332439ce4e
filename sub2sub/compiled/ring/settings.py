"""Settings of the ring layer (`sub2sub.compiled.ring.layer`)."""

from __future__ import annotations

from typing import NamedTuple

from sub2sub.compiled.machinery.references import by_reference
from sub2sub.peers.settings import RingSettings


@by_reference
class RingStep(NamedTuple):
    """The settings as numbers for kernels, and the values for one cycle."""

    partner: int
    exchanges: int
    searches: int
    two_sided: int
    drop_failed: int
    verify: int
    cap: int
    max_steps: int
    aged: int  # whether links have an age
    oldest: int  # least stamp to keep or accept
    hello_at_once: int  # whether a neighbour gets a hello in the cycle in which it is accepted
    hello_cycle: int  # neighbours accepted in this cycle and not met since get a hello now; -1 for none
    cycle: int

    @classmethod
    def of(cls, settings: RingSettings, cycle: int) -> RingStep:
        """The settings in one cycle.

        Examples
        --------
        >>> RingStep.of(RingSettings(max_age=10), cycle=30).oldest
        20
        """
        oldest = cycle - settings.max_age if settings.max_age else 0
        hello_cycle = max(cycle - settings.hello_after, -1) if settings.hello and settings.hello_after else -1
        return cls(
            int(settings.partner), settings.exchanges, settings.searches, int(settings.two_sided),
            int(settings.drop_failed), int(settings.verify), settings.cap, settings.max_steps,
            int(settings.max_age > 0), oldest, int(not settings.hello_after), hello_cycle, cycle,
        )  # fmt: skip
