"""Addresses and the distance between them (hpmcast, Section 4.1, equations 10 and 11).

An address x(l-1). ... .x(0) has l components; x(i) is below a(i). Its branch address of level i is the prefix
x(l-1). ... .x(i), which is empty for i = l. Participants that share a branch address of level i form a
subsystem of level i. The distance of two addresses is the level of their longest common branch address, 0 for
equal ones.

An address is stored as one number in mixed radix. So numbers sort as addresses do, a branch address is an
integer quotient, and a subsystem is an interval of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from sub2sub.errors import InputError


@dataclass(frozen=True)
class AddressSpace:
    """All addresses with components of the given sizes.

    Parameters
    ----------
    sizes : tuple of int
        a(l-1), ..., a(0): how many values each component has, in the order in which addresses are written.

    Examples
    --------
    >>> ip = AddressSpace((256, 256, 256, 256))
    >>> x, y = 0x80B24903, 0x80B22915  # 128.178.73.3 and 128.178.41.21
    >>> ip.distance(x, y), ip.branch(x, 2) == ip.branch(y, 2), ip.component(y, 1)
    (2, True, 41)
    >>> ip.capacity == 2**32
    True
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse an address space that has no level, an empty level, or more addresses than fit 62 bits."""
        if not self.sizes:
            raise InputError("sizes: expected at least one level, got none")
        for i, size in enumerate(self.sizes):
            if size < 1:
                raise InputError(f"sizes[{i}]: expected at least 1 value, got {size}")
        if prod(self.sizes) > 1 << 62:
            raise InputError(f"sizes: expected at most 2^62 addresses, got {prod(self.sizes)}")

    @property
    def levels(self) -> int:
        """Depth l of the hierarchy."""
        return len(self.sizes)

    @property
    def capacity(self) -> int:
        """Number of addresses (equation 11)."""
        return prod(self.sizes)

    def size(self, i: int) -> int:
        """a(i), the number of values of component i."""
        return self.sizes[self.levels - 1 - i]

    def span(self, level: int) -> int:
        """Number of addresses below one branch address of `level`."""
        return prod(self.sizes[self.levels - level :])

    def branch(self, address: int, level: int) -> int:
        """The branch address of `level` of an address, as a number."""
        return address // self.span(level)

    def component(self, address: int, i: int) -> int:
        """x(i)."""
        return self.branch(address, i) % self.size(i)

    def distance(self, x: int, y: int) -> int:
        """Level of the longest common branch address."""
        level = 0
        while self.branch(x, level) != self.branch(y, level):
            level += 1
        return level
