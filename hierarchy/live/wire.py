"""The wire format of live CAMCAST processes: frames as `sub2sub.live.wire.framing`, docs/live-wire.md."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

from hierarchy.live import messages as m
from hierarchy.live.messages import Contact
from hierarchy.live.topic_graph import MAX_TOPIC
from hierarchy.peers.census import LAST
from sub2sub.live.wire.framing import (
    MAX_HOST,
    Check,
    Protocol,
    WireError,
    finite,
    host_name,
    integer,
    items,
    number,
    octets,
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
MAX_EPOCH = 2 * LAST  # of counts in the census
MAX_MINIMA = 1024
NAME = 16  # bytes of an event's name

KINDS: dict[int, type[Any]] = {
    1: m.Find, 2: m.Found, 3: m.Subscribe, 4: m.Served, 5: m.Copy, 6: m.Kept, 7: m.Replace, 8: m.Beat,
    9: m.Check, 10: m.Checked, 11: m.Supers, 12: m.Event, 13: m.Meet, 14: m.Met, 15: m.Route, 16: m.Placed,
    17: m.Listed, 18: m.Post, 19: m.Dropped, 20: m.Weigh, 21: m.Weighed, 22: m.Beaten,
    23: m.Tally, 24: m.Compare, 25: m.Compared,
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
    if isinstance(value, m.Position | m.Posting):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _contact(value: Any, where: str) -> Contact:
    if type(value) is not bytes:
        raise WireError(f"{where}: expected bytes, got {shown(value)}")
    return unpack(value)


def _contacts(value: Any, where: str) -> tuple[Contact, ...]:
    return tuple(_contact(item, where) for item in items(value, where, MAX_CONTACTS))


def _position(value: Any, where: str) -> m.Position:
    peer, path, length, references, buddies = items(value, where, 5, 5)
    return m.Position(
        _contact(peer, where),
        number(path, where),
        integer(length, where, MAX_DEPTH),
        tuple(_contacts(level, where) for level in items(references, where, MAX_DEPTH)),
        _contacts(buddies, where),
    )


def _postings(value: Any, where: str) -> tuple[m.Posting, ...]:
    pairs = [items(item, where, 2, 2) for item in items(value, where, MAX_POSTINGS)]
    return tuple(m.Posting(_contact(who, where), integer(lease, where, MAX_CYCLES)) for who, lease in pairs)


def _topic(value: Any, where: str) -> str:
    if type(value) is not bytes:
        raise WireError(f"{where}: expected bytes, got {shown(value)}")
    return _topic_name(value, where)


def _probability(value: Any, where: str) -> float:
    if type(value) is not float:
        raise WireError(f"{where}: expected a float, got {shown(value)}")
    (chance,) = finite((value,), where)
    if chance > 1.0:
        raise WireError(f"{where}: expected a probability, or below 0 for none, got {chance}")
    return chance


def _weight(value: Any, where: str) -> float:
    if type(value) is not float:
        raise WireError(f"{where}: expected a float, got {shown(value)}")
    (weight,) = finite((value,), where)
    if not 0.0 <= weight <= MAX_WEIGHT:
        raise WireError(f"{where}: expected a weight from 0 to {MAX_WEIGHT:.0e}, got {weight}")
    return weight


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
    "round": lambda value, where: integer(value, where, m.MAX_ROUND),
    "upward": _probability,
    "weight": _weight,
    "total": _weight,
    "data": octets(MAX_DATA),
    "epoch": lambda value, where: integer(value, where, MAX_EPOCH, -1),
    "size": _weight,
    "minima": lambda value, where: tuple(
        integer(item, where, (1 << 32) - 1) for item in items(value, where, MAX_MINIMA)
    ),
    "member": _contact,
}
PROTOCOL = Protocol(VERSION, KINDS, CHECKS, _plain)
