"""The messages of SCAMP: see `hierarchy.membership.scamp.peer` for who sends which, and when."""

from __future__ import annotations

from dataclasses import dataclass

from hierarchy.contacts import Contact


@dataclass(frozen=True)
class Subscribe:
    """Serve this newcomer's subscription, after so many more steps; its lease lasts so many cycles."""

    newcomer: Contact
    lease: int
    extra: int
    steps: int


@dataclass(frozen=True)
class Served:
    """The sender has served the receiver's subscription."""

    server: Contact
    lease: int


@dataclass(frozen=True)
class Copy:
    """A copy of a subscription, to be kept or passed on for so many more steps."""

    newcomer: Contact
    lease: int
    steps: int


@dataclass(frozen=True)
class Kept:
    """The sender has the receiver in its view now."""

    holder: Contact


@dataclass(frozen=True)
class Replace:
    """The sender's subscription is over; take this member in its place, or nobody."""

    heir: tuple[Contact, ...]
    lease: int


@dataclass(frozen=True)
class Dropped:
    """The sender does not have the receiver in its view any more."""


@dataclass(frozen=True)
class Beat:
    """A heartbeat along a link."""


@dataclass(frozen=True)
class Weigh:
    """The sender's link to the receiver has this weight."""

    holder: Contact
    weight: float


@dataclass(frozen=True)
class Weighed:
    """All links to the sender, of which the receiver's has this weight, have that weight together."""

    weight: float
    total: float


ScampMessage = Subscribe | Served | Copy | Kept | Replace | Dropped | Beat | Weigh | Weighed
