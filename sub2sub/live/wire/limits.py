"""Limits of what connections may cost a node: accidents of members, and strangers at the handshake."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import InputError


@dataclass(frozen=True)
class Limits:
    """Limits of a node's connections. Together they bound its memory, whatever other nodes send.

    Attributes
    ----------
    incoming : int
        Incoming connections open at once; with one more, the one that was silent for longest is closed.
    handshakes : int
        TLS handshakes under way at once; with one more, the oldest is given up.
    handshake : float
        Seconds that a TLS handshake may take.
    outgoing : int
        Outgoing connections kept open; those used least are closed.
    outgoing_at_once : int
        Outgoing connections open at once, those that wait for an answer included.
    answer : float
        Seconds for which a connection is kept open for an answer.
    queue : int
        Frames that may wait for a slow reader; with one more, the connection is closed.
    queue_bytes : int
        Bytes of the frames that may wait for a slow reader; a single frame may be longer.
    rate : float
        Frames read from one connection per second, on average. Faster senders are read more slowly, so that
        TCP holds them back.
    burst : int
        Frames read at once from a connection that was idle.
    unfinished : int
        Bytes of large frames that are not complete yet, over all connections.
    dials, dials_at_once : float
        Connections opened per second on average, and at once.
    connect : float
        Seconds to wait for a connection.
    idle : float
        Seconds without traffic after which a connection is closed.
    frame : float
        Seconds from the first byte of a frame to its last.
    back_off, most_back_off : float
        Seconds before an address is tried again after a failure; doubled with each further failure, up to
        the second number.
    remembered : int
        Addresses whose failures are remembered.
    subscriptions : int
        Subscriptions per certificate, where IDs are bound to certificates; the same for all nodes of an
        overlay.
    """

    incoming: int = 512
    handshakes: int = 64
    handshake: float = 3.0
    outgoing: int = 8
    outgoing_at_once: int = 64
    answer: float = 10.0
    queue: int = 256
    queue_bytes: int = 1 << 18
    rate: float = 500.0
    burst: int = 1000
    unfinished: int = 1 << 24
    dials: float = 20.0
    dials_at_once: float = 64.0
    connect: float = 3.0
    idle: float = 60.0
    frame: float = 10.0
    back_off: float = 0.5
    most_back_off: float = 8.0
    remembered: int = 4096
    subscriptions: int = 16

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not getattr(self, name) > 0:
                raise InputError(f"limits.{name}: expected a number above 0, got {getattr(self, name)!r}")
        if self.subscriptions > 256:
            raise InputError(f"limits.subscriptions: expected at most 256, got {self.subscriptions}")
