"""How VICINITY is run: the settings of `sub2sub.vicinity.layer`."""

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
        Links a peer keeps, at most 63. 10 to 40 hardly matters for ring construction; 16 are two cache lines.
    shuffle : int
        Links sent in one exchange, the sender's own included; at most 63.
    tie : Tie
        Which of several overlapping peers to prefer.
    max_age : int
        Oldest link to keep or accept, in cycles; 0 for no limit.
    """

    view: int = 16
    shuffle: int = 8
    tie: Tie = Tie.RANDOM
    max_age: int = 0

    def __post_init__(self) -> None:
        require(self, "vicinity", view=(1, 63), shuffle=(1, 63), max_age=0)
