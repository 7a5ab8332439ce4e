"""The messages of live CAMCAST processes. On the wire: `hierarchy.live.wire` and docs/live-wire.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from hierarchy.contacts import Contact, Send, Sends
from hierarchy.live.backing import Depend
from hierarchy.live.liveness import Beaten
from hierarchy.membership.census.peer import CensusMessage, Compare, Compared, Tally
from hierarchy.membership.pgrid.peer import (
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
from hierarchy.membership.scamp.scamp_messages import (
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
from hierarchy.super_tables.peer import Check, Checked, Find, Found, SuperMessage, Supers

__all__ = [
    "Beat",
    "Beaten",
    "Check",
    "Checked",
    "Compare",
    "Compared",
    "Contact",
    "Copy",
    "Depend",
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
class Event:
    """An event (CAMCAST, Section 5.3.2.1): name, topic, publisher, round, its p_sel if 0 or more, data.

    It may be signed (`sub2sub.live.net.signatures`).
    """

    name: bytes
    topic: str
    publisher: int
    round: int
    upward: float
    data: bytes
    signer: bytes = b""
    signature: bytes = b""

    @property
    def signed(self) -> bytes:
        """What a signature is of: the kind, and all but the round, which changes on the way."""
        topic = self.topic.encode()
        head = struct.pack(">HQd", len(topic), self.publisher, self.upward)
        return b"event of a community" + self.name + head + topic + self.data


Message = ScampMessage | SuperMessage | GridMessage | CensusMessage | Event | Beaten | Depend
