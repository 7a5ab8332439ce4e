"""The participants of a hierarchy and its populated subsystems (hpmcast, Sections 4.1 and 5.2).

Participants are numbered in the order of their addresses, so every subsystem is an interval of participant
numbers that begins with the smallest addresses. Only populated branches are stored: some subtrees may be
empty and others full.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.addresses import AddressSpace
from sub2sub.errors import InputError


@dataclass(frozen=True)
class Population:
    """Participants and their subsystems; make one with `at`, `regular` or `scattered`.

    Attributes
    ----------
    space : AddressSpace
    addresses : (n,) int64
        Strictly increasing.
    branch_of : (l + 1, n) int32
        `branch_of[i, x]` is the number of x's branch of level i among the populated ones; a branch of level 0
        is a participant, and there is one branch of level l.
    first : tuple of int32 arrays
        `first[i][b]` is the first participant of branch b of level i; the last item is the end.

    Examples
    --------
    >>> system = Population.at(AddressSpace((4, 4)), [1, 2, 7, 12, 13, 15])
    >>> system.n, system.branches(1), system.first[1].tolist()
    (6, 3, [0, 2, 3, 6])
    >>> Population.regular(a=22, levels=3).n
    10648
    """

    space: AddressSpace
    addresses: NDArray[np.int64]
    branch_of: NDArray[np.int32]
    first: tuple[NDArray[np.int32], ...]

    @classmethod
    def at(cls, space: AddressSpace, addresses: ArrayLike) -> Population:
        """The population with exactly these addresses, in any order."""
        numbers = np.sort(np.asarray(addresses, np.int64))
        n = len(numbers)
        if n == 0 or n >= 1 << 31:
            raise InputError(f"addresses: expected 1 to 2^31 - 1 participants, got {n}")
        if numbers[0] < 0 or numbers[-1] >= space.capacity:
            row = 0 if numbers[0] < 0 else n - 1
            raise InputError(
                f"addresses: expected 0 to {space.capacity - 1} in sorted row {row}, got {numbers[row]}"
            )
        if n > 1 and (twice := np.flatnonzero(np.diff(numbers) == 0)).size:
            raise InputError(f"addresses: expected each once, got {numbers[twice[0]]} twice")
        branch_of = np.zeros((space.levels + 1, n), np.int32)
        first = []
        for level in range(space.levels + 1):
            fresh = np.ones(n, bool)
            fresh[1:] = np.diff(numbers // space.span(level)) != 0
            branch_of[level] = np.cumsum(fresh) - 1
            first.append(np.append(np.flatnonzero(fresh), n).astype(np.int32))
        return cls(space, numbers, branch_of, tuple(first))

    @classmethod
    def regular(cls, a: int, levels: int) -> Population:
        """Every address of a space with a values in each component (equations 15 and 16)."""
        space = AddressSpace((a,) * levels)
        return cls.at(space, np.arange(space.capacity))

    @classmethod
    def scattered(cls, space: AddressSpace, n: int, seed: int) -> Population:
        """n addresses drawn at random: uneven subtrees, some of them empty."""
        if not 1 <= n <= space.capacity:
            raise InputError(f"n: expected 1 to {space.capacity} participants, got {n}")
        generator = np.random.Generator(np.random.Philox(seed))
        chosen = np.zeros(0, np.int64)
        while len(chosen) < n:
            more = generator.integers(0, space.capacity, 2 * (n - len(chosen)))
            chosen = np.unique(np.concatenate([chosen, more]))
        return cls.at(space, generator.permutation(chosen)[:n])

    @property
    def n(self) -> int:
        """Number of participants."""
        return len(self.addresses)

    @property
    def levels(self) -> int:
        """Depth l of the hierarchy."""
        return self.space.levels

    def branches(self, level: int) -> int:
        """Number of populated branches of `level`."""
        return len(self.first[level]) - 1

    def children(self, level: int) -> NDArray[np.int32]:
        """The first child of each branch of `level` among the branches of `level - 1`; then the end."""
        inner = self.branch_of[level - 1, self.first[level][:-1]]
        return np.append(inner, self.branches(level - 1)).astype(np.int32)

    def slots(self, level: int) -> NDArray[np.int32]:
        """The component x(level - 1) of each branch of `level - 1`: its line in the table of `level`."""
        heads = self.addresses[self.first[level - 1][:-1]]
        slot = heads // self.space.span(level - 1) % self.space.size(level - 1)
        return slot.astype(np.int32)
