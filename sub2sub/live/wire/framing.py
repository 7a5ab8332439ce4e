"""Frames on a stream, for any protocol: a length, then one msgpack array, whose fields are all checked.

    uint32, big-endian: bytes that follow | [version, kind, to, from, field, field, ...]

A protocol consists of a number for each kind of message, the dataclasses of the messages, and a check for
each field name. All fields are checked before an object is made of them; a frame that fails is refused with a
`WireError` that says why. After a wrong length a stream cannot be decoded any further and has to be closed.
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

from sub2sub.peers.descriptors import MAX_DATA

LENGTH = struct.Struct(">I")
MAX_FRAME = 1 << 20  # bytes after the length
MAX_ITEMS = 2048  # in one list
MAX_LISTS = 2 * MAX_ITEMS  # in a frame; a million empty ones would take half a second of processor
MAX_HOST = 253  # characters, as in a domain name
HOST = frozenset((string.ascii_letters + string.digits + ".:-_%").encode())
MOST = (1 << 64) - 1

Check = Callable[[Any, str], Any]
"""check(value, where): returns the value for the message, or raises a WireError that names `where`."""


class WireError(ValueError):
    """Why a frame is refused."""


class Frame(NamedTuple):
    """A message, its receiver, and its alleged sender."""

    to: int
    sender: int
    message: Any


def size_of(prefix: bytes) -> int:
    """The length of a frame, from the bytes in front of it.

    Raises
    ------
    WireError
        If no frame may have that length.

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
    """The encoding of the messages of a protocol.

    Parameters
    ----------
    version : int
        Frames of other versions are refused.
    kinds : mapping of int to dataclass
        The dataclass of each kind of message.
    checks : mapping of str to Check
        The check of each field name.
    plain : callable
        Converts the value of a field to one that msgpack can encode.
    """

    def __init__(
        self,
        version: int,
        kinds: Mapping[int, type[Any]],
        checks: Mapping[str, Check],
        plain: Callable[[Any], Any],
    ) -> None:
        self.version, self.plain = version, plain
        self._pack = msgpack.Packer().pack  # one for all frames: each Packer allocates a buffer
        names = {kind: [field.name for field in fields(made)] for kind, made in kinds.items()}
        self._made = {
            kind: (made, [(f"{made.__name__}.{name}", checks[name]) for name in names[kind]])
            for kind, made in kinds.items()
        }
        self._written = {made: (kind, names[kind]) for kind, made in kinds.items()}

    def encode(self, frame: Frame) -> bytes:
        """A frame as bytes, its length in front."""
        kind, names = self._written[type(frame.message)]
        values = [self.plain(getattr(frame.message, name)) for name in names]
        body: bytes = self._pack([self.version, kind, frame.to, frame.sender, *values])
        if len(body) > MAX_FRAME:
            raise WireError(f"frame: expected at most {MAX_FRAME} bytes, got {len(body)}")
        return LENGTH.pack(len(body)) + body

    def decode(self, body: bytes) -> Frame:
        """The frame that the bytes after the length encode; a WireError if it is malformed."""
        refuse = {"list_hook": _at_most(MAX_LISTS), "object_hook": _no_map} if len(body) > MAX_LISTS else {}
        try:
            values = msgpack.unpackb(
                body, max_array_len=MAX_ITEMS, max_str_len=1, max_bin_len=MAX_DATA, max_map_len=1,
                max_ext_len=1, **refuse,
            )  # fmt: skip
        except WireError:
            raise
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


def _at_most(lists: int) -> Callable[[list[Any]], list[Any]]:
    """Called with each list of a frame; refuses the frame when there are too many."""
    left = iter(range(lists))

    def count(value: list[Any]) -> list[Any]:
        if next(left, -1) < 0:
            raise WireError(f"frame: expected at most {lists} lists")
        return value

    return count


def _no_map(value: dict[Any, Any]) -> None:
    raise WireError("frame: expected no map")


def shown(value: Any) -> str:
    """A value for an error message, shortened."""
    text = reprlib.repr(value)  # `repr` of a whole frame would take a tenth of a second
    return text if len(text) < 40 else text[:37] + "..."


def integer(value: Any, where: str, most: int, least: int = 0) -> int:
    """Check for an integer in a range; booleans are refused."""
    if type(value) is not int or not least <= value <= most:
        raise WireError(f"{where}: expected an integer from {least} to {most}, got {shown(value)}")
    return value


def number(value: Any, where: str) -> int:
    """Check for an unsigned 64-bit integer."""
    return integer(value, where, MOST)


def items(value: Any, where: str, most: int = MAX_ITEMS, least: int = 0) -> list[Any]:
    """Check for a list of `least` to `most` items."""
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise WireError(f"{where}: expected {least} to {most} items, got {shown(value)}")
    return value


def finite(values: tuple[float, ...], where: str) -> tuple[float, ...]:
    """Check for finite floats; returns them without negative zeros, as in `sub2sub.geometry.boxes`."""
    if not all(map(math.isfinite, values)):
        raise WireError(f"{where}: expected finite numbers, got {shown(values)}")
    return tuple(x + 0.0 for x in values)


def real(least: float, most: float) -> Check:
    """A check for a float in a range."""

    def check(value: Any, where: str) -> float:
        if type(value) is not float or not least <= value <= most:
            raise WireError(f"{where}: expected a float from {least:g} to {most:g}, got {shown(value)}")
        return value + 0.0

    return check


def octets(most: int, least: int = 0) -> Check:
    """A check for `least` to `most` bytes."""

    def check(value: Any, where: str) -> bytes:
        if type(value) is not bytes or not least <= len(value) <= most:
            raise WireError(f"{where}: expected {least} to {most} bytes, got {shown(value)}")
        return value

    return check


def boolean(value: Any, where: str) -> bool:
    """Check for a boolean."""
    if type(value) is not bool:
        raise WireError(f"{where}: expected true or false, got {shown(value)}")
    return value


def host_name(data: bytes, where: str) -> str:
    """Check for the name or address of a host."""
    if not 0 < len(data) <= MAX_HOST or not HOST.issuperset(data):
        raise WireError(f"{where}: expected a host, got {shown(data)}")
    return data.decode()
