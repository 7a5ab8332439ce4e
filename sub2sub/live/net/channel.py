"""One connection of a node: frames in, handled one at a time, and frames out.

A channel is an asyncio protocol rather than streams and tasks: a frame that arrives whole is decoded and
handled in the callback that brought it, and a frame to send is written at once. This halves what a live peer
costs.

After a frame, all other tasks have a turn. A sender that is faster than `Limits.rate` is read more slowly,
and TCP holds it back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sub2sub.live.net.frame_buffer import PREFIX, FrameBuffer
from sub2sub.live.net.frame_queue import Failed, FrameQueue, Posted, Unheard
from sub2sub.live.net.tls import fingerprint

if TYPE_CHECKING:
    from sub2sub.live.net.connections import Connections

Address = tuple[str, int]
LOG = logging.getLogger(__name__)


class Bucket:
    """An allowance that is refilled at a rate, up to a limit: of frames, or of connections opened.

    Examples
    --------
    >>> bucket = Bucket(rate=10.0, most=5.0, now=0.0)
    >>> bucket.charge(5.0, now=0.0), bucket.charge(10.0, now=0.0), bucket.charge(0.0, now=0.5)
    (0.0, 1.0, 0.5)
    """

    __slots__ = ("left", "most", "rate", "then")

    def __init__(self, rate: float, most: float, now: float) -> None:
        self.rate, self.most, self.left, self.then = rate, most, most, now

    def charge(self, cost: float, now: float) -> float:
        """Take from the allowance; return for how many seconds it is overdrawn."""
        left = self.left + (now - self.then) * self.rate
        self.left = left = (left if left < self.most else self.most) - cost  # twice as fast as min and max
        self.then = now
        return -left / self.rate if left < 0.0 else 0.0


class Channel(asyncio.Protocol):
    """A connection.

    Parameters
    ----------
    owner : Connections
        All connections of the node.
    address : (host, port), optional
        Where it leads, if it was opened from here.

    Attributes
    ----------
    host : str
        The other end's.
    arrived : FrameBuffer
        What has come and was not handled yet.
    waiting : FrameQueue
        Frames to be sent.
    unheard : Unheard
        The last events sent.
    sent : int
        Frames so far.
    heard : float
        When something came last.
    begun : float
        When the frame began to arrive that is not complete; 0 if there is none.
    task : asyncio.Task or None
        What opens it.
    """

    def __init__(self, owner: Connections, address: Address | None = None) -> None:
        self.owner, self.address, self.host = owner, address, ""
        self.arrived = FrameBuffer(owner.unfinished)
        self.waiting, self.unheard = FrameQueue(owner.limits), Unheard(owner.limits)
        self.sent, self.closed = 0, False
        self.heard = self.begun = 0.0
        self.task: asyncio.Task[None] | None = None
        self.transport: Any = None  # an asyncio.Transport, once there is a connection
        self._loop = asyncio.get_running_loop()
        self._rate = Bucket(owner.limits.rate, owner.limits.burst, self._loop.time())
        self._is_writable = False
        self._identity: bytes | None = None
        self._is_paused = False  # reads nothing more until it has had its turn
        self._turn: asyncio.Handle | None = None
        self._stuck = self._posted = 0.0  # since when the other end does not read; when a frame was posted
        self._unanswered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin. Under TLS the handshake is over."""
        self.transport, self.heard = transport, self._loop.time()
        self.host = str((transport.get_extra_info("peername") or ("",))[0])
        if self.closed:
            self.transport.abort()
            return
        self.owner.made(self)
        self._is_writable = True
        self._flush()

    def identity(self) -> bytes | None:
        """Return a digest of the certificate that the other end has shown, None without TLS."""
        if self._identity is None:
            secure = self.transport.get_extra_info("ssl_object") if self.transport else None
            shown = secure.getpeercert(binary_form=True) if secure else None
            self._identity = fingerprint(shown) if shown else None
        return self._identity

    def connection_lost(self, error: Exception | None) -> None:
        """End; if it is not this end that closed it, events that were sent last are sent once more."""
        if not self.closed:
            lost = self.unheard.take(self._loop.time())
            self.close()
            for posted in lost:
                if self.address and posted.failed:
                    self.owner.post(self.address, posted.data, posted.failed)
        self.close()

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
        while frames := self.waiting.take():
            self._report(posted.failed for posted in frames)
        self.arrived.forget_frame()
        self.owner.lost(self)

    def post(self, data: bytes, failed: Failed = None, again: bool = False) -> bool:
        """Send a frame; return False if the connection is closed or its reader too slow.

        One that is `again` is sent once more if the connection ends soon after.
        """
        if self.closed:
            return False
        self._posted = self._loop.time()
        self.sent += 1
        self._unanswered += 1
        posted = Posted(data, failed, again)
        if self._is_writable:
            self._write([posted])
        elif not self.waiting.add(posted):
            self.close()
            return False
        return True

    def pause_writing(self) -> None:
        """Let frames wait: the other end does not read."""
        self._is_writable, self._stuck = False, self._loop.time()

    def resume_writing(self) -> None:
        """Send what waits."""
        self._is_writable, self._stuck = True, 0.0
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived, and handle a frame if it is this connection's turn."""
        self.arrived.add(data)
        if self.closed:
            return
        if self._is_paused:
            self.transport.pause_reading()  # again: uvloop forgets it where a connection has just been made
        else:
            self._take_turn()

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
        return now - self.begun > limits.frame if self.begun else now - self.heard > idle

    def _take_turn(self) -> None:
        """Handle a frame, if one has arrived; then let others have a turn before the next."""
        self._turn, self.heard = None, self._loop.time()
        try:
            body = self.arrived.next_body()
            frame = None if body is None else self.owner.format.decode(body)
        except ValueError as error:
            self.owner.counts["malformed"] += 1
            LOG.info("closing a connection: %s", error)
            self.close()
            return
        if body is None:
            self._read_on()
            return
        self.begun = 0.0
        self._handle(frame, len(body))
        pause = self._rate.charge(1.0, self.heard)
        if not self.closed and (pause > 0.0 or self._is_paused or len(self.arrived)):
            self._wait(pause)

    def _handle(self, frame: Any, size: int) -> None:
        """Hand a frame to the node."""
        counts = self.owner.counts
        counts["frames in"] += 1
        counts["bytes in"] += PREFIX + size
        self._unanswered -= self._unanswered > 0
        try:
            self.owner.handle(frame, self)
        except Exception:  # a defect must not leave a connection that nobody reads
            counts["broken frames"] += 1
            LOG.exception("a frame could not be handled")
            self.close()

    def _wait(self, pause: float) -> None:
        """Read nothing more until the next turn, which comes after a pause."""
        if not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()
        turn = self._take_turn
        self._turn = self._loop.call_later(pause, turn) if pause > 0.0 else self._loop.call_soon(turn)

    def _read_on(self) -> None:
        """Wait for more bytes: all frames that had arrived whole are handled."""
        if self._is_paused:
            self._is_paused = False
            self.transport.resume_reading()
        if len(self.arrived):
            self.begun = self.begun or self.heard
            self.owner.look_within(self.owner.limits.frame)

    def _flush(self) -> None:
        while self._is_writable and (frames := self.waiting.take()):
            self._write(frames)

    def _write(self, frames: list[Posted]) -> None:
        data = frames[0].data if len(frames) == 1 else b"".join([posted.data for posted in frames])
        self.transport.write(data)
        counts = self.owner.counts
        counts["frames out"] += len(frames)
        counts["bytes out"] += len(data)
        for posted in frames:
            if posted.again:
                self.unheard.note(posted, self._loop.time())

    def _report(self, frames: Iterable[Failed]) -> None:
        for failed in frames:
            if failed:
                self._loop.call_soon(failed)
