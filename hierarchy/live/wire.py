"""The wire format of live CAMCAST processes: frames as `sub2sub.live.wire.framing`, docs/live-wire.md."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

from hierarchy.live.messages import MAX_ROUND, Beaten, Event
from hierarchy.live.topic_graph import MAX_TOPIC
from hierarchy.peers import super_table
from hierarchy.peers.census import LAST, Compare, Compared, Tally
from hierarchy.peers.contacts import Contact
from hierarchy.peers.pgrid import Listed, Meet, Met, Placed, Position, Post, Posting, Route
from hierarchy.peers.scamp_messages import (
    Beat,
    Copy,
    Dropped,
    Kept,
    Replace,
    Served,
    Subscribe,
    Weigh,
    Weighed,
)
from hierarchy.peers.super_table import Checked, Find, Found, Supers
from sub2sub.live.wire.framing import (
    MAX_HOST,
    Check,
    Protocol,
    WireError,
    host_name,
    integer,
    items,
    number,
    octets,
    real,
    shown,
)
from sub2sub.peers.descriptors import MAX_DATA

VERSION = 3
HEAD = struct.Struct(">QHB")  # number of the member, port, length of the host
MAX_CONTACTS = 256  # in one list
MAX_CHAIN = 64  # topics asked for at once
MAX_CYCLES = 1 << 20
MAX_DEPTH = 32  # bits of a path in the P-Grid
MAX_POSTINGS = 2048
MAX_STEPS = 1024
MAX_WEIGHT = 1e12  # of links in SCAMP
WEIGHT = real(0.0, MAX_WEIGHT)
MAX_EPOCH = 2 * LAST  # of counts in the census
MAX_MINIMA = 1024
CONTACT = octets(HEAD.size + MAX_HOST + MAX_TOPIC)
NAME = 16  # bytes of an event's name

KINDS: dict[int, type[Any]] = {
    1: Find, 2: Found, 3: Subscribe, 4: Served, 5: Copy, 6: Kept, 7: Replace, 8: Beat,
    9: super_table.Check, 10: Checked, 11: Supers, 12: Event, 13: Meet, 14: Met, 15: Route, 16: Placed,
    17: Listed, 18: Post, 19: Dropped, 20: Weigh, 21: Weighed, 22: Beaten,
    23: Tally, 24: Compare, 25: Compared,
}  # fmt: skip


@lru_cache(8192)
def pack(contact: Contact) -> bytes:
    """A contact as bytes: number, port, length of the host, host, topic.

    Examples
    --------
    >>> one = Contact(7, "127.0.0.1", 9000, ".a.d")
    >>> unpack(pack(one)) == one
    True
    """
    host = contact.host.encode()
    return HEAD.pack(contact.id, contact.port, len(host)) + host + contact.topic.encode()


@lru_cache(8192)
def unpack(data: bytes) -> Contact:
    """The contact in some bytes; refuses a wrong length, port 0, an invalid host or topic."""
    if len(data) < HEAD.size:
        raise WireError(f"contact: expected {HEAD.size} bytes or more, got {len(data)}")
    id, port, length = HEAD.unpack_from(data)
    end = HEAD.size + min(length, MAX_HOST)
    host = host_name(data[HEAD.size : end], "contact")
    return Contact(id, host, integer(port, "contact", 65535, 1), _topic_name(data[end:], "contact"))


def _topic_name(data: bytes, where: str) -> str:
    if not 0 < len(data) <= MAX_TOPIC or not data.startswith(b"."):
        raise WireError(f"{where}: expected a topic, got {shown(data)}")
    try:
        name = data.decode()
    except UnicodeDecodeError:
        raise WireError(f"{where}: expected a topic in UTF-8, got {shown(data)}") from None
    if not name.isprintable() or (name != "." and "" in name[1:].split(".")):
        raise WireError(f"{where}: expected a topic, got {shown(name)}")
    return name


def _plain(value: Any) -> Any:
    if isinstance(value, Contact):
        return pack(value)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _contact(value: Any, where: str) -> Contact:
    return unpack(CONTACT(value, where))


def _contacts(value: Any, where: str) -> tuple[Contact, ...]:
    return tuple(_contact(item, where) for item in items(value, where, MAX_CONTACTS))


def _position(value: Any, where: str) -> Position:
    peer, path, length, references, buddies = items(value, where, 5, 5)
    return Position(
        _contact(peer, where),
        number(path, where),
        integer(length, where, MAX_DEPTH),
        tuple(_contacts(level, where) for level in items(references, where, MAX_DEPTH)),
        _contacts(buddies, where),
    )


def _postings(value: Any, where: str) -> tuple[Posting, ...]:
    pairs = [items(item, where, 2, 2) for item in items(value, where, MAX_POSTINGS)]
    return tuple(Posting(_contact(who, where), integer(lease, where, MAX_CYCLES)) for who, lease in pairs)


def _topic(value: Any, where: str) -> str:
    return _topic_name(octets(MAX_TOPIC, 1)(value, where), where)


CHECKS: dict[str, Check] = {
    "exchange": number,
    "topics": lambda value, where: tuple(_topic(item, where) for item in items(value, where, MAX_CHAIN, 1)),
    "contacts": _contacts,
    "others": _contacts,
    "position": _position,
    "postings": _postings,
    "asker": _contact,
    "wish": lambda value, where: integer(value, where, 3),
    "key": number,
    "known": lambda value, where: integer(value, where, 1 << 32),
    "by": lambda value, where: tuple(_contact(item, where) for item in items(value, where, 1)),
    "newcomer": _contact,
    "server": _contact,
    "holder": _contact,
    "lease": lambda value, where: integer(value, where, MAX_CYCLES),
    "extra": lambda value, where: integer(value, where, 16),
    "steps": lambda value, where: integer(value, where, MAX_STEPS),
    "name": octets(NAME, NAME),
    "topic": _topic,
    "publisher": number,
    "round": lambda value, where: integer(value, where, MAX_ROUND),
    "upward": real(-1.0, 1.0),
    "weight": WEIGHT,
    "total": WEIGHT,
    "data": octets(MAX_DATA),
    "epoch": lambda value, where: integer(value, where, MAX_EPOCH, -1),
    "size": WEIGHT,
    "minima": lambda value, where: tuple(
        integer(item, where, (1 << 32) - 1) for item in items(value, where, MAX_MINIMA)
    ),
    "member": _contact,
}
PROTOCOL = Protocol(VERSION, KINDS, CHECKS, _plain)
