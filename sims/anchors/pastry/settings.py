"""Settings of Pastry."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import InputError, require


@dataclass(frozen=True)
class PastrySettings:
    """Settings of Pastry.

    Attributes
    ----------
    bits : int
        b: bits of a digit. Larger digits take fewer hops and larger tables.
    leaves : int
        L: nodes with the nearest identifiers that a node keeps, half of them on either side.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    bits: int = 4
    leaves: int = 16
    tries: int = 3

    def __post_init__(self) -> None:
        if self.bits not in (1, 2, 4, 8):
            raise InputError(f"pastry.bits: expected 1, 2, 4 or 8, got {self.bits}")
        if self.leaves < 2 or self.leaves % 2:
            raise InputError(f"pastry.leaves: expected an even number of 2 or more, got {self.leaves}")
        require(self, "pastry", tries=1)
