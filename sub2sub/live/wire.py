"""The wire format: a length, then one msgpack array. docs/live.md has the table of messages.

    uint32, big-endian: bytes that follow | [version, kind, to, from, field, field, ...]

`to` and `from` are sequence IDs (or the numbers of nodes that only publish). Everything that arrives is
checked here, field by field, before any object is made of it: types, ranges, lengths, dimensions, NaN, low
above high. What fails is refused with a `WireError` that says why; a stream that breaks the framing cannot be
followed any further and has to be closed.
"""

from __future__ import annotations

import math
import string
import struct
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

import msgpack  # type: ignore[import-untyped]

from sub2sub.boxes import MAX_ATTRIBUTES
from sub2sub.live import messages as m
from sub2sub.live.peers import Descriptor, Mention

__all__ = [
    "LENGTH",
    "MAX_DATA",
    "MAX_FRAME",
    "UNIT",
    "VERSION",
    "Frame",
    "WireError",
    "decode",
    "encode",
    "pack",
    "size_of",
    "unpack",
]

VERSION = 1
LENGTH = struct.Struct(">I")
HEAD = struct.Struct(">QHB")  # sequence ID, port, number of attributes
HOST = frozenset((string.ascii_letters + string.digits + ".:-_%").encode())
UNIT = 100  # steps of a clock in a cycle: what ages are counted in
MAX_FRAME = 1 << 20  # bytes after the length
MAX_DATA = 1 << 16  # bytes of an event
MAX_LINKS = 2048  # mentions in one list
MAX_AGE = 1 << 19  # steps of a clock
MAX_HOPS = 1 << 16
MAX_HOST = 253  # characters, as of a domain name
NAME = 16  # bytes of an event's name
MOST = (1 << 64) - 1

KINDS: dict[int, type[Any]] = {
    1: m.Shuffle, 2: m.Shuffled, 3: m.Near, 4: m.NearBack, 5: m.Ring, 6: m.RingBack, 7: m.Hello, 8: m.Probe,
    9: m.Probed, 10: m.Event, 11: m.Taken, 12: m.Join, 13: m.Welcome, 14: m.Ask, 15: m.Answer, 16: m.Leave,
}  # fmt: skip
_NUMBERS = {kind: number for number, kind in KINDS.items()}


class WireError(ValueError):
    """A frame that is refused, and why."""


class Frame(NamedTuple):
    """A message with whom it is for and who says to have sent it."""

    to: int
    sender: int
    message: m.Message


def encode(frame: Frame) -> bytes:
    """A frame as bytes, with its length in front.

    Examples
    --------
    >>> decode(encode(Frame(7, 8, m.Probe(1)))[4:])
    Frame(to=7, sender=8, message=Probe(exchange=1))
    """
    message = frame.message
    values = [_plain(getattr(message, field.name)) for field in fields(message)]
    body: bytes = msgpack.packb([VERSION, _NUMBERS[type(message)], frame.to, frame.sender, *values])
    if len(body) > MAX_FRAME:
        raise WireError(f"frame: expected at most {MAX_FRAME} bytes, got {len(body)}")
    return LENGTH.pack(len(body)) + body


def size_of(prefix: bytes) -> int:
    """The length a frame announces.

    Raises
    ------
    WireError
        When it is longer than any frame.

    Examples
    --------
    >>> size_of(b"\\x00\\x00\\x00\\x05")
    5
    """
    (size,) = LENGTH.unpack(prefix)
    if not 0 < size <= MAX_FRAME:
        raise WireError(f"length: expected 1 to {MAX_FRAME} bytes, got {size}")
    return int(size)


def decode(body: bytes) -> Frame:
    """The frame in a body.

    Raises
    ------
    WireError
        For anything but a well-formed frame of this version.
    """
    try:
        values = msgpack.unpackb(
            body, max_array_len=MAX_LINKS, max_str_len=1, max_bin_len=MAX_DATA, max_map_len=1, max_ext_len=1
        )
    except Exception as error:  # msgpack raises several kinds, from recursion to bad UTF-8
        raise WireError(f"frame: expected msgpack, got {type(error).__name__}") from None
    if not isinstance(values, list) or len(values) < 4:
        raise WireError("frame: expected an array of version, kind, to, from, ...")
    version, kind, to, sender, *rest = values
    if version != VERSION or isinstance(version, bool):
        raise WireError(f"version: expected {VERSION}, got {_shown(version)}")
    made = KINDS.get(kind) if type(kind) is int else None
    if made is None:
        raise WireError(f"kind: expected 1 to {max(KINDS)}, got {_shown(kind)}")
    names = [field.name for field in fields(made)]
    if len(rest) != len(names):
        raise WireError(f"{made.__name__}: expected {len(names)} fields, got {len(rest)}")
    checked = [
        _CHECKS[name](value, f"{made.__name__}.{name}") for name, value in zip(names, rest, strict=True)
    ]
    return Frame(_number(to, "to"), _number(sender, "from"), made(*checked))


