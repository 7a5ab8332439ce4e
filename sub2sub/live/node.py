"""A node: a process, or a part of one, that subscribes and publishes over a live Sub-2-Sub overlay.

The content-based sibling of CAMCAST's programming interface (003, Section 5.1): join with a contact,
subscribe, publish, unsubscribe, leave. Each subscription is a peer of its own (004, Section 3: virtual
peers); they share the node's address and connections, and frames say whom they are for.

>>> import asyncio
>>> async def example():
...     async with Node(attributes=1, period=0.05) as alice:
...         subscription = await alice.subscribe([10.0], [20.0])
...         async with Node(attributes=1, contact=alice.address) as bob:
...             await bob.publish([12.5], b"hello")
...         async for event in subscription:
...             return event.point, event.data
>>> asyncio.run(example())
((12.5,), b'hello')
"""

from __future__ import annotations

import asyncio
import itertools
import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.boxes import MAX_ATTRIBUTES, points
from sub2sub.errors import InputError
from sub2sub.live import messages as m
from sub2sub.live import wire
from sub2sub.live.connections import Address, Channel, Connections
from sub2sub.live.core import Core, CoreSettings, Keys
from sub2sub.live.limits import Limits
from sub2sub.live.peers import Descriptor, Mention
from sub2sub.live.subscriptions import Received, Subscription
from sub2sub.live.tls import Tls
from sub2sub.live.walking import Walk
from sub2sub.live.warmup import warm_up
from sub2sub.publishing import PublisherSettings
from sub2sub.randomness import cycle_key, peer_key

__all__ = ["Node", "Published"]

ANYBODY = 0  # whom a newcomer addresses, before it knows anybody's ID


@dataclass(frozen=True)
class Published:
    """What became of publishing: the ID of the peer that took the event, None if nobody wants it."""

    name: bytes
    entry: int | None
    steps: int


class _Inside:
    """What the peers of one node send one another stays on it."""

    def __init__(self, receive: Callable[[wire.Frame, _Inside], None]) -> None:
        self._receive = receive

    def post(self, data: bytes) -> bool:
        """Hand a frame over, after whatever is being done."""
        frame = wire.decode(data[wire.LENGTH.size :])
        asyncio.get_running_loop().call_soon(self._receive, frame, self)
        return True


