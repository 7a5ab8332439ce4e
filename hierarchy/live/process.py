"""A live CAMCAST process and its communities: the programming interface of Section 5.1 of CAMCAST.

Get a community from a process, subscribe to it with a callback or iterate over its events, publish,
unsubscribe, stop publishing. Subscribing or publishing for the first time makes the process a member; it
leaves when it has no subscription left and has stopped publishing. As in the paper, communities are entered
through gateways, well-known members that the process is configured with (Section 5.2.1). Where no gateway of
a community answers, the process founds it.

>>> import asyncio
>>> async def example():
...     async with Process(period=0.05) as alice:
...         events = await alice.community(".soccer").subscribe()
...         gateways = {".soccer": [alice.address], ".soccer.italy": []}
...         async with Process(gateways, period=0.05) as bob:
...             italy = bob.community(".soccer.italy")
...             await italy.publish(b"goal")  # as soon as it knows members above
...             event = await anext(events)
...             return event.topic, event.data
>>> asyncio.run(example())
('.soccer.italy', b'goal')
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import ClassVar

from hierarchy.camcast.manager import (
    CommunityEvent,
    Subscriber,
    check_callback,
    check_data,
    check_upward,
    not_publishing,
    not_subscribed,
)
from hierarchy.live import messages as m
from hierarchy.live.grid_member import GridMember
from hierarchy.live.member import Member
from hierarchy.live.member_settings import MemberSettings
from hierarchy.live.messages import Message
from hierarchy.live.topic_graph import TopicGraph, check_topic
from hierarchy.live.wire import NAME, PROTOCOL
from hierarchy.peers.census import Compare
from hierarchy.peers.contacts import Contact, Send
from hierarchy.peers.pgrid import Meet, Route
from hierarchy.peers.scamp_messages import Subscribe
from hierarchy.peers.settings import SENDING_TO_ALL
from hierarchy.peers.super_table import Find
from sub2sub.errors import InputError
from sub2sub.live.net.connections import Address
from sub2sub.live.net.host import Host, is_address
from sub2sub.live.net.subscriptions import Inbox
from sub2sub.live.net.tls import Tls
from sub2sub.live.wire.framing import Frame
from sub2sub.live.wire.limits import Limits
from sub2sub.peers.draws import Dice, stream_number

STREAM = stream_number("live camcast")
WAIT = 64  # cycles to wait before publishing, at most
MEMBERSHIPS = ("unstructured", "semi-structured", "structured")


class Process(Host):
    """A live process.

    Parameters
    ----------
    gateways : mapping of str to addresses, optional
        Of the communities to enter, and of those above them.
    listen, period, limits, tls, seed, reply, advertise
        As of `sub2sub.live.Node`.
    settings : MemberSettings, optional
        Of all communities; by default links send to all entries of their super-topic tables.
    membership : str
        "unstructured", "semi-structured" or "structured" (Section 5.2), the same for everybody. The last two
        keep a P-Grid, which is entered through the gateways named "*".
    parents : mapping of str to topics, optional
        Further parents of topics, the same for everybody.
    insecure
        As of `sub2sub.live.Node`.
    """

    events: ClassVar = (m.Event,)

    def __init__(
        self,
        gateways: Mapping[str, Sequence[Address]] | None = None,
        listen: Address = ("127.0.0.1", 0),
        period: float = 1.0,
        settings: MemberSettings | None = None,
        limits: Limits | None = None,
        tls: Tls | None = None,
        seed: int | None = None,
        reply: float = 5.0,
        membership: str = "unstructured",
        advertise: Address | None = None,
        parents: Mapping[str, Sequence[str]] | None = None,
        insecure: bool = False,
    ) -> None:
        self.graph = TopicGraph(parents)
        if membership not in MEMBERSHIPS:
            raise InputError(f"membership: expected one of {', '.join(MEMBERSHIPS)}, got {membership!r}")
        self.membership = membership
        super().__init__(PROTOCOL, listen, period, limits, tls, seed, reply, advertise, insecure)
        self.gateways = _checked(gateways or {})
        self.settings = settings or MemberSettings(SENDING_TO_ALL)
        if not isinstance(self.settings, MemberSettings):
            raise InputError(f"settings: expected MemberSettings, got {settings!r}")
        self._communities: dict[str, Community] = {}
        self._turns = itertools.count()

    async def __aenter__(self) -> Process:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave()

    def community(self, topic: str) -> Community:
        """The community of a topic, the same object each time."""
        if check_topic(topic) not in self._communities:
            self._communities[topic] = Community(self, topic)
        return self._communities[topic]

    def super_communities(self, topic: str) -> list[Community]:
        """The communities of the direct supertopics."""
        return [self.community(parent) for parent in self.parents(topic)]

    def parents(self, topic: str) -> list[str]:
        """The direct supertopics of a topic."""
        return list(self.graph.parents(check_topic(topic)))

    def add_parent(self, topic: str, parent: str) -> None:
        """Take note of a further supertopic of a topic; every process has to, for its events to get there."""
        self.graph.add_parent(topic, parent)
        for core in self.cores.values():
            core.follow(self.graph)

    async def leave(self) -> None:
        """Leave all communities and close all connections."""
        for community in self._communities.values():
            await community.leave()
        await self.close()

    def draws(self) -> Dice:
        """Fresh dice."""
        return Dice.of(self.fresh_seed(), STREAM, 0).of_peer(next(self._turns))

    def tick_core(self, core: Member) -> list[Send]:
        """Let a cycle pass, after those in which the process was stopped.

        An event is sent again whatever failed before: the back-off may last longer than its tries.
        """
        core.miss_cycles(self.missed)
        sends = list(core.tick(self.draws()))
        for send in sends:
            if send.to and isinstance(send.message, m.Event):
                self.connections.try_again(send.to.address)
        return sends

    def receive_at(self, core: Member, frame: Frame) -> list[Send]:
        """Hand a member a message."""
        return list(core.receive(frame.message, frame.sender, self.draws()))

    def unreachable_from(self, core: Member, to: Contact, message: Message) -> list[Send]:
        """Tell a member what could not be sent."""
        return list(core.unreachable(to, message, self.draws()))

    def core_for(self, frame: Frame) -> Member | None:
        """The member a frame is for; a question to the gateway is for any member that can answer it."""
        core: Member | None = self.cores.get(frame.to)
        if core is None and isinstance(frame.message, Route | Meet):
            return next(iter(self.cores.values()), None)
        if core is None and isinstance(frame.message, m.Event):  # to a gateway, or an earlier life of it
            topic = frame.message.topic
            found = [each for each in self.cores.values() if self.graph.includes(each.own.topic, topic)]
            return min(found, key=lambda each: frame.to == 0 and each.own.topic != topic, default=None)
        if core or frame.to == self.id:
            return core
        return next((each for each in self.cores.values() if each.own.topic in _topics(frame)), None)

    def post(self, to: Contact, sender: int, message: Message, failed: Callable[[], None]) -> None:
        """Send a message; one to an earlier life of this process fails, since nobody has that number now."""
        if to.address == self.address and to.id and to.id not in self.cores:
            asyncio.get_running_loop().call_soon(failed)
        else:
            super().post(to, sender, message, failed)

    async def find_contact(self, topic: str) -> Contact | None:
        """Ask the gateways of a community for one of its members."""
        for host, port in self.gateways.get(topic, ()):
            if (host, port) == self.address:
                continue
            question = Find(self.dice.getrandbits(63), (topic,))
            answer = await self.request(Contact(0, host, port, topic), question)
            found: list[Contact] = [each for each in answer.contacts if each.topic == topic] if answer else []
            if found:
                return self.dice.choice(found)
        return None

    def overlay_gateways(self, member: Contact) -> list[Contact]:
        """The gateways of the P-Grid, for one member: those under the topic "*", and the process's others."""
        own: list[Contact] = [core.own for core in self.cores.values() if core.own != member]
        known = self.gateways.get("*", ())
        return [*own, *(Contact(0, *address, ".") for address in known if address != self.address)]

    def remove(self, member: Member) -> None:
        """End a membership; others do not enter the P-Grid through it any more."""
        del self.cores[member.own.id]
        self.dispatch(member, list(member.leave()))
        for core in self.cores.values():
            if isinstance(core, GridMember):
                core.grid.gateways = self.overlay_gateways(core.own)

    def contacts_of_gateways(self) -> dict[str, list[Contact]]:
        """The gateways as members know them."""
        return {
            topic: [Contact(0, host, port, topic) for host, port in addresses if (host, port) != self.address]
            for topic, addresses in self.gateways.items()
        }


