"""What a node allows others to cost it, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import InputError


@dataclass(frozen=True)
class Limits:
    """Limits of a node's connections. Together they bound its memory, whatever others send.

    Attributes
    ----------
    incoming : int
        Connections accepted at once, handshakes included; further ones are closed.
    per_address : int
        Of these, from one address.
    reserved : int
        Of these, kept for addresses of known peers (at most half).
    handshake : float
        Seconds that a TLS handshake may take.
    outgoing : int
        Connections that were opened from here and are kept; those used least are closed.
    outgoing_at_once : int
        Connections opened from here while answers are on their way.
    answer : float
        Seconds for which a connection is kept for an answer.
    queue : int
        Frames that may wait for a slow reader; one more, and the connection is closed.
    queue_bytes : int
        Bytes of them, unless it is one frame.
    rate : float
        Frames read from one connection per second, on average. Faster senders are read more slowly, so that
        TCP holds them back.
    burst : int
        Frames read at once from a connection that was silent.
    byte_rate, byte_burst : float
        The same in bytes, of all connections from one address.
    processor : float
        Seconds of processor per second that handling the frames of all connections from one address may
        take, on average; TLS handshakes are counted as well, those of hosts that nobody knows all together.
    unfinished : int
        Bytes of large frames waited for at once, over all connections.
    dials, dials_at_once : float
        Connections opened per second on average, and at once, to addresses that have answered before; as many
        to others by the node's own turns, and as many because of messages, of which those from one host cause
        a quarter at most.
    connect : float
        Seconds to wait for a connection.
    idle : float
        Seconds of silence after which a connection is closed.
    frame : float
        Seconds a frame may take to arrive once it has begun.
    back_off, most_back_off : float
        Seconds not to try an address again after a failure, doubled with each further one up to the most; not
        doubled while its host is connected to the node.
    remembered : int
        Addresses whose failures are remembered.
    subscriptions : int
        Subscriptions of one certificate, where IDs are bound to it; the same for all nodes of an overlay.
    """

    incoming: int = 512
    per_address: int = 128
    reserved: int = 128
    handshake: float = 3.0
    outgoing: int = 8
    outgoing_at_once: int = 64
    answer: float = 10.0
    queue: int = 256
    queue_bytes: int = 1 << 18
    rate: float = 500.0
    burst: int = 1000
    byte_rate: float = 4e6
    byte_burst: float = 16e6
    processor: float = 0.5
    unfinished: int = 1 << 24
    dials: float = 20.0
    dials_at_once: float = 64.0
    connect: float = 3.0
    idle: float = 60.0
    frame: float = 10.0
    back_off: float = 0.5
    most_back_off: float = 30.0
    remembered: int = 4096
    subscriptions: int = 16

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not getattr(self, name) > 0:
                raise InputError(f"limits.{name}: expected a number above 0, got {getattr(self, name)!r}")
        if self.subscriptions > 256:
            raise InputError(f"limits.subscriptions: expected at most 256, got {self.subscriptions}")
