"""Settings of the shared overlay: CAMCAST's tables beside the rings, and CAMCAST's routing on them."""

from __future__ import annotations

from dataclasses import dataclass, field

from sub2sub.errors import require
from sub2sub.overlay.overlay import OverlaySettings
from sub2sub.vicinity.settings import VicinitySettings


@dataclass(frozen=True)
class TableSettings:
    """Settings of the tables.

    Attributes
    ----------
    equals : int
        Entries of a topic table: peers with the same range, at most 63.
    z : int
        Entries of a super-topic table: peers with the tightest enclosing ranges, at most 63.
    below : int
        Entries of a directory: one peer for each subtopic, for searches from supertopics; at most 63.
    neighbours : int
        Nearest successors, and as many predecessors, among the equals; other peers never replace them.
    max_age : int
        Greatest age of an entry, in cycles, 0 for no limit; older ones are dropped and refused.
    suspect_age : int
        Age in cycles from which on the oldest entry of a super-topic table is asked whether it is there, and
        for other members of its community; 0 for never.
    patience : int
        Cycles between two searches, in which a peer asks the tightest entry of its super-topic table for a
        tighter one and, if it knows no equal, for a way to one.
    tries : int
        Copies of a message that are sent while it is not answered.

    Examples
    --------
    >>> TableSettings(equals=32).z
    5
    """

    equals: int = 16
    z: int = 5
    below: int = 16
    neighbours: int = 2
    max_age: int = 20
    suspect_age: int = 6
    patience: int = 10
    tries: int = 3

    def __post_init__(self) -> None:
        require(self, "tables", neighbours=1, equals=(2 * self.neighbours + 1, 63), z=(1, 63), below=(1, 63))
        require(self, "tables", max_age=0, suspect_age=0, patience=1, tries=1)


@dataclass(frozen=True)
class SharedSettings(OverlaySettings):
    """Settings of all layers of the shared overlay.

    Attributes
    ----------
    points : VicinitySettings
        Settings of the second VICINITY, over the points (low, high).
    tables : TableSettings
    """

    points: VicinitySettings = field(default_factory=lambda: VicinitySettings(max_age=20))
    tables: TableSettings = field(default_factory=TableSettings)


@dataclass(frozen=True)
class CamcastRoute:
    """Settings of CAMCAST's routing.

    Attributes
    ----------
    c : float
        Targets in the community, in addition to ln N.
    g : float
        Members of a community that send an event upward, on average.
    a : float
        Entries of its super-topic table to which each of them sends, on average.
    retries : int
        How often a message that is not acknowledged is sent again; 0 for no acknowledgements.

    Examples
    --------
    >>> CamcastRoute(c=4).g
    10.0
    """

    c: float = 2.0
    g: float = 10.0
    a: float = 1.0
    retries: int = 0

    def __post_init__(self) -> None:
        require(self, c=0, g=1, a=1, retries=0)
