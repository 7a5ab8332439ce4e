"""The messages of SCAMP: see `hierarchy.peers.scamp` for when they are sent."""

from __future__ import annotations

from dataclasses import dataclass

from hierarchy.peers.contacts import Contact


@dataclass(frozen=True)
class Subscribe:
    """Serve this newcomer's subscription after `steps` more steps; its lease lasts `lease` cycles."""

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
    """A copy of a subscription, to be kept or passed on for `steps` more steps."""

    newcomer: Contact
    lease: int
    steps: int


@dataclass(frozen=True)
class Kept:
    """The sender has taken the receiver into its view."""

    holder: Contact


@dataclass(frozen=True)
class Replace:
    """The sender's subscription has ended; replace it by this member, if there is one."""

    by: tuple[Contact, ...]
    lease: int


@dataclass(frozen=True)
class Dropped:
    """The sender has removed the receiver from its view."""


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
    """The weight of the receiver's link to the sender, and the total weight of all links to the sender."""

    weight: float
    total: float


ScampMessage = Subscribe | Served | Copy | Kept | Replace | Dropped | Beat | Weigh | Weighed
