"""Settings of hpmcast, each with what it trades."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError, require


class Reading(Enum):
    """How to read lines 27 and 35 of Figure 6, which multiply |view| by R at every level, level 1 included.

    At level 1 a line of the table is one participant, so the prose (Section 5.1.2) and equation 17 do not
    agree with the lines there. Above level 1 all readings are the same.
    """

    PROSE = "prose"
    """A level has as many participants as its view has entries; the share is one of these entries."""
    LINE_27 = "line 27"
    """R times as many at level 1 when rounds are counted, as line 27 is printed; the share is a fraction."""
    LINES_27_AND_35 = "lines 27 and 35"
    """R times as many at level 1 for rounds and for the share, as both lines are printed."""


@dataclass(frozen=True)
class Condensation:
    """How tables are condensed: settings every participant has to share.

    Attributes
    ----------
    redundancy : int
        Delegates per subsystem, R. One delegate makes its crash isolate a subsystem; more make views larger.
    boxes : tuple of int
        Boxes a joint interest may have, for levels 2, 3, ...; the last value serves all levels above.
        Fewer boxes filter faster and let more events pass that nobody below wants.
    compared : tuple of tuples of int, or None
        The attributes still compared at levels 2, 3, ..., each within the one before; None: all.
    by_coverage : bool
        Elect those whose own interest covers most of the joint one instead of the smallest addresses.

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
        """Boxes of a line, per level; a participant's interest is one box."""
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
class Gossip:
    """Settings of dissemination.

    Attributes
    ----------
    fanout : int
        Participants chosen each round, F, before filtering. Rounds fall with it, messages rise.
    constant : float
        Rounds a level gets on top of Pittel's asymptote, c. The asymptote is for large systems: in
        small ones events are lost without it.
    loss, crash : float
        Message loss and share of crashed participants that the number of rounds allows for.
    audience : int
        Where fewer than this many participants of a view are interested, its first `audience` ones
        are treated as if they were, D. 0: never.
    retries : int
        Times a message is sent again in its round where no acknowledgement comes back; 0 for no
        acknowledgements, as published.
    reliable : int
        The lowest level at which messages are sent again (Section 6.1.2: a more reliable protocol at the
        upmost level, where what is lost isolates whole subsystems); 1: at every level.
    adaptive : bool
        Estimate the share of those interested at the levels below the highest and adjust it by who matches
        (Section 6.1.1) instead of matching a whole view: saves filtering, and gets small audiences wrong.
    reading : Reading
        Of lines 27 and 35 of Figure 6.
    redundancy : int
        R in these lines, where they are read as printed.

    Examples
    --------
    >>> Gossip(fanout=3, constant=2.0).audience
    0
    >>> Gossip(reading=Reading.LINE_27, redundancy=3).lowest
    (3, 1)
    """

    fanout: int = 2
    constant: float = 0.0
    loss: float = 0.0
    crash: float = 0.0
    audience: int = 0
    retries: int = 0
    reliable: int = 1
    adaptive: bool = False
    reading: Reading = Reading.PROSE
    redundancy: int = 1

    def __post_init__(self) -> None:
        require(self, fanout=1, audience=0, retries=0, redundancy=1, reliable=1)
        if not np.isfinite(self.constant):
            raise InputError(f"constant: expected a finite number of rounds, got {self.constant}")
        for name, value in (("loss", self.loss), ("crash", self.crash)):
            if not 0 <= value < 1:
                raise InputError(f"{name}: expected a probability below 1, got {value}")
        if self.adaptive and self.audience:
            raise InputError("adaptive: expected audience = 0, since the threshold needs every entry matched")

    @property
    def lowest(self) -> tuple[int, int]:
        """What the size of a view of level 1 is multiplied by for rounds, and its share divided by."""
        printed = self.redundancy
        return {
            Reading.PROSE: (1, 1),
            Reading.LINE_27: (printed, 1),
            Reading.LINES_27_AND_35: (printed, printed),
        }[self.reading]


@dataclass(frozen=True)
class Upkeep:
    """Settings of the membership protocol.

    Attributes
    ----------
    fanout : int
        Participants a dedicated gossip goes to each cycle.
    timeout : tuple of int
        Cycles after which a line nobody has renewed is given up, for levels 1, 2, ...; the last value
        serves all levels above. Too few, and the living are taken for dead until they are heard of again.
    tries : int
        Times a silent neighbour of level 1 is asked before it is given up; 0: not at all. Where messages are
        lost, one question buries many of the living.
    bidirectional : bool
        Update the receiver of a gossip too, at the price of a third message (anti-entropy).
    revisit : float
        Probability per cycle of also trying a line given up before, or the participant one joined through.
        Without it, the two sides of a healed partition would never meet again, nor would hierarchies
        that grew side by side.

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
