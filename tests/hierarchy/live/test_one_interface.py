"""One programming interface: asynchronous over TCP, and simulated, with the same names and arguments."""

from __future__ import annotations

import asyncio
import inspect
from contextlib import AsyncExitStack

import pytest

from hierarchy.camcast import Community, CommunityManager, TopicSettings, Transport
from hierarchy.live import Community as LiveCommunity
from hierarchy.live import MemberSettings, Process
from hierarchy.membership import SimulatedTransport
from hierarchy.topics import TopicTree
from sub2sub.errors import InputError

OF_A_PROCESS = ("community", "super_communities", "parents", "add_parent", "leave")
OF_A_COMMUNITY = ("subscribe", "unsubscribe", "publish", "stop_publishing", "leave")


@pytest.mark.parametrize(
    ("live", "simulated", "names"),
    [(Process, CommunityManager, OF_A_PROCESS), (LiveCommunity, Community, OF_A_COMMUNITY)],
)
def test_live_and_simulated_have_the_same_names_and_arguments(live, simulated, names) -> None:
    for name in names:
        one, other = (inspect.signature(inspect.getattr_static(kind, name)) for kind in (live, simulated))
        assert list(one.parameters) == list(other.parameters), name
        if name not in ("subscribe", "unsubscribe"):  # events that can be waited for, and a callback
            assert str(one) == str(other), name
        assert not inspect.iscoroutinefunction(inspect.getattr_static(simulated, name))
    assert issubclass(SimulatedTransport, Transport)


TREE = TopicTree.from_paths([".a.b"])


def _network() -> SimulatedTransport:
    return SimulatedTransport(TREE, 1)


WRONG = {
    "no transport": (lambda: CommunityManager(1, None), "transport: expected a SimulatedTransport, got None"),
    "process": (lambda: CommunityManager("one", _network()), "process: expected the number of a process"),
    "topic": (lambda: CommunityManager(1, _network()).community(".c"), r"topic: '\.c' is unknown"),
    "topic by number": (lambda: CommunityManager(1, _network()).community(0), "topic: expected the name"),
    "topics": (lambda: CommunityManager(1, _network()).community([]), "topic: expected the name of a topic"),
    "tree": (lambda: SimulatedTransport(None, 1), "tree: expected a TopicTree, got None"),
    "seed": (lambda: SimulatedTransport(TREE, "x"), "seed: expected a whole number, 0 or more, got 'x'"),
    "capacity": (lambda: SimulatedTransport(TREE, 1, capacity=0), "capacity: expected a whole number, 1 or"),
    "membership": (lambda: SimulatedTransport(TREE, 1, membership="flat"), "membership: expected a class"),
    "settings": (lambda: SimulatedTransport(TREE, 1, 3.5), "settings: expected TopicSettings, or a mapping"),
    "settings of a topic": (lambda: SimulatedTransport(TREE, 1, {".a": 3}), r"settings\['\.a'\]: expected T"),
    "cycles": (lambda: _network().step("two"), "cycles: expected a whole number, 0 or more, got 'two'"),
    "deliver": (lambda: _network().join(1, ".a", None), "callback: expected a function of one event"),
    "a stranger publishes": (lambda: _network().publish(1, ".a", b""), r"expected a member of '\.a', got 1"),
    "a stranger leaves": (lambda: _network().leave(1, ".a"), r"process: expected a member of '\.a', got 1"),
    "parent": (lambda: CommunityManager(1, _network()).add_parent(".a", ".a.b"), "would close a cycle"),
    "g": (lambda: TopicSettings(g="many"), "g: expected a number, 1 or more, got 'many'"),
    "z": (lambda: TopicSettings(z=2.5), "z: expected a whole number, 1 or more, got 2.5"),
    "timeout": (lambda: MemberSettings(timeout=None), "timeout: expected a whole number, 1 or more"),
    "topic settings": (lambda: MemberSettings({"c": 1}), "topic: expected TopicSettings, got"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_input_gets_one_clear_line(wrong: str) -> None:
    call, expected = WRONG[wrong]
    with pytest.raises(InputError, match=expected) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["live", "simulated"])
def test_communities_refuse_the_same_in_the_same_words(kind: str) -> None:
    async def done(outcome: object) -> None:
        if inspect.isawaitable(outcome):
            await outcome

    async def refuse(community, what: str, *given: object) -> str:
        with pytest.raises(InputError) as error:
            await done(getattr(community, what)(*given))
        return str(error.value)

    async def test() -> None:
        async with AsyncExitStack() as stack:
            process: Process | CommunityManager = CommunityManager(1, _network())
            if kind == "live":
                process = await stack.enter_async_context(Process(period=0.05))
            community = process.community(".a")
            assert (
                await refuse(community, "subscribe", 7) == "callback: expected a function of one event, got 7"
            )
            assert await refuse(community, "unsubscribe", []) == (
                "subscription: expected one to '.a' that has not ended, got list"
            )
            assert await refuse(community, "publish", "text") == "data: expected bytes, got str"
            assert await refuse(community, "publish", bytes(70_000)) == (
                "data: expected at most 65536 bytes, got 70000"
            )
            assert await refuse(community, "publish", b"", 1.5) == "upward: expected a probability, got 1.5"
            assert await refuse(community, "stop_publishing") == (
                "stop_publishing: expected a publisher of '.a'; nothing was published"
            )
            assert not community.is_member
            assert [each.topic for each in process.super_communities(".a")] == ["."]
            assert process.parents(".a.b") == [".a"]
            await done(community.publish(b"x", 0.0))
            assert community.is_member
            await done(community.leave())
            assert not community.is_member

    asyncio.run(test())


def test_an_event_goes_upward_with_the_probability_it_was_published_with() -> None:
    for upward, expected in ((0.0, []), (1.0, [b"goal"])):
        network, heard = _network(), []
        CommunityManager(1, network).community(".a").subscribe(heard.append)
        network.step(5)
        CommunityManager(2, network).community(".a.b").publish(b"goal", upward)
        assert [event.data for event in heard] == expected
