"""The settings of CAMCAST, its memberships, the shared overlay, and hpmcast.

CAMCAST, Sections 3.2, 3.5 and 6.1; the technical report (IC/2003/73), Section VII, for b. Symbols:
p_sel = g/N is the probability that a process acts as a link to the super-community, p_a = a/z the probability
that a link sends to an entry of its super-topic table of z entries, ln N + c the number of targets within the
community.

Interpretation: ln N + c is rounded down, to at least one. The loop in Figure 8 runs once more than that, but
only rounding down gives Table 2 of the paper. `rounding="up"` is the other interpretation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import ceil, floor, isfinite, log
from typing import Literal

from sub2sub.errors import InputError, require
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings, VicinitySettings


@dataclass(frozen=True)
class TopicSettings:
    """Settings of one community. The defaults are those of the paper's simulations (Section 6.1.1).

    Attributes
    ----------
    c : float
        Targets within the community beyond ln N; reliability there tends to exp(-exp(-c)).
    g : float
        Expected number of processes that act as links for one event, p_sel = g/N; at least 1.
    a : float
        Expected number of super-processes to which a link sends, p_a = a/z; 1 to z.
    z : int
        Size of the super-topic table.
    tau : int
        If a check leaves at most this many entries in a super-topic table, it is refilled; 0 to z.
    b : float, optional
        Topic tables of (b + 1) ln N entries, as in the technical report, instead of ln N + c.
    p_sel : float, optional
        A fixed p_sel for communities of any size (Section 6.2 varies it).
    rounding : "down" or "up"
        Rounding of ln N + c to a number of targets.

    Examples
    --------
    >>> s = TopicSettings()
    >>> s.fanout(1000), s.table_size(1000), s.select(1000), round(s.forward, 3)
    (11, 11, 0.005, 0.333)
    """

    c: float = 5.0
    g: float = 5.0
    a: float = 1.0
    z: int = 3
    tau: int = 1
    b: float | None = None
    p_sel: float | None = None
    rounding: Literal["down", "up"] = "down"

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        require(self, c=0, g=1, z=1, b=0, p_sel=(0, 1))
        require(self, a=(1, self.z), tau=(0, self.z))
        if self.rounding not in ("down", "up"):
            raise InputError(f"rounding: expected 'down' or 'up', got {self.rounding!r}")

    def fanout(self, n: int) -> int:
        """Targets within a community of n: ln n + c, rounded."""
        return max(1, self._round(log(n) + self.c)) if n > 0 else 0

    def table_size(self, n: int) -> int:
        """Entries of a topic table in a community of n."""
        if self.b is None or n <= 0:
            return self.fanout(n)
        return max(1, self._round((self.b + 1) * log(n)))

    def select(self, n: int) -> float:
        """p_sel in a community of n."""
        return self.p_sel if self.p_sel is not None else min(1.0, self.g / n) if n > 0 else 0.0

    @property
    def forward(self) -> float:
        """p_a."""
        return self.a / self.z

    def _round(self, x: float) -> int:
        return floor(x) if self.rounding == "down" else ceil(x)


SENDING_TO_ALL = TopicSettings(a=3, z=3)
"""For small communities: with p_a below 1, their events often reach no super-process."""


@dataclass(frozen=True)
class ScampSettings:
    """Settings of SCAMP.

    Attributes
    ----------
    c : int
        Extra copies of a new subscription. Views converge to (c + 1) ln n. Without failures 0 is enough;
        with 1 a group stays connected when a third of it crashes.
    lease : int
        Cycles that a subscription lasts. Up to half as many are added at random, so that not all end at once.
    indirection : int
        Steps of a request before it is served. More steps make views more even if many join by few contacts.
    isolation : int
        Cycles without a heartbeat after which a member subscribes again.
    patience : int
        Cycles to wait for an answer before a request is repeated.
    hop_limit : int
        Maximum number of steps of a copy of a subscription.
    contact_first : bool
        Renew through the contact, not through the view. If contacts come from outside the group, parts of a
        divided group become connected again.
    """

    c: int = 1
    lease: int = 100
    indirection: int = 10
    isolation: int = 10
    patience: int = 3
    hop_limit: int = 200
    contact_first: bool = False

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        require(self, "scamp", c=0, lease=2, indirection=0, isolation=1, patience=1, hop_limit=1)


@dataclass(frozen=True)
class CensusSettings:
    """Settings of the census.

    Attributes
    ----------
    minima : int
        Numbers that each member draws. The relative standard deviation of the estimate is
        1/sqrt(minima - 2).
    fan : int
        Members to which a tally is sent each cycle.
    period : int
        Cycles of one count: enough for its start to reach all members and for their numbers to come back,
        about 2 ln n with a fan of 2.
    askers : float
        Members of a community that ask a contact each cycle whether they are in the same part of it.
    """

    minima: int = 64
    fan: int = 2
    period: int = 32
    askers: float = 3.0

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        require(self, "census", minima=3, fan=1, period=2, askers=0)


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
    """Settings of CAMCAST's routing on the shared overlay (`hierarchy.peers.router`).

    Attributes
    ----------
    c : float
        Targets in the community, in addition to ln N.
    g : float
        Points around a community's ring for each event, in whole numbers. The members before them send it
        upward. With `coins`: members that send it upward, on average.
    a : float
        Entries of its super-topic table to which a member sends for each point, on average.
    coins : bool
        Decide as the paper does, by independent coins: with probability g/N a member is a link, and it sends
        to each entry with probability a/z. Then in a share of events no copy goes upward at all.
    rings : DisseminationSettings
        How range subscribers forward, and how often all repeat messages that are not acknowledged.

    Examples
    --------
    >>> CamcastRoute(c=4).g
    3.0
    """

    c: float = 0.0
    g: float = 3.0
    a: float = 1.0
    coins: bool = False
    rings: DisseminationSettings = field(default_factory=DisseminationSettings)

    def __post_init__(self) -> None:
        require(self, c=0, g=1, a=1)


class Reading(Enum):
    """Interpretation of lines 27 and 35 of Figure 6, which multiply |view| by R at every level.

    At level 1 a line of the table is one participant, so the prose (Section 5.1.2) and equation 17 contradict
    these lines there. Above level 1 all interpretations are the same.
    """

    PROSE = "prose"
    """The size of a level is the number of entries of its view, for rounds and for the share."""
    LINE_27 = "line 27"
    """The size of level 1 is multiplied by R for rounds, as line 27 is printed, but not for the share."""
    LINES_27_AND_35 = "lines 27 and 35"
    """The size of level 1 is multiplied by R for rounds and for the share, as both lines are printed."""


@dataclass(frozen=True)
class Gossip:
    """Settings of dissemination.

    Attributes
    ----------
    fanout : int
        Participants chosen per round, F, before filtering. More mean fewer rounds and more messages.
    constant : float
        Rounds of a level in addition to Pittel's asymptote, c. The asymptote is for large systems: in
        small ones events are lost without it.
    loss, crash : float
        Message loss and share of crashed participants that the number of rounds allows for.
    audience : int
        If fewer than this many participants of a view are interested, its first `audience` participants are
        treated as interested, D. 0: never.
    retries : int
        How many times a message is repeated in its round without an acknowledgement; 0 for no
        acknowledgements, as published.
    reliable : int
        The lowest level at which messages are repeated (Section 6.1.2: a more reliable protocol at the
        highest level, where a lost message isolates whole subsystems); 1: at every level.
    adaptive : bool
        Estimate the share of interested participants below the highest level, and adjust it by the matches
        (Section 6.1.1), instead of matching a whole view. It saves filtering; small audiences are inaccurate.
    reading : Reading
        Interpretation of lines 27 and 35 of Figure 6.
    redundancy : int
        R in these lines, if they are interpreted as printed.

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
        if not isfinite(self.constant):
            raise InputError(f"constant: expected a finite number of rounds, got {self.constant}")
        for name, value in (("loss", self.loss), ("crash", self.crash)):
            if not 0 <= value < 1:
                raise InputError(f"{name}: expected a probability below 1, got {value}")
        if self.adaptive and self.audience:
            raise InputError("adaptive: expected audience = 0, since the threshold needs every entry matched")

    @property
    def lowest(self) -> tuple[int, int]:
        """Factor on the size of a view of level 1 for rounds, and divisor of its share."""
        printed = self.redundancy
        return {
            Reading.PROSE: (1, 1),
            Reading.LINE_27: (printed, 1),
            Reading.LINES_27_AND_35: (printed, printed),
        }[self.reading]
