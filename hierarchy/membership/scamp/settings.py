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
        Cycles a subscription lasts, up to half as many more by chance so that not all end at once.
    indirection : int
        Steps a request walks before it is served. More make views more even when many join by few contacts.
    isolation : int
        Cycles without a heartbeat after which a member subscribes again.
    patience : int
        Cycles to wait for an answer to a request before asking again.
    hop_limit : int
        Steps after which a copy of a subscription is given up.
    contact_first : bool
        Renew through the contact, not through the own view. If contacts are found anew elsewhere, groups
        that were divided become connected again.
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