Events = Inbox[CommunityEvent]
"""One subscription to a community; made by `Community.subscribe`."""


class Community:
    """One process's view of the community of one topic; made by `Process.community`."""

    def __init__(self, process: Process, topic: str) -> None:
        self.process, self.topic = process, topic
        self.member: Member | None = None
        self._subscribers: list[Events] = []
        self._publishes = False
        self._entering = asyncio.Lock()

    @property
    def is_member(self) -> bool:
        """Whether the process takes part in the community now."""
        return self.member is not None

    async def subscribe(self, callback: Subscriber | None = None) -> Events:
        """Receive each event of the topic and of its subtopics; without a callback, iterate over them."""
        if callback is not None:
            check_callback(callback)
        await self._enter()
        events = Events(callback)
        self._subscribers.append(events)
        return events

    async def unsubscribe(self, subscription: Events) -> None:
        """End a subscription."""
        if subscription not in self._subscribers:
            raise not_subscribed(self.topic, subscription)
        self._subscribers.remove(subscription)
        subscription.close()
        self._leave_if_idle()

    async def publish(self, data: bytes = b"", upward: float | None = None) -> int:
        """Publish an event; returns its id.

        Waits until the process is in the community and knows members of the topics above, or knows that
        there are none (CAMCAST, Section 5.1), for `WAIT` cycles at most: what is published before does not
        get there.

        Parameters
        ----------
        data : bytes
        upward : float, optional
            The event's own p_sel, the paper's `setUpwardProb`; by default that of each community.
        """
        data = check_data(data)
        check_upward(upward)
        member = await self._enter()
        self._publishes = True
        process = self.process
        for _ in range(4 * WAIT):
            if member.is_ready:
                break
            await asyncio.sleep(process.period / 4)
        name, chance = process.dice.randbytes(NAME), -1.0 if upward is None else float(upward) + 0.0
        event = m.Event(name, self.topic, member.own.id, 0, chance, data)
        process.dispatch(member, list(member.publish(event, process.draws())))
        return int.from_bytes(name, "big")

    async def stop_publishing(self) -> None:
        """Stay in the community only as long as there are subscriptions."""
        if not self._publishes:
            raise not_publishing(self.topic)
        self._publishes = False
        self._leave_if_idle()

    async def leave(self) -> None:
        """End all subscriptions, and the membership."""
        for events in self._subscribers:
            events.close()
        self._subscribers, self._publishes = [], False
        self._leave_if_idle()

    async def _enter(self) -> Member:
        """Become a member, unless the process is one already; of two calls at once, the second waits."""
        process = self.process
        if not process.is_open:
            raise InputError("process: expected one that is open, as within 'async with Process(...)'")
        async with self._entering:
            return self.member or await self._become_member(process)

    async def _become_member(self, process: Process) -> Member:
        own = Contact(1 + process.dice.getrandbits(63), *process.address, self.topic)
        if process.membership == "unstructured":
            contact = await process.find_contact(self.topic)
            known = process.contacts_of_gateways()
            member = Member(own, self._deliver, process.settings, known, process.graph)
            entering = member.join(contact, process.draws())
        else:
            listed = process.gateways.get("*", [])
            rank = listed.index(process.address) if process.address in listed else None
            keeps_scamp = process.membership == "semi-structured"
            member = GridMember(
                own, self._deliver, process.settings, keeps_scamp, rank=rank, graph=process.graph
            )
            entering = member.enter_by(process.overlay_gateways(own), process.draws())
        self.member = process.cores[own.id] = member
        process.dispatch(member, list(entering))
        return member

    def _leave_if_idle(self) -> None:
        if self.member and not self._publishes and not self._subscribers:
            self.process.remove(self.member)
            self.member = None

    def _deliver(self, event: m.Event) -> None:
        id = int.from_bytes(event.name, "big")
        received = CommunityEvent(event.topic, event.data, id, event.publisher, event.round)
        for events in list(self._subscribers):
            events.deliver(received)


def _topics(frame: Frame) -> Collection[str]:
    """The topics that a question to a gateway, whose number nobody knows yet, may be answered for."""
    match frame.message:
        case Find(topics=topics):
            return topics
        case Compare(topic=topic):
            return (topic,)
        case Subscribe(newcomer=member) if frame.to == 0:
            return (member.topic,)
        case _:
            return ()


def _checked(gateways: Mapping[str, Sequence[Address]]) -> dict[str, list[Address]]:
    """The addresses of the gateways of each community."""
    if not isinstance(gateways, Mapping):
        raise InputError(f"gateways: expected addresses by topic, got {gateways!r}")
    for topic, given in gateways.items():
        if topic != "*":
            check_topic(topic, "gateways")
        for address in given if isinstance(given, list | tuple) else [given]:
            if not is_address(address):
                raise InputError(f"gateways[{topic!r}]: expected a list of (host, port), got {address!r}")
    return {topic: [(host, port) for host, port in given] for topic, given in gateways.items()}
