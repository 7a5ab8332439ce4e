"""What every live node is made of, whatever its protocol: cores, a clock, connections, requests.

Cores have no clock and no socket (`sub2sub.live.core.live_peer`). A host ticks them once a period, hands them
what arrives for them, sends what they want sent, and tells them what could not be sent. What the cores of one
host send one another stays on it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, ClassVar, TypeVar

from sub2sub.errors import InputError
from sub2sub.live.net.connections import Address, Channel, Connections
from sub2sub.live.net.tls import Revocations, Tls, check_listening, serial_of
from sub2sub.live.wire.framing import LENGTH, Frame, Protocol
from sub2sub.live.wire.limits import Limits

LOG = logging.getLogger(__name__)
T = TypeVar("T")
ANYWHERE = ("", "0.0.0.0", "::")


def is_address(given: Any) -> bool:
    """Whether something is a host and a port."""
    pair = given if isinstance(given, tuple | list) and len(given) == 2 else (None, None)
    return isinstance(pair[0], str) and type(pair[1]) is int and 0 <= pair[1] < 1 << 16


class Inside:
    """A channel from a host to itself."""

    def __init__(self, protocol: Protocol, receive: Callable[[Frame, Inside], None]) -> None:
        self._protocol, self._receive = protocol, receive

    def post(self, data: bytes) -> bool:
        """Hand a frame over, after whatever is being done."""
        frame = self._protocol.decode(data[LENGTH.size :])
        asyncio.get_running_loop().call_soon(self._receive, frame, self)
        return True


class Host(ABC):
    """Cores that share an address.

    Parameters
    ----------
    protocol : Protocol
        How frames are written and read.
    listen : (host, port)
        Where to listen; port 0 takes a free one.
    advertise : (host, port), optional
        What others are told to connect to; by default where the host listens. Port 0 is the one listened on.
    period : float
        Seconds of a cycle; some jitter is added.
    limits : Limits, optional
    tls : Tls, optional
    seed : int, optional
        Random seed of draws and IDs; without one, they come from the operating system.
    reply : float
        Seconds to wait for an answer to a request of the host's own.
    insecure : bool
        Whether it may listen without TLS at an address that is not loopback: everybody can take part.

    Attributes
    ----------
    events : tuple of type
        The messages that carry events: one is sent once more if its connection ends soon after.
    address : (host, port)
    cores : dict
        By their IDs.
    missed : int
        Cycles without a tick before the last one: the process was stopped, or had no time.
    identity : bytes or None
        What the IDs of its cores are bound to (`sub2sub.live.net.identity`).
    """

    events: ClassVar[tuple[type[Any], ...]]

    def __init__(
        self,
        protocol: Protocol,
        listen: Address,
        period: float,
        limits: Limits | None,
        tls: Tls | None,
        seed: int | None,
        reply: float,
        advertise: Address | None = None,
        insecure: bool = False,
    ) -> None:
        for field, seconds in (("period", period), ("reply", reply)):
            if not isinstance(seconds, int | float) or not seconds > 0:
                raise InputError(f"{field}: expected seconds above 0, got {seconds!r}")
        for field, address in (("listen", listen), ("advertise", advertise)):
            if address is not None and not is_address(address):
                raise InputError(f"{field}: expected (host, port), got {address!r}")
        for field, given, kind in (("limits", limits, Limits), ("tls", tls, Tls), ("seed", seed, int)):
            if given is not None and not isinstance(given, kind):
                raise InputError(f"{field}: expected {kind.__name__}, got {given!r}")
        if listen[0] in ANYWHERE and advertise is None:
            raise InputError(
                f"advertise: expected an address others can connect to, as {listen[0]!r} is none"
            )
        self.protocol, self.period, self.reply = protocol, period, reply
        self.tls, self.insecure = tls, insecure
        self._revocations = Revocations(tls) if tls else None
        self.listen, self.advertise, self.address = listen, advertise or listen, advertise or listen
        # Without a seed, numbers and names come from the operating system: nobody can predict them.
        self.dice = random.SystemRandom() if seed is None else random.Random(seed)
        self._seed = 0 if seed is None else 1 + self.dice.getrandbits(63)
        self.id = 1 + self.dice.getrandbits(63)
        self.cores: dict[int, Any] = {}
        server_tls, client_tls = tls.contexts() if tls else (None, None)
        self.identity = tls.identity() if tls else None
        self.connections = Connections(protocol, self._receive, limits, server_tls, client_tls)
        self._inside = Inside(protocol, self._receive)
        self._answers: dict[Hashable, asyncio.Future[Any]] = {}
        self._ticking: asyncio.Task[None] | None = None
        self._ticked, self.missed = 0.0, 0

    async def open(self) -> None:
        """Listen, and begin to tick."""
        check_listening(self.listen[0], self.tls, self.insecure)
        port = (await self.connections.listen(*self.listen))[1]
        self.address = (self.advertise[0], self.advertise[1] or port)
        self._ticked = asyncio.get_running_loop().time()
        self._ticking = asyncio.create_task(self._tick())

    async def close(self) -> None:
        """Stop ticking and close all connections."""
        if self._ticking:
            self._ticking.cancel()
            await asyncio.gather(self._ticking, return_exceptions=True)
            self._ticking = None
        await asyncio.sleep(0)  # what was sent last is on its way
        await self.connections.close()

    @property
    def is_open(self) -> bool:
        """Whether it listens and ticks."""
        return self._ticking is not None

    @property
    def counts(self) -> Counter[str]:
        """What happened so far, over all cores and connections."""
        total = Counter(self.connections.counts)
        for core in self.cores.values():
            total.update(core.counts)
        return total

    @abstractmethod
    def tick_core(self, core: Any) -> list[Any]:
        """Let a cycle pass for a core; returns what it wants sent."""

    @abstractmethod
    def receive_at(self, core: Any, frame: Frame) -> list[Any]:
        """Hand a core a message; returns what it wants sent."""

    @abstractmethod
    def unreachable_from(self, core: Any, to: Any, message: Any) -> list[Any]:
        """Tell a core what could not be sent; returns what it wants sent instead."""

    def core_for(self, frame: Frame) -> Any | None:
        """The core that takes a frame."""
        return self.cores.get(frame.to)

    def is_genuine(self, frame: Frame, identity: bytes | None) -> bool:
        """Whether a frame may come from a node with an identity."""
        return True

    def receive_for_nobody(self, frame: Frame, post: Callable[[bytes], bool]) -> None:
        """Take a frame that is for no core, and for no request; it is counted and ignored."""
        self.connections.counts["ignored"] += 1

    def fresh_seed(self) -> int:
        """A seed for the draws of one tick or message: always the same if a seed was given, else a new one.

        The draws of a `Dice` can be told from one another; those of two seeds cannot.
        """
        return self._seed or self.dice.getrandbits(63)

    def part_of_cycle(self) -> float:
        """How much of the current cycle is over."""
        return (asyncio.get_running_loop().time() - self._ticked) / self.period

    def dispatch(
        self, core: Any, sends: list[Any], channel: Channel | Inside | None = None, to: int = 0
    ) -> None:
        """Send what a core wants sent; replies go to `to` through the channel its message came from."""
        for send in sends:
            if send.to is not None:
                self.post(send.to, core.own.id, send.message, self._failure(core, send))
            elif channel:
                channel.post(self.protocol.encode(Frame(to, core.own.id, send.message)))

    def post(self, to: Any, sender: int, message: Any, failed: Callable[[], None]) -> None:
        """Send a message to anything with an ID and an address."""
        data = self.protocol.encode(Frame(to.id, sender, message))
        if to.address == self.address:
            self._inside.post(data)
        else:
            self.connections.post(to.address, data, failed, isinstance(message, self.events))

    async def request(self, to: Any, message: Any) -> Any | None:
        """Send a request in the host's own name; None if it is not answered."""
        number = _answers_to(message, to.id)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self.post(to, self.id, message, lambda: None if answer.done() else answer.set_result(None))
        try:
            async with asyncio.timeout(self.reply):
                return await answer
        except TimeoutError:
            return None
        finally:
            self._answers.pop(number, None)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.period * (0.9 + 0.2 * self.dice.random()))
            now = asyncio.get_running_loop().time()
            self.missed = max(round((now - self._ticked) / self.period) - 1, 0)
            self._ticked = now
            self._end_revoked()
            for core in list(self.cores.values()):
                try:
                    self.dispatch(core, self.tick_core(core))
                except Exception:  # a defect in one cycle must not stop the peer's clock for ever
                    self.connections.counts["broken ticks"] += 1
                    LOG.exception("the tick of peer %d failed", core.own.id)
                await asyncio.sleep(0)

    def _end_revoked(self) -> None:
        """Close connections to nodes whose certificates have been revoked since they began."""
        revoked = self._revocations.news() if self._revocations else ()
        for channel in self.connections.channels() if revoked else ():
            if serial_of(channel.transport) in revoked:
                channel.close()

    def _failure(self, core: Any, send: Any) -> Callable[[], None]:
        def failed() -> None:
            if core.own.id in self.cores:
                self.dispatch(core, self.unreachable_from(core, send.to, send.message))

        return failed

    def _receive(self, frame: Frame, channel: Channel | Inside) -> None:
        if self.identity is not None and isinstance(channel, Channel):
            identity = channel.identity()
            if identity == self.identity and not self.connections.counts["own certificate"]:
                LOG.warning("another node has this one's certificate; each needs its own (or bind=False)")
                self.connections.counts["own certificate"] += 1
            if not self.is_genuine(frame, identity):
                self.connections.counts["forged"] += 1
                return
        core = self.core_for(frame)
        if core:
            self.dispatch(core, self.receive_at(core, frame), channel, frame.sender)
            return
        message = frame.message
        number = _answers_to(message, frame.sender)
        answer = self._answers.pop(number, None) if frame.to == self.id else None
        if answer is None:
            self.receive_for_nobody(frame, channel.post)
        elif not answer.done():
            answer.set_result(message)


def _answers_to(message: Any, peer: int) -> Hashable:
    """What a request and its answer have in common: a number, or an event's name and its receiver."""
    return getattr(message, "exchange", None) or (getattr(message, "name", None), peer)


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    made: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return made


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, as `asyncio.run`; on uvloop where it is installed: it costs a quarter less.

    Examples
    --------
    >>> async def answer() -> int:
    ...     return 42
    >>> run(answer())
    42
    """
    with asyncio.Runner(loop_factory=_factory()) as runner:
        return runner.run(main)
