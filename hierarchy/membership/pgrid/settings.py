"""Settings of P-Grid."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require


@dataclass(frozen=True)
class PGridSettings:
    """Settings of P-Grid.

    Attributes
    ----------
    replication : int
        Peers wanted at each leaf, at least: one with twice as many parts. The trie is then log2(n /
        replication) deep, no more.
    references : int
        Peers kept across each bit; more of them tolerate more failures.
    recursion : int
        How deep a meeting draws in the references of the two that meet.
    lease : int
        Cycles an announcement lasts; renewed when half of them are over.
    attempts : int
        How often a search that got stuck is tried.
    """

    replication: int = 5
    references: int = 4
    recursion: int = 1
    lease: int = 20
    attempts: int = 3

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        require(self, "pgrid", replication=1, references=1, recursion=0, lease=2, attempts=1)
