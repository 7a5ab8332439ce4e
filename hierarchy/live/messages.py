"""The messages of live CAMCAST processes. On the wire: `hierarchy.live.wire` and docs/live-wire.md."""

from __future__ import annotations

from dataclasses import dataclass

from hierarchy.peers.census import CensusMessage, Compare, Compared, Tally
from hierarchy.peers.contacts import Contact, Send, Sends
from hierarchy.peers.pgrid import (
    GridMessage,
    Listed,
    Meet,
    Met,
    Placed,
    Position,
    Post,
    Posting,
    Route,
)
from hierarchy.peers.scamp_messages import (
    Beat,
    Copy,
    Dropped,
    Kept,
    Replace,
    ScampMessage,
    Served,
    Subscribe,
    Weigh,
    Weighed,
)
from hierarchy.peers.super_table import Check, Checked, Find, Found, SuperMessage, Supers

__all__ = [
    "Beat",
    "Beaten",
    "Check",
    "Checked",
    "Compare",
    "Compared",
    "Contact",
    "Copy",
    "Dropped",
    "Event",
    "Find",
    "Found",
    "Kept",
    "Listed",
    "Meet",
    "Message",
    "Met",
    "Placed",
    "Position",
    "Post",
    "Posting",
    "Replace",
    "Route",
    "Send",
    "Sends",
    "Served",
    "Subscribe",
    "Supers",
    "Tally",
    "Weigh",
    "Weighed",
]

MAX_ROUND = 1024  # an event that has come so far goes no further


@dataclass(frozen=True)
class Beaten:
    """The answer to a heartbeat."""


@dataclass(frozen=True)
class Event:
    """An event (CAMCAST, Section 5.3.2.1): name, topic, publisher, round, its p_sel if 0 or more, data."""

    name: bytes
    topic: str
    publisher: int
    round: int
    upward: float
    data: bytes


Message = ScampMessage | SuperMessage | GridMessage | CensusMessage | Event | Beaten
