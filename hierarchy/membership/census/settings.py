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
        Numbers every member draws. The estimate is off by a share of 1/sqrt(minima - 2), as a standard
        deviation.
    fan : int
        Members a tally goes to each cycle.
    period : int
        Cycles of one count. It has to be enough for the news of it to reach everybody and for everybody's
        numbers to come back: about 2 ln n with a fan of 2.
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
