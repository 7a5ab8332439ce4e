"""The messages of live CAMCAST processes. On the wire: `hierarchy.live.wire` and docs/live.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "Beat",
    "Check",
    "Checked",
    "Contact",
    "Copy",
    "Event",
    "Find",
    "Found",
    "Kept",
    "Listed",
    "Meet",
    "Message",
    "Met",
    "Placed",
    "Post",
    "Posting",
    "Replace",
    "Route",
    "Send",
    "Served",
    "Stand",
    "Subscribe",
    "Supers",
]


class Contact(NamedTuple):
    """A member of a community: the paper's RemotePeer."""

    id: int
    host: str
    port: int
    topic: str

    @property
    def address(self) -> tuple[str, int]:
        """Where to connect to."""
        return self.host, self.port


@dataclass(frozen=True)
class Find:
    """REQCONTACT (CAMCAST, Figure 5): who is in one of these topics, nearest first?"""

    exchange: int
    topics: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """ANSCONTACT: some members of the nearest such topic the asked one knows of."""

    exchange: int
    contacts: tuple[Contact, ...]


@dataclass(frozen=True)
class Subscribe:
    """SCAMP: serve this newcomer's subscription, after so many more steps; its lease lasts so many cycles."""

    newcomer: Contact
    lease: int
    extra: int
    steps: int


@dataclass(frozen=True)
class Served:
    """SCAMP: the sender has served the receiver's subscription."""

    server: Contact
    lease: int


@dataclass(frozen=True)
class Copy:
    """SCAMP: a copy of a subscription, to be kept or passed on for so many more steps."""

    newcomer: Contact
    lease: int
    steps: int


@dataclass(frozen=True)
class Kept:
    """SCAMP: the sender has the receiver in its view now."""

    holder: Contact


@dataclass(frozen=True)
class Replace:
    """SCAMP: the sender leaves; take this one in its place, or nobody."""

    heir: tuple[Contact, ...]
    lease: int


@dataclass(frozen=True)
class Beat:
    """SCAMP: a heartbeat along a link."""


@dataclass(frozen=True)
class Check:
    """CHECK (CAMCAST, Figure 6): is the receiver, an entry of a super-topic table, still there?"""

    exchange: int


@dataclass(frozen=True)
class Checked:
    """Yes, and these are others of its community."""

    exchange: int
    contacts: tuple[Contact, ...]


@dataclass(frozen=True)
class Supers:
    """A super-topic table that changed, passed on within the community."""

    contacts: tuple[Contact, ...]


@dataclass(frozen=True)
class Event:
    """An event (CAMCAST, Section 5.3.2.1): name, topic, publisher, round, its p_sel if 0 or more, data."""

    name: bytes
    topic: str
    publisher: int
    round: int
    upward: float
    data: bytes


class Stand(NamedTuple):
    """Where a peer stands in the P-Grid, and whom it knows there."""

    peer: Contact
    path: int
    length: int
    references: tuple[tuple[Contact, ...], ...]
    buddies: tuple[Contact, ...]


class Posting(NamedTuple):
    """An announcement: a member, and for how many cycles it holds."""

    member: Contact
    lease: int


@dataclass(frozen=True)
class Meet:
    """P-Grid: the sender, as it stands, would like to meet, and shares the announcements it holds."""

    exchange: int
    stand: Stand
    postings: tuple[Posting, ...]


@dataclass(frozen=True)
class Met:
    """P-Grid: how the asker stands after the meeting, others to meet, and announcements."""

    exchange: int
    stand: Stand
    others: tuple[Contact, ...]
    postings: tuple[Posting, ...]


@dataclass(frozen=True)
class Route:
    """P-Grid: hand this on to where the key belongs, for so many more steps.

    `wish` says what is wanted there: 0 a place, 1 members of the topic, 2 to announce oneself as one,
    3 members of the topic and, if there are none, to be the first.
    """

    exchange: int
    asker: Contact
    wish: int
    key: int
    topic: str
    steps: int


@dataclass(frozen=True)
class Placed:
    """P-Grid: become a replica of the sender, which stands like this and holds these announcements."""

    exchange: int
    stand: Stand
    postings: tuple[Posting, ...]


@dataclass(frozen=True)
class Listed:
    """P-Grid: so many members of the topic are known here, and these are some of them."""

    exchange: int
    known: int
    contacts: tuple[Contact, ...]


@dataclass(frozen=True)
class Post:
    """P-Grid: announcements for a replica."""

    postings: tuple[Posting, ...]


Message = (
    Find | Found | Subscribe | Served | Copy | Kept | Replace | Beat | Check | Checked | Supers | Event
    | Meet | Met | Route | Placed | Listed | Post
)  # fmt: skip


@dataclass(frozen=True)
class Send:
    """What a core wants sent: to a member, or, with `to` None, back to whoever it has just heard from."""

    to: Contact | None
    message: Message
