"""Settings of VICINITY (`sub2sub.vicinity.layer`)."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require
from sub2sub.vicinity.proximity import Tie


@dataclass(frozen=True)
class VicinitySettings:
    """Settings of VICINITY.

    Attributes
    ----------
    view : int
        Links that a peer keeps, at most 63. Rings form about as fast with 10 to 40; 16 fill two cache lines.
    shuffle : int
        Links sent in one exchange, including the one to the sender; at most 63.
    tie : Tie
        Which of several overlapping peers to keep.
    max_age : int
        Greatest age of a link, in cycles, 0 for no limit; older ones are dropped and refused.
    """

    view: int = 16
    shuffle: int = 8
    tie: Tie = Tie.RANDOM
    max_age: int = 0

    def __post_init__(self) -> None:
        require(self, "vicinity", view=(1, 63), shuffle=(1, 63), max_age=0)