def _plain(value: Any) -> Any:
    """Descriptors, mentions and their tuples as msgpack knows values."""
    if isinstance(value, Descriptor):
        return pack(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Mention):
        return [(pack(peer), min(age, MAX_AGE), min(held, MAX_AGE)) for peer, age, held in value]
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 else text[:37] + "..."


def _integer(value: Any, where: str, most: int, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= most:
        raise WireError(f"{where}: expected an integer from {least} to {most}, got {_shown(value)}")
    return value


def _number(value: Any, where: str) -> int:
    return _integer(value, where, MOST)


def _list(value: Any, where: str, most: int, least: int = 0) -> list[Any]:
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise WireError(f"{where}: expected {least} to {most} items, got {_shown(value)}")
    return value


def _finite(values: tuple[float, ...], where: str) -> tuple[float, ...]:
    if not all(map(math.isfinite, values)):
        raise WireError(f"{where}: expected finite numbers, got {_shown(values)}")
    return tuple(x + 0.0 for x in values)  # no negative zeros, as in sub2sub.boxes


def _point(value: Any, where: str) -> tuple[float, ...]:
    for x in _list(value, where, MAX_ATTRIBUTES, 1):
        if type(x) is not float:
            raise WireError(f"{where}: expected floats, got {_shown(x)}")
    return _finite(tuple(value), where)


@lru_cache(8192)
def pack(peer: Descriptor) -> bytes:
    """A descriptor as bytes: ID, port, number of attributes, lows, highs, host.

    Examples
    --------
    >>> peer = Descriptor.of(7, "127.0.0.1", 9000, [0.25], [0.5])
    >>> unpack(pack(peer)) == peer, len(pack(peer))
    (True, 36)
    """
    numbers = struct.pack(f">{2 * peer.d}d", *peer.low, *peer.high)
    return HEAD.pack(peer.id, peer.port, peer.d) + numbers + peer.host.encode()


@lru_cache(8192)  # a peer is mentioned again and again, and what was checked once is the same bytes
def unpack(data: bytes) -> Descriptor:
    """The descriptor in some bytes.

    Raises
    ------
    WireError
        For a wrong length, NaN or infinity, low above high, port 0, or a host that is none.
    """
    if len(data) < HEAD.size:
        raise WireError(f"peer: expected {HEAD.size} bytes or more, got {len(data)}")
    id, port, d = HEAD.unpack_from(data)
    end = HEAD.size + 16 * d
    if not 1 <= d <= MAX_ATTRIBUTES or not end < len(data) <= end + MAX_HOST:
        raise WireError(
            f"peer: expected 1 to {MAX_ATTRIBUTES} attributes and a host, got {d} and {len(data)} bytes"
        )
    numbers = _finite(struct.unpack_from(f">{2 * d}d", data, HEAD.size), "peer")
    low, high = numbers[:d], numbers[d:]
    if any(a > b for a, b in zip(low, high, strict=True)):
        raise WireError("peer: expected a low not above its high")
    host = data[end:]
    if port == 0 or not host.isascii() or not HOST.issuperset(host):
        raise WireError(f"peer: expected a host and a port, got {_shown(host)} and {port}")
    return Descriptor(id, host.decode(), port, low, high)


def _descriptor(value: Any, where: str) -> Descriptor:
    if type(value) is not bytes:
        raise WireError(f"{where}: expected bytes, got {_shown(value)}")
    return unpack(value)


def _mentions(value: Any, where: str) -> tuple[Mention, ...]:
    mentions = []
    for item in _list(value, where, MAX_LINKS):
        peer, age, held = _list(item, where, 3, 3)
        mentions.append(
            Mention(_descriptor(peer, where), _integer(age, where, MAX_AGE), _integer(held, where, MAX_AGE))
        )
    return tuple(mentions)


def _bytes(most: int, least: int = 0) -> Callable[[Any, str], bytes]:
    def check(value: Any, where: str) -> bytes:
        if type(value) is not bytes or not least <= len(value) <= most:
            raise WireError(f"{where}: expected {least} to {most} bytes, got {_shown(value)}")
        return value

    return check


def _boolean(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise WireError(f"{where}: expected true or false, got {_shown(value)}")
    return value


_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "exchange": _number,
    "links": _mentions,
    "fed": _mentions,
    "ring": _mentions,
    "sender": _descriptor,
    "name": _bytes(NAME, NAME),
    "point": _point,
    "hops": lambda value, where: _integer(value, where, MAX_HOPS),
    "data": _bytes(MAX_DATA),
    "took": _boolean,
}