class Node:
    """A live node.

    Parameters
    ----------
    attributes : int
        Attributes of every subscription and event of the overlay.
    contact : (host, port), optional
        Anybody in the overlay; without, the node begins an overlay of its own.
    listen : (host, port)
        Where to listen; port 0 takes a free one. The host is what others are told to connect to.
    period : float
        Seconds of a cycle; some jitter is added.
    settings : CoreSettings
    limits : Limits
    tls : Tls, optional
    seed : int, optional
        Of all draws and IDs; taken from the system if not given.
    reply : float
        Seconds to wait for an answer while joining and publishing.
    """

    def __init__(
        self,
        attributes: int,
        contact: Address | None = None,
        listen: Address = ("127.0.0.1", 0),
        period: float = 1.0,
        settings: CoreSettings | None = None,
        limits: Limits | None = None,
        tls: Tls | None = None,
        seed: int | None = None,
        reply: float = 5.0,
    ) -> None:
        if not 1 <= attributes <= MAX_ATTRIBUTES:
            raise InputError(f"attributes: expected 1 to {MAX_ATTRIBUTES}, got {attributes}")
        if not period > 0:
            raise InputError(f"period: expected seconds above 0, got {period}")
        self.attributes, self.contact, self.period, self.reply = attributes, contact, period, reply
        self.settings = settings or CoreSettings()
        self.address = listen
        self.subscriptions: dict[int, Subscription] = {}
        self.contacts: list[Descriptor] = []
        self._dice = random.Random(secrets.randbits(64) if seed is None else seed)
        self._seed = self._dice.getrandbits(63)
        self._turns = itertools.count()
        self._id = 1 + self._dice.getrandbits(63)
        server_tls, client_tls = tls.contexts() if tls else (None, None)
        self.connections = Connections(wire.PROTOCOL, self._receive, limits, server_tls, client_tls)
        self._answers: dict[int | bytes, asyncio.Future[m.Message | None]] = {}
        self._inside = _Inside(self._receive)
        self._ticking: asyncio.Task[None] | None = None
        self._ticked = 0.0
        self._asking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Node:
        warm_up()
        self.address = (self.address[0], (await self.connections.listen(*self.address))[1])
        self._ticked = asyncio.get_running_loop().time()
        self._ticking = asyncio.create_task(self._tick())
        if self.contact:
            try:
                await self._meet(self.contact)
            except BaseException:
                await self.leave()
                raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave()

    async def subscribe(
        self, low: ArrayLike, high: ArrayLike, callback: Callable[[Received], None] | None = None
    ) -> Subscription:
        """Subscribe to the events with low <= point <= high on every attribute.

        With a callback it is called with each event; without, iterate over the subscription.
        """
        own = Descriptor.of(self._dice.getrandbits(64), *self.address, low, high)
        if own.d != self.attributes:
            raise InputError(f"low: expected {self.attributes} attributes, got {own.d}")
        subscription = Subscription(own, callback)
        numbers = iter(lambda: self._dice.getrandbits(63), -1)
        subscription.core = Core(own, subscription.deliver, self.settings, unit=wire.UNIT, numbers=numbers)
        if self.contact and not self.contacts:
            await self._meet(self.contact)
        subscription.core.join(each.own for each in self.subscriptions.values())
        subscription.core.join(self.contacts)
        self.subscriptions[own.id] = subscription
        return subscription

    async def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription; neighbours are told."""
        if self.subscriptions.pop(subscription.own.id, None) is None:
            raise InputError("subscription: expected one of this node that has not ended")
        core = subscription.core
        self._dispatch(core, core.leave(), None)
        self._keep(core.known())
        subscription.close()

    async def publish(self, point: ArrayLike, data: bytes = b"") -> Published:
        """Publish an event; returns when somebody has taken it, or nobody wants it."""
        at = tuple(points(np.atleast_2d(point), self.attributes)[0].tolist())
        if len(data) > wire.MAX_DATA:
            raise InputError(f"data: expected at most {wire.MAX_DATA} bytes, got {len(data)}")
        event = m.Event(self._dice.randbytes(wire.NAME), at, 0, bytes(data))
        for subscription in self.subscriptions.values():
            core = subscription.core
            if core.own.matches(at):
                self._dispatch(core, core.publish(event, self._keys(core)), None)
                return Published(event.name, core.own.id, 0)
        return await self._walk(event)

    async def leave(self) -> None:
        """End all subscriptions and close all connections."""
        for task in (self._ticking, self._asking):
            if task:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        self._ticking = self._asking = None
        for subscription in list(self.subscriptions.values()):
            await self.unsubscribe(subscription)
        await asyncio.sleep(0)  # goodbyes are on their way
        await self.connections.close()

    @property
    def counts(self) -> Counter[str]:
        """What happened so far, over all subscriptions and connections."""
        total = Counter(self.connections.counts)
        for subscription in self.subscriptions.values():
            total.update(subscription.core.counts)
        return total

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.period * (0.9 + 0.2 * self._dice.random()))
            self._ticked = asyncio.get_running_loop().time()
            for subscription in list(self.subscriptions.values()):
                core = subscription.core
                self._dispatch(core, core.tick(self._keys(core)), None)
                if core.wants_contact() and not self._asking:
                    self._asking = asyncio.create_task(self._ask_again(core))
                await asyncio.sleep(0)

    def _keys(self, core: Core) -> Keys:
        turn, cycle, seed = next(self._turns), core.turn, self._seed
        return lambda stream: np.uint64(peer_key(cycle_key(seed, stream, cycle), turn))

    def _dispatch(
        self, core: Core, sends: list[m.Send], channel: Channel | _Inside | None, to: int = 0
    ) -> None:
        """Send what a core wants sent; replies go to `to` through the channel its message came from."""
        for send in sends:
            if send.to is None:
                if channel:
                    channel.post(wire.encode(wire.Frame(to, core.own.id, send.message)))
                continue
            self._post(send.to, core.own.id, send.message, self._failure(core, send))

    def _failure(self, core: Core, send: m.Send) -> Callable[[], None]:
        def failed() -> None:
            if send.to is not None and core.own.id in self.subscriptions:
                self._dispatch(core, core.unreachable(send.to, send.message), None)

        return failed

    def _post(self, to: Descriptor, sender: int, message: m.Message, failed: Callable[[], None]) -> None:
        data = wire.encode(wire.Frame(to.id, sender, message))
        if (to.host, to.port) == self.address:
            self._inside.post(data)
        else:
            self.connections.post((to.host, to.port), data, failed)

    def _receive(self, frame: wire.Frame, channel: Channel | _Inside) -> None:
        subscription = self.subscriptions.get(frame.to)
        message = frame.message
        if subscription is None and frame.to != self._id:
            subscription = self._resident(message)
        if subscription:
            core = subscription.core
            core.advance((asyncio.get_running_loop().time() - self._ticked) / self.period)
            sends = core.receive(message, frame.sender, self._keys(core))
            self._dispatch(core, sends, channel, frame.sender)
        elif isinstance(message, m.Join):
            links = tuple(Mention(peer, 0) for peer in self.contacts[: self.settings.offers])
            channel.post(wire.encode(wire.Frame(frame.sender, self._id, m.Welcome(message.exchange, links))))
        elif isinstance(message, m.Event):  # for a subscription that has ended
            refusal = m.Taken(message.name, took=False)
            channel.post(wire.encode(wire.Frame(frame.sender, frame.to, refusal)))
        else:
            waited_for = getattr(message, "exchange", getattr(message, "name", None))
            answer = self._answers.pop(waited_for, None) if waited_for is not None else None
            if answer and not answer.done():
                answer.set_result(message)

    def _resident(self, message: m.Message) -> Subscription | None:
        """Who takes what is for nobody here: any peer a newcomer, one that matches an event."""
        residents = list(self.subscriptions.values())
        if isinstance(message, m.Event):
            point = message.point
            residents = [each for each in residents if len(point) == each.own.d and each.own.matches(point)]
        elif not isinstance(message, m.Join | m.Ask):
            return None
        return residents[0] if residents else None

    async def _meet(self, contact: Address) -> None:
        """Ask an address for peers to begin with."""
        anybody = Descriptor(ANYBODY, *contact, (), ())
        answer = await self._request(anybody, m.Join(self._dice.getrandbits(63)))
        if not isinstance(answer, m.Welcome):
            raise ConnectionError(f"contact: nobody answers at {contact[0]}:{contact[1]}")
        self._keep(each.peer for each in answer.links)

    async def _ask_again(self, core: Core) -> None:
        """Ask the contact, or one of those heard of since, for peers, and let a core begin anew with one."""
        known = [(peer.host, peer.port) for peer in self.contacts]
        try:
            await self._meet(self._dice.choice([*known, *([self.contact] if self.contact else [])]))
        except (IndexError, ConnectionError):
            pass
        finally:
            self._asking = None
        if self.contacts:
            core.introduce(self._dice.choice(self.contacts))

    def _keep(self, peers: Iterable[Descriptor]) -> None:
        known = {peer.id: peer for peer in self.contacts}
        known.update((peer.id, peer) for peer in peers if peer.d == self.attributes)
        self.contacts = list(known.values())[-self.settings.offers :]

    async def _request(self, to: Descriptor, message: m.Message) -> m.Message | None:
        """Send a request in the node's own name; None if it is not answered."""
        waited_for = getattr(message, "exchange", getattr(message, "name", b""))
        answer: asyncio.Future[m.Message | None] = asyncio.get_running_loop().create_future()
        self._answers[waited_for] = answer
        self._post(to, self._id, message, lambda: None if answer.done() else answer.set_result(None))
        try:
            async with asyncio.timeout(self.reply):
                return await answer
        except TimeoutError:
            return None
        finally:
            self._answers.pop(waited_for, None)

    async def _walk(self, event: m.Event) -> Published:
        """Find somebody who wants an event, and hand it over."""
        walk = Walk(event.point, PublisherSettings())
        walk.learn(self.contacts)
        for subscription in self.subscriptions.values():
            walk.learn(subscription.core.known())
        while True:
            while (taker := walk.hand_over()) is not None:
                answer = await self._request(taker, event)
                if isinstance(answer, m.Taken) and answer.took:
                    return Published(event.name, taker.id, walk.steps)
            asked = walk.ask_next()
            if asked is None:
                return Published(event.name, None, walk.steps)
            answer = await self._request(asked, m.Ask(self._dice.getrandbits(63), event.point))
            if isinstance(answer, m.Answer):
                found = [each.peer for each in answer.links if each.peer.d == self.attributes]
                walk.learn(found)
                self._keep(found)
