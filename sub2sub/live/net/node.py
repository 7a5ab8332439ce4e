"""A node: a process, or a part of one, that subscribes and publishes over a live Sub-2-Sub overlay.

The content-based sibling of CAMCAST's programming interface (CAMCAST, Section 5.1): join with a contact,
subscribe, publish, unsubscribe, leave. Each subscription is a peer of its own (Sub-2-Sub, Section 3: virtual
peers); they share the node's address and connections, and each frame names its receiver.

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

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import MAX_ATTRIBUTES, points
from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core, Draws
from sub2sub.live.core.settings import CoreSettings
from sub2sub.live.net.connections import Address
from sub2sub.live.net.entry import EntrySearch, Published
from sub2sub.live.net.host import is_address
from sub2sub.live.net.identity import bound_id, is_bound
from sub2sub.live.net.joining_host import JoiningHost
from sub2sub.live.net.subscriptions import Received, Subscription
from sub2sub.live.net.tls import Tls
from sub2sub.live.wire import format as wire
from sub2sub.live.wire.framing import Frame, Protocol
from sub2sub.live.wire.limits import Limits
from sub2sub.peers.descriptors import MAX_DATA, Descriptor
from sub2sub.peers.draws import Dice
from sub2sub.peers.publisher import Walk
from sub2sub.peers.settings import PublisherSettings

HEDGES = 10  # a publisher asks the next after that part of the time it waits for an answer
CHANGES = 1024  # peers that have changed to others, for which a node answers


class Node(JoiningHost):
    """A live node.

    Parameters
    ----------
    attributes : int
        Attributes of every subscription and event of the overlay.
    contact : (host, port) or a list of these, optional
        Anybody in the overlay; without, the node begins an overlay of its own. Of several all are asked.
    listen, advertise : (host, port)
        Where to listen (port 0 takes a free one), and what others are told to connect to, if that differs.
    period : float
        Seconds of a cycle, the same for all nodes of an overlay; some jitter is added.
    settings : CoreSettings
    limits : Limits
    tls : Tls, optional
    seed : int, optional
        Random seed of draws and IDs; from the operating system if not given.
    reply : float
        Seconds to wait for an answer while joining and publishing.
    insecure : bool
        Whether the node may listen without TLS at an address that is not loopback: everybody can take part.

    Attributes
    ----------
    subscriptions : dict of int to Subscription
        By sequence ID.
    """

    wire_protocol: ClassVar[Protocol] = wire.PROTOCOL
    core_type: ClassVar[type[Core]] = Core
    # What a peer that has changed is asked; events, also of publishers, which have no ID; messages whose last
    # link is to the sender:
    answered: ClassVar[tuple[type[Any], ...]] = (m.Shuffle, m.Near, m.Ring, m.Probe, m.Seek, m.Digest)
    events: ClassVar[tuple[type[Any], ...]] = (m.Event, m.Taken)
    with_sender_last: ClassVar[tuple[type[Any], ...]] = (m.Shuffle, m.Near)

    def __init__(
        self,
        attributes: int,
        contact: Address | Sequence[Address] | None = None,
        listen: Address = ("127.0.0.1", 0),
        period: float = 1.0,
        settings: CoreSettings | None = None,
        limits: Limits | None = None,
        tls: Tls | None = None,
        seed: int | None = None,
        reply: float = 5.0,
        advertise: Address | None = None,
        insecure: bool = False,
    ) -> None:
        if not 1 <= attributes <= MAX_ATTRIBUTES:
            raise InputError(f"attributes: expected 1 to {MAX_ATTRIBUTES}, got {attributes}")
        super().__init__(self.wire_protocol, listen, period, limits, tls, seed, reply, advertise, insecure)
        self.attributes, self.contact = attributes, contact
        if not all(map(is_address, self._bootstrap())):
            raise InputError(f"contact: expected (host, port), or a list of these, got {contact!r}")
        self.settings = settings or CoreSettings()
        self.subscriptions: dict[int, Subscription] = {}
        self._changed: dict[int, Descriptor] = {}
        self._turns, self._numbers = itertools.count(), itertools.count()

    async def __aenter__(self) -> Node:
        await self.open()
        try:
            await self._meet_all()
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
        return await self._subscribe_as(self._descriptor(low, high), callback)

    def new_id(self) -> int:
        """A sequence ID for one more subscription: a random one, or where IDs are bound the next."""
        if self.identity is None:
            return self.dice.getrandbits(64)
        most = self.connections.limits.subscriptions
        for _ in range(most):
            id = bound_id(self.identity, next(self._numbers) % most)
            if id not in self.cores:
                return id
        raise InputError(f"limits.subscriptions: expected more than {most} for one more subscription")

    async def _subscribe_as(
        self, own: Descriptor, callback: Callable[[Received], None] | None = None
    ) -> Subscription:
        """Let a peer join the overlay."""
        if not self.contacts:
            await self._meet_all()
        subscription = Subscription(own, callback)
        self._begin(subscription, own, self.dice.sample(self.contacts, len(self.contacts)))
        return subscription

    def _begin(self, subscription: Subscription, own: Descriptor, contacts: list[Descriptor]) -> None:
        """Let a subscription be this peer from now on, which joins through contacts."""
        numbers = iter(lambda: self.dice.getrandbits(63), -1)
        core = self.core_type(
            own, subscription.take, self.settings, unit=wire.UNIT, numbers=numbers, note=self._note
        )
        core.join(each.own for each in self.subscriptions.values())
        core.join(contacts, age=wire.UNIT)  # nobody knows when they were heard from, so they have to answer
        subscription.own, subscription.core = own, core
        self.cores[own.id], self.subscriptions[own.id] = core, subscription
        self.dispatch(core, core.enter([*contacts, *(each.own for each in self.cores.values())]))

    async def change(self, subscription: Subscription, low: ArrayLike, high: ArrayLike) -> None:
        """Subscribe to something else: from now on the subscription is another peer, and others are told so.

        Neighbours are told that the old peer leaves; requests to it are answered by what it has changed to.
        """
        self._change_to(subscription, self._descriptor(low, high))

    def _change_to(self, subscription: Subscription, own: Descriptor) -> None:
        """Let a subscription be another peer."""
        old = self._end(subscription)
        before = [id for id, peer in self._changed.items() if peer.id == old.own.id]
        self._changed |= dict.fromkeys([*before, old.own.id], own)
        if len(self._changed) > CHANGES:
            del self._changed[next(iter(self._changed))]
        self._begin(subscription, own, old.known())
        subscription.core.events.seen.update(old.events.seen)

    async def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription; neighbours are told."""
        self._keep(self._end(subscription).known())
        subscription.close()

    def _end(self, subscription: Subscription) -> Core:
        """End the peer that a subscription is; its neighbours are told."""
        if self.subscriptions.pop(subscription.own.id, None) is None:
            raise InputError("subscription: expected one of this node that has not ended")
        core: Core = self.cores.pop(subscription.own.id)
        self.dispatch(core, core.leave())
        return core

    def _descriptor(self, low: ArrayLike, high: ArrayLike) -> Descriptor:
        """A new peer of this node."""
        own = Descriptor.of(self.new_id(), low, high, self.address)
        if own.d != self.attributes:
            raise InputError(f"low: expected {self.attributes} attributes, got {own.d}")
        return own

    async def publish(self, point: ArrayLike, data: bytes = b"") -> Published:
        """Publish an event; returns when somebody has taken it, or nobody is left to ask."""
        at = tuple(points(np.atleast_2d(point), self.attributes)[0].tolist())
        if len(data) > MAX_DATA:
            raise InputError(f"data: expected at most {MAX_DATA} bytes, got {len(data)}")
        event = m.Event(self.dice.randbytes(wire.NAME), at, 0, bytes(data))
        for core in self.cores.values():
            if core.own.matches(at):
                self.dispatch(core, core.publish(event, self._draws(core)))
                if not core.ring.view:  # it has just lost its only neighbour: others must forward the event
                    await self._search(event, {}, {(self.address, True)}, first=True)
                return Published(event.name, core.own.id, 0)
        return await self._walk(event)

    async def leave(self) -> None:
        """End all subscriptions and close all connections."""
        await self.stop_asking()
        for subscription in list(self.subscriptions.values()):
            await self.unsubscribe(subscription)
        await self.connections.flush(self.period)  # neighbours to which no connection is open are told, too
        await self.close()

    def tick_core(self, core: Core) -> list[m.Send]:
        """Let a cycle pass, and ask for a contact, or a host that fell silent, again when it is time."""
        sends = core.tick(self._draws(core))
        self.seek_others(core)
        return sends

    def receive_at(self, core: Core, frame: Frame) -> list[m.Send]:
        """Hand a core a message at this moment of its cycle."""
        core.clock.advance(self.part_of_cycle())
        return core.receive(frame.message, frame.sender, self._draws(core))

    def unreachable_from(self, core: Core, to: Descriptor, message: m.Message) -> list[m.Send]:
        """Tell a core what could not be sent."""
        return core.unreachable(to, message)

    def core_for(self, frame: Frame) -> Core | None:
        """The core a frame is for; of one for nobody here, any for a newcomer, one that matches an event."""
        message = frame.message
        if frame.to in self.cores or frame.to == self.id:
            return self.cores.get(frame.to)
        if isinstance(message, m.Event) and len(message.point) == self.attributes:
            return next((each for each in self.cores.values() if each.own.matches(message.point)), None)
        return next(iter(self.cores.values()), None) if isinstance(message, m.Join | m.Ask) else None

    def is_genuine(self, frame: Frame, identity: bytes | None) -> bool:
        """Whether the ID that a frame claims for its sender belongs to a node with an identity."""
        message, sender = frame.message, frame.sender
        claims = [sender]
        if isinstance(message, self.events):
            claims = claims if any(sender in core.ring.view for core in self.cores.values()) else []
        elif isinstance(message, self.with_sender_last):
            claims += [peer.id for peer in message.links.peers[-1:]]
        elif hasattr(message, "sender"):
            claims.append(message.sender.id)
        elif isinstance(message, m.Join | m.Welcome | m.Ask | m.Answer):
            return True
        most = self.connections.limits.subscriptions
        return all(identity is not None and is_bound(id, identity, most) for id in claims)

    def receive_for_nobody(self, frame: Frame, post: Callable[[bytes], bool]) -> None:
        """Welcome a newcomer where nobody has subscribed; answer for peers that have ended or changed."""
        message = frame.message
        changed = self._changed.get(frame.to)
        if isinstance(message, m.Join):
            some = tuple(self.contacts[: self.settings.offers])
            links = m.Mentions(some, (0,) * len(some))
            post(wire.encode(Frame(frame.sender, self.id, m.Welcome(message.exchange, links))))
        elif isinstance(message, m.Event):
            post(wire.encode(Frame(frame.sender, frame.to, m.Taken(message.name, took=False))))
        elif changed and isinstance(message, self.answered):
            post(wire.encode(Frame(frame.sender, frame.to, m.Changed(message.exchange, changed))))

    def _draws(self, core: Core) -> Draws:
        turn, cycle, seed = next(self._turns), core.turn, self.fresh_seed()
        return lambda stream: Dice.of(seed, stream, cycle).of_peer(turn)

    async def _walk(self, event: m.Event) -> Published:
        """Find peers that want an event, and hand it over; if nobody is found, begin anew at the contact."""
        told: dict[int, Any] = {}  # what peers have answered: nobody is asked twice
        silent: set[tuple[object, bool]] = set()
        published = await self._search(event, told, silent, first=True)
        if published.entry is None and self.contact:
            try:
                await self._meet_all()
            except ConnectionError:
                return replace(published, silent=published.silent + 1)
            again = await self._search(event, told, silent)
            published = replace(
                again, steps=published.steps + again.steps, silent=published.silent + again.silent
            )
        return published

    async def _search(
        self, event: m.Event, told: dict[int, Any], silent: set[tuple[object, bool]], first: bool = False
    ) -> Published:
        """Search once, and note answers and silent addresses; the first time in spite of back-off."""
        walk = Walk(event.point, PublisherSettings(tries=1))  # a connection repeats what is lost
        walk.learn(self.contacts)
        for core in self.cores.values():
            walk.learn(core.known())

        async def request(peer: Descriptor, handed: m.Event | None) -> Any | None:
            if not handed and peer.id in told:
                return told[peer.id]
            if first:
                self.connections.try_again(peer.address)
            answer = await self.request(peer, handed or m.Ask(self.dice.getrandbits(63), event.point))
            if answer and not handed:
                told[peer.id] = answer
            return answer

        search = EntrySearch(event, walk, request, self.reply / HEDGES)
        search.avoid = silent
        await search.run()
        self._keep(search.heard)
        self._drop_contacts(search.silent)
        return search.published()
