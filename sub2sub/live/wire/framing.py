"""Frames on a stream, whatever the protocol: a length, then one msgpack array, every field checked.

    uint32, big-endian: bytes that follow | [version, kind, to, from, field, field, ...]

A protocol is a table of kinds, dataclasses of messages, and a check for each name of a field. Everything that
arrives is checked before any object is made of it; what fails is refused with a `WireError` that says why. A
stream that breaks the framing cannot be followed any further and has to be closed.
"""

from __future__ import annotations

import math
import reprlib
import string
import struct
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import msgpack  # type: ignore[import-untyped]

from sub2sub.overlay.sizes import MAX_DATA

LENGTH = struct.Struct(">I")
MAX_FRAME = 1 << 20  # bytes after the length
MAX_ITEMS = 2048  # of one list
MAX_HOST = 253  # characters, as of a domain name
HOST = frozenset((string.ascii_letters + string.digits + ".:-_%").encode())
MOST = (1 << 64) - 1

Check = Callable[[Any, str], Any]
"""check(value, where): the value as a message has it; raises a WireError that names where."""


class WireError(ValueError):
    """A frame that is refused, and why."""


class Frame(NamedTuple):
    """A message with its receiver, and the sender that it claims."""

    to: int
    sender: int
    message: Any


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


class Protocol:
    """How the messages of a protocol are written and read.

    Parameters
    ----------
    version : int
        Frames of others are refused.
    kinds : mapping of int to dataclass
    checks : mapping of str to Check
        By the name of the field.
    plain : callable
        Turns the value of a field into what msgpack knows.
    """

    def __init__(
        self,
        version: int,
        kinds: Mapping[int, type[Any]],
        checks: Mapping[str, Check],
        plain: Callable[[Any], Any],
    ) -> None:
        self.version, self.plain = version, plain
        self._pack = msgpack.Packer().pack  # a new one for each frame would get a buffer of its own each time
        names = {kind: [field.name for field in fields(made)] for kind, made in kinds.items()}
        self._made = {
            kind: (made, [(f"{made.__name__}.{name}", checks[name]) for name in names[kind]])
            for kind, made in kinds.items()
        }
        self._written = {made: (kind, names[kind]) for kind, made in kinds.items()}

    def size_of(self, prefix: bytes) -> int:
        """The length a frame announces."""
        return size_of(prefix)

    def encode(self, frame: Frame) -> bytes:
        """A frame as bytes, with its length in front."""
        kind, names = self._written[type(frame.message)]
        values = [self.plain(getattr(frame.message, name)) for name in names]
        body: bytes = self._pack([self.version, kind, frame.to, frame.sender, *values])
        if len(body) > MAX_FRAME:
            raise WireError(f"frame: expected at most {MAX_FRAME} bytes, got {len(body)}")
        return LENGTH.pack(len(body)) + body

    def decode(self, body: bytes) -> Frame:
        """The frame in a body; refuses anything but a well-formed one of this version."""
        try:
            values = msgpack.unpackb(
                body, max_array_len=MAX_ITEMS, max_str_len=1, max_bin_len=MAX_DATA, max_map_len=1,
                max_ext_len=1,
            )  # fmt: skip
        except Exception as error:  # msgpack raises several kinds, from recursion to bad UTF-8
            raise WireError(f"frame: expected msgpack, got {type(error).__name__}") from None
        if not isinstance(values, list) or len(values) < 4:
            raise WireError("frame: expected an array of version, kind, to, from, ...")
        version, kind, to, sender, *rest = values
        if version != self.version or isinstance(version, bool):
            raise WireError(f"version: expected {self.version}, got {shown(version)}")
        if type(kind) is not int or kind not in self._made:
            raise WireError(f"kind: expected 1 to {max(self._made)}, got {shown(kind)}")
        made, checks = self._made[kind]
        if len(rest) != len(checks):
            raise WireError(f"{made.__name__}: expected {len(checks)} fields, got {len(rest)}")
        checked = [check(value, where) for value, (where, check) in zip(rest, checks, strict=True)]
        return Frame(number(to, "to"), number(sender, "from"), made(*checked))


def shown(value: Any) -> str:
    """A value for an error message, cut short."""
    text = reprlib.repr(value)  # of a whole frame repr would take a tenth of a second
    return text if len(text) < 40 else text[:37] + "..."


def integer(value: Any, where: str, most: int, least: int = 0) -> int:
    """An integer in a range, and not a boolean."""
    if type(value) is not int or not least <= value <= most:
        raise WireError(f"{where}: expected an integer from {least} to {most}, got {shown(value)}")
    return value


def number(value: Any, where: str) -> int:
    """An unsigned integer of 64 bits."""
    return integer(value, where, MOST)


def items(value: Any, where: str, most: int = MAX_ITEMS, least: int = 0) -> list[Any]:
    """A list of so many items."""
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise WireError(f"{where}: expected {least} to {most} items, got {shown(value)}")
    return value


def finite(values: tuple[float, ...], where: str) -> tuple[float, ...]:
    """Floats that are numbers, without negative zeros, as in `sub2sub.geometry.boxes`."""
    if not all(map(math.isfinite, values)):
        raise WireError(f"{where}: expected finite numbers, got {shown(values)}")
    return tuple(x + 0.0 for x in values)


def octets(most: int, least: int = 0) -> Check:
    """A check for a string of so many bytes."""

    def check(value: Any, where: str) -> bytes:
        if type(value) is not bytes or not least <= len(value) <= most:
            raise WireError(f"{where}: expected {least} to {most} bytes, got {shown(value)}")
        return value

    return check


def boolean(value: Any, where: str) -> bool:
    """True or false."""
    if type(value) is not bool:
        raise WireError(f"{where}: expected true or false, got {shown(value)}")
    return value


def host_name(data: bytes, where: str) -> str:
    """A host's name or address."""
    if not 0 < len(data) <= MAX_HOST or not HOST.issuperset(data):
        raise WireError(f"{where}: expected a host, got {shown(data)}")
    return data.decode()
