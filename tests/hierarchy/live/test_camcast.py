"""Live CAMCAST members: the simulator's decisions, and nothing that others can break."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import (
    Communities,
    CommunityEvent,
    Parameters,
    StaticTables,
    TopicSettings,
    disseminate,
)
from hierarchy.compiled.camcast.dissemination import STREAM as EVENTS
from hierarchy.live import Member, MemberSettings, Process
from hierarchy.live import messages as m
from hierarchy.live.grid_member import GridMember
from hierarchy.live.messages import Message
from hierarchy.live.wire import MAX_STEPS, MAX_WEIGHT, PROTOCOL
from hierarchy.peers.contacts import Contact
from hierarchy.peers.scamp import Link
from hierarchy.peers.scamp_messages import Beat, Copy, Served, Subscribe, Weigh, Weighed
from hierarchy.peers.settings import ScampSettings
from hierarchy.peers.super_table import Check
from sub2sub.errors import InputError
from sub2sub.live.wire.framing import Frame, WireError
from sub2sub.peers.draws import Dice, cycle_key
from tests.hierarchy.live.strategies import TOPICS, anything, small
from tests.sub2sub.live.loopback import live, until


def contact(number: int, topic: int = 2) -> Contact:
    return Contact(number + 1, "127.0.0.1", number + 1, TOPICS[topic])


@pytest.mark.parametrize("p_sel", [0.05, 0.3, 1.0])
def test_an_event_spreads_as_in_the_simulator(p_sel: float) -> None:
    group = Communities.chain(7, 27, 84)
    own = TopicSettings(c=0.0, a=2.0, z=4, rounding="up", p_sel=p_sel)
    tables = StaticTables(group, own).draw(seed=3)
    everybody = [contact(i, int(group.topic[i])) for i in range(len(group))]
    members = []
    for i, each in enumerate(everybody):
        member = Member(each, lambda event: None, MemberSettings(own))
        member.scamp.view = [Link(everybody[j], 100) for j in tables.topic_table[i] if j >= 0]
        member.supers.entries = [everybody[j] for j in tables.super_table[i, 0] if j >= 0]
        members.append(member)
    whole = np.full(3, tables.topic_table.shape[1], np.int32)
    parameters = Parameters(whole, np.full(3, p_sel), np.full(3, own.forward))
    for event in range(5):
        spread = disseminate(tables, parameters, 100, seed=9, event=event)
        key = cycle_key(9, EVENTS, event)
        name = event.to_bytes(16, "big")
        waiting = deque([(100, m.Event(name, TOPICS[2], 101, 0, -1.0, b""))])
        first = True
        while waiting:
            number, message = waiting.popleft()
            dice = Dice(key).of_peer(number)
            member = members[number]
            sends = list(member.publish(message, dice) if first else member.receive(message, 0, dice))
            first = False
            waiting.extend((send.to.id - 1, send.message) for send in sends if send.to)  # type: ignore[misc]
        traces = [member.seen.get(name) for member in members]
        assert [trace.round if trace else -1 for trace in traces] == spread.trace.first.tolist()
        for t in range(3):
            own_traces = [trace for i, trace in enumerate(traces) if trace and group.topic[i] == t]
            assert sum(trace.upward for trace in own_traces) == spread.upward[t]
            assert sum(trace.within for trace in own_traces) == spread.sent[t]
            published = 1 if t == 2 else 0
            assert sum(trace.arrived for trace in own_traces) - published == spread.arrived[t]


@given(st.integers(0, 2**64 - 1), anything)
def test_a_frame_is_read_as_it_was_written(to: int, message: Message) -> None:
    assert PROTOCOL.decode(PROTOCOL.encode(Frame(to, 7, message))[4:]) == Frame(to, 7, message)


@given(anything, st.data())
def test_a_frame_with_a_byte_changed_or_cut_off_is_a_frame_or_refused(
    message: Message, data: st.DataObject
) -> None:
    good = PROTOCOL.encode(Frame(1, 2, message))[4:]
    place = data.draw(st.integers(0, len(good) - 1))
    changed = good[:place] + bytes([data.draw(st.integers(0, 255))]) + good[place + 1 :]
    for bad in (good[:place], changed):
        try:
            frame = PROTOCOL.decode(bad)
        except WireError:
            continue
        assert PROTOCOL.decode(PROTOCOL.encode(frame)[4:]) == frame


def member_of(kind: str, heard: list[m.Event]) -> Member:
    own = MemberSettings(TopicSettings(z=3))
    if kind == "unstructured":
        return Member(contact(0, 1), heard.append, own)
    made = GridMember(contact(0, 1), heard.append, own, keeps_scamp=kind == "semi-structured")
    list(made.join(None, Dice(1)))
    return made


@pytest.mark.parametrize("kind", ["unstructured", "semi-structured", "structured"])
@given(steps=st.lists(st.one_of(st.none(), st.tuples(anything, small)), max_size=25))
@settings(max_examples=60)
def test_no_messages_break_a_member(kind: str, steps: list[tuple[Message, int] | None]) -> None:
    heard: list[m.Event] = []
    member = member_of(kind, heard)
    numbers = iter(range(10_000))
    for step in steps:
        dice = Dice(next(numbers))
        sends = list(member.tick(dice) if step is None else member.receive(*step, dice))
        for send in sends:
            PROTOCOL.decode(PROTOCOL.encode(Frame(1, 2, send.message))[4:])
        view = [link.peer.id for link in member.scamp.view]
        assert len(view) == len(set(view)) <= member.scamp.most
        assert all(link.peer.topic == ".d" for link in member.scamp.view)
        assert {each.topic for each in member.supers.entries} <= {"."}
        assert len(member.supers.entries) <= 3
        assert {each.topic for each in member.topic_table()} <= {".d"}
    assert all(event.topic.startswith(".d") for event in heard)
    assert len({event.name for event in heard}) == len(heard)


def test_the_sum_of_the_heaviest_weights_can_be_sent() -> None:
    """A sum beyond the limit would make all that hold the member close their connections."""
    member = Member(contact(0), lambda event: None)
    list(member.join(None, Dice(1)))
    for k in range(1, 400):
        list(member.receive(Weigh(contact(k), MAX_WEIGHT), k, Dice(k)))
    sums = [send.message for send in member.tick(Dice(1)) if isinstance(send.message, Weighed)]
    assert len(sums) == member.scamp.most
    for message in sums:
        PROTOCOL.decode(PROTOCOL.encode(Frame(1, 2, message))[4:])


def test_a_request_that_cannot_be_delivered_is_not_tried_for_ever() -> None:
    """A request was sent to the one entry of a view, which was dead, 1,024 times."""
    for message in (Copy(contact(5), 9, MAX_STEPS), Subscribe(contact(5), 9, 0, MAX_STEPS)):
        member, tried = Member(contact(0), lambda event: None), 0
        list(member.join(None, Dice(1)))
        list(member.scamp.keep(contact(1), 9, 0))
        waiting = list(member.receive(message, 6, Dice(1)))
        while waiting:
            send = waiting.pop()
            if send.to == contact(1) and isinstance(send.message, Copy | Subscribe):
                tried += 1
                waiting += member.unreachable(send.to, send.message, Dice(tried))
        assert 0 < tried < 20
        assert member.scamp.has(contact(5).id), "where nobody can be reached, it stays"


def test_a_message_to_the_earlier_life_of_a_process_fails() -> None:
    """A process that has returned is told of its earlier life by others; it would wait for its own answer."""

    async def test() -> list[int]:
        failed = list[int]()
        async with Process(seed=1, membership="structured") as process:
            await process.community(".a").subscribe(lambda event: None)
            (own,) = (core.own for core in process.cores.values())
            for id in (own.id, 0, own.id + 1):  # itself, any member of the process, and nobody
                process.post(own._replace(id=id), own.id, Check(1), lambda id=id: failed.append(id))
            await asyncio.sleep(0)
        return [id - own.id for id in failed]

    assert asyncio.run(test()) == [1]


def test_an_event_for_the_earlier_life_of_a_process_is_delivered() -> None:
    """Others may have it in their tables, by its earlier number, for as long as announcements last."""
    process = Process(membership="structured", seed=1)
    members = [Member(contact(number, topic), lambda event: None) for number, topic in ((7, 1), (8, 2))]
    process.cores = {each.own.id: each for each in members}

    def taker(topic: str) -> Member | None:
        return process.core_for(Frame(99, 98, m.Event(b"e" * 16, topic, 97, 0, 1.0, b"")))

    assert [taker(topic) for topic in (TOPICS[1], TOPICS[2], TOPICS[0])] == [members[0], members[0], None]
    assert process.core_for(Frame(99, 98, Beat())) is None


def test_what_cannot_be_delivered_goes_another_way() -> None:
    member = Member(contact(0), lambda event: None)
    member.scamp.view = [Link(contact(1), 9), Link(contact(2), 9)]
    copy = Copy(contact(5), 9, 50)
    again = [send for k in range(20) for send in member.unreachable(contact(1), copy, Dice(k))]
    assert {send.to for send in again} == {contact(1), contact(2)}
    assert {send.message.steps for send in again} == {24}
    for _ in range(6):  # heartbeats: after six times it has left the view
        assert not list(member.unreachable(contact(1), Beat(), Dice(1)))
    assert [link.peer for link in member.scamp.view] == [contact(2)]


def test_communities_over_tcp_deliver_upward_and_not_downward() -> None:
    async def test() -> None:
        own = MemberSettings(TopicSettings(c=0, a=2, z=2, p_sel=1.0))
        gateways: dict[str, list[tuple[str, int]]] = {topic: [] for topic in TOPICS}
        processes: list[Process] = []
        heard: list[tuple[str, bytes]] = []
        for number, topic in enumerate([".", ".", ".d", ".d", ".d", ".d.g", ".d.g", ".d.g"]):
            process = Process(gateways, period=0.05, settings=own, seed=number)
            await process.__aenter__()
            if not gateways[topic]:
                gateways[topic] = [process.address]
            for each in processes:
                each.gateways.update(gateways)
            process.gateways.update(gateways)
            await process.community(topic).subscribe(_note(heard, topic))
            processes.append(process)
        members = [next(iter(process.cores.values())) for process in processes]
        await until(lambda: all(member.supers.entries for member in members if member.own.topic != "."))
        await until(lambda: all(member.scamp.view for member in members))
        # SCAMP's graph is directed; wait until the publisher's events get everywhere in its community.
        await processes[-1].community(".d.g").publish(b"up", upward=1.0)
        await until(lambda: {each[0] for each in heard if each[1] == b"up"} == set(TOPICS))
        await processes[0].community(".").publish(b"root only")
        await asyncio.sleep(0.3)
        assert {each[0] for each in heard if each[1] == b"root only"} == {"."}
        assert sum(member.counts["parasites"] for member in members) == 0
        for process in processes:
            await process.leave()

    live(test)


def test_a_process_is_a_member_as_long_as_it_subscribes_or_publishes() -> None:
    async def test() -> None:
        async with Process(period=0.05) as process:
            community = process.community(".soccer")
            events = await community.subscribe()
            await community.publish(b"goal")
            assert (await anext(events)).data == b"goal"
            await community.unsubscribe(events)
            assert community.member is not None
            await community.stop_publishing()
            assert community.member is None
            with pytest.raises(InputError):
                await community.stop_publishing()
            with pytest.raises(InputError):
                process.community("soccer")

    live(test)


def _note(heard: list[tuple[str, bytes]], topic: str) -> Callable[[CommunityEvent], None]:
    return lambda event: heard.append((topic, event.data))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"gateways": [("h", 1)]}, "gateways: expected addresses by topic"),
        ({"gateways": {"a": []}}, "gateways: expected a path"),
        ({"gateways": {".a": [("h", 70_000)]}}, r"gateways\['.a'\]: expected a list of \(host, port\)"),
        ({"period": "1"}, "period: expected seconds above 0"),
        ({"listen": "here"}, r"listen: expected \(host, port\)"),
        ({"settings": 3}, "settings: expected MemberSettings"),
        ({"limits": 3}, "limits: expected Limits, got 3"),
        ({"tls": "yes"}, "tls: expected Tls, got 'yes'"),
        ({"seed": "x"}, "seed: expected int, got 'x'"),
        ({"parents": [".a"]}, "parents: expected topics by topic"),
        ({"membership": "flat"}, "membership: expected one of"),
    ],
)
def test_a_process_says_what_it_expected(given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Process(**given)


def test_two_that_enter_at_once_are_one_member() -> None:
    async def test() -> None:
        async with Process(period=0.05) as one, Process({".": [one.address]}, period=0.05) as other:
            await one.community(".").subscribe()
            community = other.community(".")
            await asyncio.gather(community.subscribe(), community.subscribe(), community.publish(b""))
            assert len(other.cores) == 1
        with pytest.raises(InputError, match="expected one that is open"):
            await other.community(".").publish(b"")

    asyncio.run(test())


def test_a_stopped_process_renews_its_lease_when_it_goes_on() -> None:
    other, own = contact(9), MemberSettings(scamp=ScampSettings(lease=100, isolation=1000))
    for missed, renews in ((0, False), (151, True)):
        member = Member(contact(1), lambda event: None, own)
        list(member.join(other, Dice(1)))
        list(member.receive(Served(other, 100), other.id, Dice(2)))
        member.miss_cycles(missed)
        sent = [type(send.message) for send in member.tick(Dice(3))]
        assert (Subscribe in sent) == renews
