"""Settings of PolderCast."""

from __future__ import annotations

from dataclasses import dataclass, field

from sub2sub.errors import require
from sub2sub.peers.settings import CyclonSettings, VicinitySettings


@dataclass(frozen=True)
class RingsSettings:
    """Settings of the RINGS module.

    Attributes
    ----------
    neighbours : int
        Links kept in either direction of the ring; the first of them carry events, the others replace them.
    shuffle : int
        Links sent in one exchange, the sender's own included.
    max_age : int
        Oldest link to keep or accept, in cycles, and how long one that did not answer is not accepted.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    neighbours: int = 2
    shuffle: int = 8
    max_age: int = 15
    tries: int = 3

    def __post_init__(self) -> None:
        require(self, "rings", neighbours=1, shuffle=1, max_age=1, tries=1)


@dataclass(frozen=True)
class PolderCastSettings:
    """Settings of all three modules.

    Attributes
    ----------
    cyclon, vicinity, rings
        Random links, links to peers of the same topic, and ring links.
    """

    cyclon: CyclonSettings = field(default_factory=lambda: CyclonSettings(retry=10, tries=3))
    vicinity: VicinitySettings = field(default_factory=lambda: VicinitySettings(max_age=20))
    rings: RingsSettings = field(default_factory=RingsSettings)
