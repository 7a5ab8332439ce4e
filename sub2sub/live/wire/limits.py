"""What a node allows others to cost it, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import InputError

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Limits of a node's connections. Together they bound its memory, whatever others send.

    Attributes
    ----------
    incoming : int
        Connections accepted at once; further ones are closed.
    outgoing : int
        Connections kept open at once; the least recently used one makes room.
    queue : int
        Frames that may wait for a slow reader; one more, and the connection is closed.
    rate : float
        Frames read from one connection per second, on average. Faster senders are read more slowly, so that
        TCP holds them back.
    burst : int
        Frames read at once from a connection that was silent.
    connect : float
        Seconds to wait for a connection.
    idle : float
        Seconds of silence after which a connection is closed.
    frame : float
        Seconds a frame may take to arrive once it has begun.
    back_off, most_back_off : float
        Seconds not to try an address again after a failure, doubled with each further one up to the most.
    remembered : int
        Addresses whose failures are remembered.
    """

    incoming: int = 512
    outgoing: int = 64
    queue: int = 256
    rate: float = 500.0
    burst: int = 1000
    connect: float = 3.0
    idle: float = 60.0
    frame: float = 10.0
    back_off: float = 0.5
    most_back_off: float = 30.0
    remembered: int = 4096

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not getattr(self, name) > 0:
                raise InputError(f"limits.{name}: expected a number above 0, got {getattr(self, name)!r}")
