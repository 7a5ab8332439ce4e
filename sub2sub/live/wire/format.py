"""The wire format of live Sub-2-Sub peers: their kinds of messages, in the frames of `framing`.

docs/live-wire.md describes it. `to` and `from` are sequence IDs, or the numbers of nodes that only publish.
The same peers are mentioned many times, so a descriptor is a short string of bytes, whose decoded form is
cached.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

from sub2sub.geometry.boxes import MAX_ATTRIBUTES
from sub2sub.live.core import messages as m
from sub2sub.live.core.messages import Mentions
from sub2sub.live.wire.framing import (
    MAX_HOST,
    Check,
    Protocol,
    WireError,
    boolean,
    finite,
    host_name,
    integer,
    items,
    number,
    octets,
    shown,
)
from sub2sub.peers.descriptors import MAX_DATA, Descriptor

VERSION = 3
UNIT = 100  # steps of a clock in a cycle; ages are counted in steps
HEAD = struct.Struct(">QHB")  # sequence ID, port, number of attributes
MAX_LINKS = 256  # mentions in one list, each of which costs time to decode; views have 63 at most
MAX_RING_LINKS = 1024  # mentions in one list of ring links
MAX_AGE = 1 << 19  # steps of a clock
NAME = 16  # bytes of an event's name
INTEGERS, STRINGS = {int}, {bytes}
NOBODY = Mentions()

KINDS: dict[int, type[Any]] = {
    1: m.Shuffle, 2: m.Shuffled, 3: m.Near, 4: m.NearBack, 5: m.Ring, 6: m.RingBack, 7: m.Hello, 8: m.Probe,
    9: m.Probed, 10: m.Event, 11: m.Taken, 12: m.Join, 13: m.Welcome, 14: m.Ask, 15: m.Answer, 16: m.Leave,
    17: m.Seek, 18: m.Digest, 19: m.Lacking, 20: m.Changed,
}  # fmt: skip


def pack(peer: Descriptor) -> bytes:
    """A descriptor as bytes: ID, port, number of attributes, lows, highs, host.

    Examples
    --------
    >>> peer = Descriptor.of(7, [0.25], [0.5], ("127.0.0.1", 9000))
    >>> unpack(pack(peer)) == peer, len(pack(peer))
    (True, 36)
    """
    if not peer.packed:
        host: str
        host, port = peer.address
        numbers = struct.pack(f">{2 * peer.d}d", *peer.low, *peer.high)
        data = HEAD.pack(peer.id, port, peer.d) + numbers + host.encode()
        object.__setattr__(peer, "packed", data)
    return peer.packed


@lru_cache(8192)
def unpack(data: bytes) -> Descriptor:
    """The descriptor that some bytes encode.

    Raises
    ------
    WireError
        If the length is wrong, a number is NaN or infinite, a low is above its high, the port is 0, or the
        host is invalid.
    """
    if len(data) < HEAD.size:
        raise WireError(f"peer: expected {HEAD.size} bytes or more, got {len(data)}")
    id, port, d = HEAD.unpack_from(data)
    end = HEAD.size + 16 * d
    if not 1 <= d <= MAX_ATTRIBUTES or not end < len(data) <= end + MAX_HOST:
        raise WireError(
            f"peer: expected 1 to {MAX_ATTRIBUTES} attributes and a host, got {d} and {len(data)} bytes"
        )
    numbers = finite(struct.unpack_from(f">{2 * d}d", data, HEAD.size), "peer")
    low, high = numbers[:d], numbers[d:]
    if any(a > b for a, b in zip(low, high, strict=True)):
        raise WireError("peer: expected a low not above its high")
    address = host_name(data[end:], "peer"), integer(port, "peer", 65535, 1)
    return Descriptor(id, low, high, address)


def plain(value: Any) -> Any:
    """The value of a field as msgpack encodes it."""
    if isinstance(value, Mentions):
        if not value.peers:
            return ()
        return [peer.packed or pack(peer) for peer in value.peers], _capped(value.ages), _capped(value.held)
    return pack(value) if isinstance(value, Descriptor) else value


def _capped(ages: tuple[int, ...]) -> tuple[int, ...]:
    return ages if max(ages, default=0) <= MAX_AGE else tuple([min(age, MAX_AGE) for age in ages])


def _descriptor(value: Any, where: str) -> Descriptor:
    return unpack(octets(MAX_DATA)(value, where))


def _mentions(value: Any, where: str, most: int = MAX_LINKS) -> Mentions:
    """Links as columns. They are most of the traffic, so a whole column is checked at once."""
    columns = items(value, where, 3)
    if not columns:
        return NOBODY
    if len(columns) != 3:
        raise WireError(f"{where}: expected peers, ages, held, got {shown(columns)}")
    peers, ages, held = (items(column, where, most) for column in columns)
    if not len(peers) == len(ages) > 0 or len(held) not in (0, len(peers)):
        raise WireError(f"{where}: expected as many ages as peers, got {len(ages)} and {len(peers)}")
    for numbers in (ages, held) if held else (ages,):
        if set(map(type, numbers)) != INTEGERS or min(numbers) < 0 or max(numbers) > MAX_AGE:
            raise WireError(f"{where}: expected ages from 0 to {MAX_AGE}, got {shown(numbers)}")
    if set(map(type, peers)) != STRINGS:
        raise WireError(f"{where}: expected peers as bytes, got {shown(peers)}")
    return Mentions(tuple(map(unpack, peers)), tuple(ages), tuple(held) if any(held) else ())


def _point(value: Any, where: str) -> tuple[float, ...]:
    for x in items(value, where, MAX_ATTRIBUTES, 1):
        if type(x) is not float:
            raise WireError(f"{where}: expected floats, got {shown(x)}")
    return finite(tuple(value), where)


def _names(value: Any, where: str) -> tuple[bytes, ...]:
    check = octets(NAME, NAME)
    return tuple([check(name, where) for name in items(value, where, m.MAX_NAMES)])


def _ages(value: Any, where: str) -> tuple[int, ...]:
    return tuple([integer(age, where, MAX_AGE) for age in items(value, where, m.MAX_NAMES)])


CHECKS: dict[str, Check] = {
    "exchange": number,
    "links": _mentions,
    "fed": _mentions,
    "ring": lambda value, where: _mentions(value, where, MAX_RING_LINKS),
    "sender": _descriptor,
    "name": octets(NAME, NAME),
    "names": _names,
    "ages": _ages,
    "point": _point,
    "hops": lambda value, where: integer(value, where, m.MAX_HOPS),
    "data": octets(MAX_DATA),
    "took": boolean,
}
PROTOCOL = Protocol(VERSION, KINDS, CHECKS, plain)
encode, decode = PROTOCOL.encode, PROTOCOL.decode
