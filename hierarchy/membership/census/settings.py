"""Settings of the census."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require


@dataclass(frozen=True)
class CensusSettings:
    """Settings of the census.

    Attributes
    ----------
    minima : int
        Numbers that each member draws. The relative standard deviation of the estimate is
        1/sqrt(minima - 2).
    fan : int
        Members to which a tally is sent each cycle.
    period : int
        Cycles of one count: enough for its start to reach all members and for their numbers to come back,
        about 2 ln n with a fan of 2.
    askers : float
        Members of a community that ask a contact each cycle whether they are in the same part of it.
    """

    minima: int = 64
    fan: int = 2
    period: int = 32
    askers: float = 3.0

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        require(self, "census", minima=3, fan=1, period=2, askers=0)
