"""The wire format: a length, then one msgpack array. docs/live.md has the table of messages.

    uint32, big-endian: bytes that follow | [version, kind, to, from, field, field, ...]

`to` and `from` are sequence IDs (or the numbers of nodes that only publish). Everything that arrives is
checked here, field by field, before any object is made of it: types, ranges, lengths, dimensions, NaN, low
above high. What fails is refused with a `WireError` that says why; a stream that breaks the framing cannot be
followed any further and has to be closed.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import msgpack  # type: ignore[import-untyped]

from sub2sub.boxes import LARGEST, MAX_ATTRIBUTES
from sub2sub.live import messages as m
from sub2sub.live.peers import Descriptor, Mention

__all__ = ["LENGTH", "MAX_DATA", "MAX_FRAME", "VERSION", "Frame", "WireError", "decode", "encode", "size_of"]

VERSION = 1
LENGTH = struct.Struct(">I")
MAX_FRAME = 1 << 20  # bytes after the length
MAX_DATA = 1 << 16  # bytes of an event
MAX_LINKS = 2048  # mentions in one list
MAX_AGE = 1 << 19  # cycles
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
            body, raw=False, strict_map_key=True, max_array_len=MAX_LINKS, max_str_len=4 * MAX_HOST,
            max_bin_len=MAX_DATA, max_map_len=0, max_ext_len=0,
        )  # fmt: skip
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
        return [value.id, value.host, value.port, value.low, value.high]
    if isinstance(value, Mention):
        return [_plain(value.peer), value.age, value.held]
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
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


def _floats(value: Any, where: str) -> tuple[float, ...]:
    for x in _list(value, where, MAX_ATTRIBUTES, 1):
        if type(x) is not float or not math.isfinite(x):
            raise WireError(f"{where}: expected finite floats, got {_shown(x)}")
    return tuple(x + 0.0 for x in value)  # no negative zeros, as in sub2sub.boxes


def _descriptor(value: Any, where: str) -> Descriptor:
    id, host, port, low, high = _list(value, where, 5, 5)
    if (
        not isinstance(host, str)
        or not 0 < len(host) <= MAX_HOST
        or not host.isascii()
        or not host.isprintable()
    ):
        raise WireError(f"{where}.host: expected a name or an address, got {_shown(host)}")
    lows, highs = _floats(low, f"{where}.low"), _floats(high, f"{where}.high")
    if len(lows) != len(highs):
        raise WireError(f"{where}.high: expected {len(lows)} attributes as low has, got {len(highs)}")
    if any(a > b or a == LARGEST for a, b in zip(lows, highs, strict=True)):
        raise WireError(f"{where}.low: expected a low not above its high")
    return Descriptor(
        _number(id, f"{where}.id"), host, _integer(port, f"{where}.port", 65535, 1), lows, highs
    )


def _mention(value: Any, where: str) -> Mention:
    peer, age, held = _list(value, where, 3, 3)
    return Mention(
        _descriptor(peer, f"{where}.peer"),
        _integer(age, f"{where}.age", MAX_AGE),
        _integer(held, f"{where}.held", MAX_AGE),
    )


def _mentions(value: Any, where: str) -> tuple[Mention, ...]:
    return tuple(_mention(item, where) for item in _list(value, where, MAX_LINKS))


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
    "point": _floats,
    "hops": lambda value, where: _integer(value, where, MAX_HOPS),
    "data": _bytes(MAX_DATA),
    "took": _boolean,
}
