"""What a live member is given, and what it remembers of an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hierarchy.peers.contacts import Contact
from hierarchy.peers.settings import CensusSettings, ScampSettings, TopicSettings
from sub2sub.errors import InputError, require

Gateways = Mapping[str, Sequence[Contact]]
"""Well-known members of communities, by topic; their ids are learnt by asking, and 0 here."""


@dataclass(frozen=True)
class MemberSettings:
    """Settings of a live member.

    Attributes
    ----------
    topic, scamp, census
        As of the simulator.
    timeout : int
        Cycles between two requests of a search.
    grace : float
        How long an entry of the view is kept after its lease, in leases: clocks differ, renewing takes time
        and may have to be tried again. A member that has renewed says so, and one that is gone
        is dropped for its silence.
    patience : int
        Cycles that the entries of a super-topic table have to answer a check.
    memory : int
        Events remembered as seen.
    """

    topic: TopicSettings = field(default_factory=TopicSettings)
    scamp: ScampSettings = field(default_factory=ScampSettings)
    census: CensusSettings = field(default_factory=CensusSettings)
    timeout: int = 3
    grace: float = 1.0
    patience: int = 2
    memory: int = 65536

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        require(self, timeout=1, grace=0, patience=0, memory=1)
        for name, kind in (("topic", TopicSettings), ("scamp", ScampSettings), ("census", CensusSettings)):
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name}: expected {kind.__name__}, got {getattr(self, name)!r}")


@dataclass
class Trace:
    """What a member remembers of an event: the round it came in, and messages of it that came and went."""

    round: int
    arrived: int = 1
    upward: int = 0
    within: int = 0
