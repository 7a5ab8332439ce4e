"""The messages of live CAMCAST processes. On the wire: `hierarchy.live.wire` and docs/live-wire.md."""

from __future__ import annotations

from dataclasses import dataclass

from hierarchy.peers.census import CensusMessage
from hierarchy.peers.pgrid import GridMessage
from hierarchy.peers.scamp_messages import ScampMessage
from hierarchy.peers.super_table import SuperMessage

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
