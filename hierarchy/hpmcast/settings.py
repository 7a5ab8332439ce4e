"""Settings of hpmcast's membership; those of its dissemination are in `hierarchy.peers.settings`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError, require


@dataclass(frozen=True)
class Condensation:
    """Settings of the condensation of tables, the same for all participants.

    Attributes
    ----------
    redundancy : int
        Delegates per subsystem, R. With one delegate, its crash isolates a subsystem; more make views larger.
    boxes : tuple of int
        Maximum number of boxes of a joint interest, for levels 2, 3, ...; the last value is for all levels
        above. Fewer boxes filter faster and let more events pass that no participant below wants.
    compared : tuple of tuples of int, or None
        The attributes compared at levels 2, 3, ..., each a subset of the one before; None: all.
    by_coverage : bool
        Elect participants whose own interest covers most of the joint one, not those with the smallest
        addresses.

    Examples
    --------
    >>> Condensation(redundancy=2, boxes=(8, 4)).most(levels=4)
    [1, 8, 4, 4]
    """

    redundancy: int = 3
    boxes: tuple[int, ...] = (4,)
    compared: tuple[tuple[int, ...], ...] | None = None
    by_coverage: bool = False

    def __post_init__(self) -> None:
        require(self, redundancy=1)
        if not self.boxes or min(self.boxes) < 1:
            raise InputError(f"boxes: expected at least 1 box for each level, got {self.boxes}")
        for i, (inner, outer) in enumerate(zip((self.compared or ())[1:], self.compared or (), strict=False)):
            if not set(inner) <= set(outer):
                raise InputError(f"compared[{i + 1}]: expected attributes among {outer}, got {inner}")

    def most(self, levels: int) -> list[int]:
        """Maximum number of boxes of a line, per level; a participant's interest is one box."""
        return [1, *(self.boxes[min(i, len(self.boxes) - 1)] for i in range(levels - 1))]

    def mask(self, levels: int, attributes: int) -> NDArray[np.uint8]:
        """Per level, which attributes are compared."""
        mask = np.ones((levels, attributes), np.uint8)
        chosen = self.compared or ()
        for i in range(1, levels) if chosen else ():
            kept = chosen[min(i - 1, len(chosen) - 1)]
            if any(not 0 <= k < attributes for k in kept):
                raise InputError(f"compared[{i - 1}]: expected attributes 0 to {attributes - 1}, got {kept}")
            mask[i] = 0
            mask[i, list(kept)] = 1
        return mask


@dataclass(frozen=True)
class Upkeep:
    """Settings of the membership protocol.

    Attributes
    ----------
    fanout : int
        Participants to which a dedicated gossip is sent each cycle.
    timeout : tuple of int
        Cycles without a renewal after which a line is removed, for levels 1, 2, ...; the last value is for
        all levels above. With too few, live participants are removed until they are heard of again.
    tries : int
        How many times a silent neighbour of level 1 is asked before it is removed; 0: it is not asked. If
        messages are lost, one question removes many live participants.
    bidirectional : bool
        Also update the receiver of a gossip, with a third message (anti-entropy).
    revisit : float
        Probability per cycle to contact a removed participant, too, or the one through which one joined.
        Without it, the two sides of a healed partition would never merge, nor would hierarchies that were
        founded separately.

    Examples
    --------
    >>> Upkeep(timeout=(10, 20)).limits(levels=4)
    [10, 20, 20, 20]
    """

    fanout: int = 2
    timeout: tuple[int, ...] = (15, 25)
    tries: int = 3
    bidirectional: bool = False
    revisit: float = 0.02

    def __post_init__(self) -> None:
        require(self, fanout=1, tries=0, revisit=(0, 1))
        if not self.timeout or min(self.timeout) < 1:
            raise InputError(f"timeout: expected at least 1 cycle for each level, got {self.timeout}")

    def limits(self, levels: int) -> list[int]:
        """The timeout of each level."""
        return [self.timeout[min(i, len(self.timeout) - 1)] for i in range(levels)]
