"""One connection: frames in, handled one at a time, and frames out, bounded in number and in bytes.

A channel is an asyncio protocol rather than streams and tasks: a frame that arrives whole is decoded and
handled in the callback that brought it, and a frame to send is written at once. This halves what a live peer
costs.

After a frame, all other tasks have a turn; a sender that is overdrawn (`budgets`) is not read
until it has saved up, and TCP holds it back. A frame that waits for a connection, or for a slow reader, waits
in a bounded queue.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from sub2sub.live.core.host_addresses import host_of
from sub2sub.live.net.budgets import Bucket
from sub2sub.live.net.dials import Dials
from sub2sub.live.net.lines import Lines
from sub2sub.live.net.tls import fingerprint
from sub2sub.live.net.unfinished import UnfinishedFrames
from sub2sub.live.net.unheard import Failed, Unheard
from sub2sub.live.wire.limits import Limits

Address = tuple[str, int]
PREFIX = 4
TOGETHER = 1 << 16  # bytes written at once
SMALL = 1 << 16  # bytes of a frame that is not counted as unfinished
PIECE = 1e-5  # seconds that it costs to be woken for a piece of a frame
LOG = logging.getLogger(__name__)


class Reader(Protocol):
    """How frames are read: `sub2sub.live.wire.format`, or another protocol's."""

    def size_of(self, prefix: bytes) -> int:
        """The length a prefix announces; raises a ValueError when it is out of range."""

    def decode(self, body: bytes) -> Any:
        """The frame in a body; raises a ValueError when it is none."""


class Owner(Protocol):
    """The owner of the channels: `sub2sub.live.net.connections.Connections`."""

    format: Reader
    limits: Limits
    counts: Counter[str]
    space: memoryview
    spent: Callable[[], float]
    unfinished: UnfinishedFrames
    handle: Callable[[Any, Channel], None]
    lines: Lines
    dials: Dials

    def charge(self, host: str, seconds: float, size: int, now: float) -> float:
        """Charge a host processor time and bytes; returns for how many seconds it is overdrawn."""

    def look_within(self, limit: float) -> None:
        """Look for connections that are overdue a few times within a limit."""

    def made(self, channel: Channel) -> bool:
        """Note that a connection is there; whether it may stay."""

    def lost(self, channel: Channel) -> None:
        """Note that a connection has ended."""


class Posted(NamedTuple):
    """A frame to send, what to call if that fails, and whether it has no answer."""

    data: bytes
    failed: Failed
    unanswered: bool = False


