"""Settings of Meghdoot's content-addressable network."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require


@dataclass(frozen=True)
class MeghdootSettings:
    """Settings of Meghdoot.

    Attributes
    ----------
    refresh : int
        Cycles between two updates that a peer sends to each neighbour. Fewer updates find the dead later.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    refresh: int = 4
    tries: int = 3

    def __post_init__(self) -> None:
        require(self, "meghdoot", refresh=1, tries=1)
