"""The limits of what other nodes may cost a node."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import InputError


@dataclass(frozen=True)
class Limits:
    """Limits of a node's connections. Together they bound its memory, whatever other nodes send.

    Attributes
    ----------
    incoming : int
        Incoming connections open at once, handshakes included; further ones are closed.
    per_address : int
        Incoming connections from one address.
    reserved : int
        Incoming connections reserved for addresses of known peers; at most half of `incoming`.
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
    byte_rate, byte_burst : float
        Bytes read per second, and at once, from all connections of one address.
    processor : float
        Seconds of processor per second, on average, to handle the frames of all connections of one address;
        TLS handshakes included. The handshakes of all unknown hosts share one such limit.
    unfinished : int
        Bytes of large frames that are not complete yet, over all connections.
    dials, dials_at_once : float
        Connections opened per second on average, and at once, to addresses that have answered before. The
        same limit holds for connections to other addresses in the node's own turns, and again for those that
        messages cause; the messages of one host may cause a quarter of these.
    strange_dials, strange_dials_at_once : float
        Connections opened per second on average, and at once, to all ports of one host from which no frame
        has ever come: in the node's own turns, and again because of messages, half of these of one host's.
    connect : float
        Seconds to wait for a connection.
    idle : float
        Seconds without traffic after which a connection is closed.
    frame : float
        Seconds from the first byte of a frame to its last.
    back_off, most_back_off : float
        Seconds before an address is tried again after a failure; doubled with each further failure, up to
        the second number, but not while its host is connected to the node.
    remembered : int
        Addresses whose failures are remembered.
    subscriptions : int
        Subscriptions per certificate, where IDs are bound to certificates; the same for all nodes of an
        overlay.
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
    strange_dials: float = 0.05
    strange_dials_at_once: float = 4.0
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
