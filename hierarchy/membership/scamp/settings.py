"""Settings of SCAMP."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require


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
