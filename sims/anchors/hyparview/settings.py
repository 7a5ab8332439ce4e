"""Settings of HyParView."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require


@dataclass(frozen=True)
class HyParViewSettings:
    """Settings of HyParView, as in Section 5.1 of its paper.

    Attributes
    ----------
    active : int
        Open links of a peer: fan-out plus 1. More links survive more crashes and cost more messages.
    passive : int
        Further known peers, from which the active view is repaired.
    join_walk, passive_walk : int
        Hops a newcomer's name travels (ARWL), and at which of them it is noted in a passive view (PRWL),
        counted from the end.
    shuffled_active, shuffled_passive : int
        Peers of either view that are sent in a shuffle, besides the sender.
    tries : int
        Copies of a message before its target counts as unreachable.
    patience : int
        Cycles without a full active view after which a peer asks the rendezvous again.
    """

    active: int = 5
    passive: int = 30
    join_walk: int = 6
    passive_walk: int = 3
    shuffled_active: int = 3
    shuffled_passive: int = 4
    tries: int = 3
    patience: int = 8

    def __post_init__(self) -> None:
        require(self, "hyparview", active=1, passive=1, join_walk=1, passive_walk=1, tries=1, patience=1)
        require(self, "hyparview", shuffled_active=0, shuffled_passive=0)