class Channel(asyncio.BufferedProtocol):
    """A connection.

    Parameters
    ----------
    owner : Owner
    address : (host, port), optional
        Where it leads, if it was opened from here.

    Attributes
    ----------
    host : str
        The other end's.
    waiting : deque
        Frames to be sent, each with what to call if it cannot be.
    held : int
        Bytes of them.
    unheard : Unheard
        The last frames sent since something came, of those that have no answer.
    sent : int
        Frames so far.
    has_answered : bool
        Whether a frame has come through it.
    begun : float
        When the frame began to arrive that is not complete; 0 if there is none.
    task : asyncio.Task or None
        What opens it.
    """

    def __init__(self, owner: Owner, address: Address | None = None) -> None:
        self.owner, self.address, self.host = owner, address, host_of(address[0]) if address else ""
        self.waiting: deque[Posted] = deque()
        self.unheard = Unheard(owner.limits)
        self.held = self.sent = 0
        self.closed = self.has_answered = False
        self.task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self.transport: Any = None  # an asyncio.Transport, once there is a connection
        self._is_open = self._is_writable = False
        self._identity: bytes | None = None
        self._unread: bytes | bytearray = b""
        self._size = -1  # of the frame that has begun to arrive
        self._is_paused = False  # reads nothing more until it has had its turn
        self._turn: asyncio.Handle | None = None  # that turn, if the channel does not stand in line for it
        self._heard = self.begun = self._stuck = self._posted = 0.0
        self._unanswered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, unless there is no room."""
        self.transport, self._heard = transport, self._loop.time()
        self.host = host_of((transport.get_extra_info("peername") or (self.host, 0))[0])
        if self.closed or not self.owner.made(self):
            self.closed = True
            self.transport.abort()

    def begin(self, transport: asyncio.BaseTransport) -> None:
        """Read and write through a transport from now on, which is another one than at first under TLS."""
        now, limits = self._loop.time(), self.owner.limits
        if self.transport is not transport:
            self.transport.resume_reading()  # frames may have come right after the handshake
        self.transport, self._heard = transport, now
        self._is_open = self._is_writable = True
        self._frames = Bucket(limits.rate, limits.burst, now)
        self._flush()
        self.data_received(b"")  # what came right after the handshake

    def hand_over(self, protocol: asyncio.BufferedProtocol) -> None:
        """Hand what has arrived so far to another protocol."""
        early, self._unread = self._unread, b""
        while early:
            room = memoryview(protocol.get_buffer(len(early)))
            size = min(len(room), len(early))
            room[:size] = early[:size]
            protocol.buffer_updated(size)
            early = early[size:]

    def identity(self) -> bytes | None:
        """A digest of the certificate that the other end has shown, None without TLS."""
        if self._identity is None:
            secure = self.transport.get_extra_info("ssl_object") if self.transport else None
            shown = secure.getpeercert(binary_form=True) if secure else None
            self._identity = fingerprint(shown) if shown else None
        return self._identity

    def connection_lost(self, error: Exception | None) -> None:
        """End; if it is not this end that closed it, what was sent last may not have arrived."""
        if not self.closed:
            self._report(self.unheard.take(self._loop.time()))
        self.close()

    def post(self, data: bytes, failed: Failed = None, unanswered: bool = False) -> bool:
        """Send a frame; False if the connection is closed or its reader too slow.

        One that nobody answers has failed, too, if the connection ends before anything comes back.
        """
        if self.closed:
            return False
        self._posted = self._loop.time()
        self.sent += 1
        self._unanswered += 1
        if self._is_writable:
            self._write(data, 1)
            if unanswered:
                self.unheard.note(data, failed, self._posted)
            return True
        limits = self.owner.limits
        full = len(self.waiting) >= limits.queue or self.held + len(data) > limits.queue_bytes
        if full and self.waiting:
            self.close()
            return False
        self.waiting.append(Posted(data, failed, unanswered))
        self.held += len(data)
        return True

    def pause_writing(self) -> None:
        """Let frames wait: the other end does not read."""
        self._is_writable, self._stuck = False, self._loop.time()

    def resume_writing(self) -> None:
        """Send what waits."""
        self._is_writable, self._stuck = True, 0.0
        self._flush()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what arrives; it is taken from there at once, so all channels share the space."""
        return self.owner.space

    def buffer_updated(self, count: int) -> None:
        """Take what has arrived."""
        self.data_received(bytes(self.owner.space[:count]))

    def data_received(self, data: bytes) -> None:
        """Take what has arrived; a frame in many pieces is put together in place."""
        if self._unread:
            self._unread = bytearray(self._unread) if isinstance(self._unread, bytes) else self._unread
            self._unread += data
        else:
            self._unread = data
        if self.closed:
            return
        if self._is_paused or not self._is_open:
            self.transport.pause_reading()  # again: uvloop forgets it where a connection has just been made
        else:
            self._read()

    def awaits(self, now: float) -> bool:
        """Whether an answer may be on its way to a frame that was sent not long ago."""
        return self._unanswered > 0 and now - self._posted < self.owner.limits.answer

    def is_overdue(self, now: float) -> bool:
        """Whether it has been silent, stuck, or in the middle of a frame for too long.

        The end that opened a connection closes it first, and so never sends into one that is being closed.
        """
        limits = self.owner.limits
        idle = limits.idle if self.address else 1.5 * limits.idle
        if self._is_paused or self.transport is None:  # it is this end that makes the other wait
            return False
        if self._stuck and now - self._stuck > limits.idle:
            return True
        return now - self.begun > limits.frame if self.begun else now - self._heard > idle

    def close(self) -> None:
        """Close, and report what still waits as failed."""
        if self.closed:
            return
        self.closed, self._is_writable = True, False
        if self.task and self.task is not asyncio.current_task():
            self.task.cancel()
        if self._turn:
            self._turn.cancel()
        if self.transport:
            self.transport.abort()
        self._report(each.failed for each in self.waiting)
        self.waiting.clear()
        self.held = 0
        self._forget_frame()
        self.owner.lost(self)

    def _report(self, frames: Iterable[Failed]) -> None:
        for failed in frames:
            if failed:
                self._loop.call_soon(failed)

    def _write(self, data: bytes, frames: int) -> None:
        self.transport.write(data)
        counts = self.owner.counts
        counts["frames out"] += frames
        counts["bytes out"] += len(data)

    def _flush(self) -> None:
        while self.waiting and self._is_writable:
            parts: list[bytes] = []
            size = 0
            while self.waiting and (not parts or size + len(self.waiting[0].data) <= TOGETHER):
                posted = self.waiting.popleft()
                parts.append(posted.data)
                size += len(posted.data)
                if posted.unanswered:
                    self.unheard.note(posted.data, posted.failed, self._loop.time())
            self.held -= size
            self._write(b"".join(parts), len(parts))

    def _read(self) -> None:
        """Handle a frame, unless the host has to wait for what its frames have cost so far."""
        if self.owner.lines.join(self):
            self._pause()
        else:
            self.take_turn()

    def take_turn(self) -> None:
        """Handle a frame, if one has arrived; then let others have a turn before the next."""
        loop, owner = self._loop, self.owner
        self._turn = None
        self._heard, began = loop.time(), owner.spent()
        try:
            body = self._next_body(self._heard)
            if body is None:
                if self._is_paused:  # all that had arrived is done
                    self._is_paused = False
                    self.transport.resume_reading()
                if self._unread:
                    owner.charge(self.host, owner.spent() - began + PIECE, 0, self._heard)
                return
            frame = owner.format.decode(body)
        except ValueError as error:
            owner.counts["malformed"] += 1
            owner.charge(self.host, owner.spent() - began, 0, self._heard)
            LOG.info("closing a connection: %s", error)
            self.close()
            return
        owner.counts["frames in"] += 1
        owner.counts["bytes in"] += PREFIX + len(body)
        self._unanswered -= self._unanswered > 0
        self.unheard.heard()
        if not self.has_answered:
            self.has_answered = True
            owner.dials.note_host(self.host)
        try:
            owner.handle(frame, self)
        except Exception:  # a defect must not leave a connection that nobody reads
            owner.counts["broken frames"] += 1
            LOG.exception("a frame from %s could not be handled", self.host)
            self.close()
            return
        now = loop.time()
        owner.charge(self.host, owner.spent() - began, len(body), now)
        pause = self._frames.charge(1.0, now)
        if not self.closed and (pause > 0.0 or self._unread or self._is_paused):
            self._pause()
            self._turn = loop.call_later(pause, self._read) if pause > 0.0 else loop.call_soon(self._read)

    def _pause(self) -> None:
        """Read nothing more until it has had its turn."""
        if not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()

    def _next_body(self, now: float) -> bytes | None:
        """The bytes of the next frame, None while it has not arrived; of large ones only so many are awaited.

        Raises
        ------
        ValueError
            For a length out of range, or when too many bytes of unfinished frames are held already.
        """
        data = self._unread
        if self._size < 0 and len(data) >= PREFIX:
            size = self.owner.format.size_of(bytes(data[:PREFIX]))
            unfinished = self.owner.unfinished
            if size > SMALL and not unfinished.admit(self, size):
                raise ValueError(f"{unfinished.total} bytes of unfinished frames are held already")
            self._size = size
        end = PREFIX + self._size
        if self._size < 0 or len(data) < end:
            if data:
                self.begun = self.begun or now
                self.owner.look_within(self.owner.limits.frame)
            return None
        self._unread = data[end:]
        self._forget_frame()
        return bytes(data[PREFIX:end])

    def _forget_frame(self) -> None:
        if self._size > SMALL:
            self.owner.unfinished.let_go(self)
        self._size, self.begun = -1, 0.0
