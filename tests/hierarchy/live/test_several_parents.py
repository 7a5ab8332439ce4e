"""Live topics with several parents, and the synchronous face of a live process."""

from __future__ import annotations

import asyncio

import pytest

from hierarchy.live import Process
from hierarchy.live.topic_graph import TopicGraph
from sub2sub.errors import InputError
from tests.sub2sub.live.loopback import live_virtually

PERIOD = 0.05
ITALY, NEWS = ".soccer.italy", ".news"


@pytest.mark.parametrize(
    ("further", "topic", "chains"),
    [
        ({}, ".", []),
        ({}, ".a.b", [((".a", "."), -1)]),
        ({".a.b": [".c"]}, ".a.b", [((".a", "."), -1), ((".c",), -1)]),
        # A branch above .a matters to those below it only while nobody is in .a, who would pass events on.
        ({".a": [".c"]}, ".a.b", [((".a",), -1), ((".",), 0), ((".c",), 0)]),
        (
            {".a.b": [".c.d"], ".c.d": [".e"]}, ".a.b",
            [((".a", "."), -1), ((".c.d",), -1), ((".c",), 1), ((".e",), 1)],
        ),
    ],
)  # fmt: skip
def test_every_topic_above_is_in_one_chain(further, topic, chains) -> None:
    graph = TopicGraph(further)
    assert graph.chains(topic) == chains
    above = [each for chain, _ in chains for each in chain]
    assert len(set(above)) == len(above)
    assert all(graph.includes(each, topic) for each in above)


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ({"a": [".b"]}, "parents: expected a path such as"),
        ({".a": ["b"]}, r"parents\['.a'\]: expected a path"),
        ({".a": [".a.b"]}, r"parents\['.a'\]: expected a topic that is not below it, got '.a.b'"),
    ],
)
def test_wrong_parents_are_refused(further, message) -> None:
    with pytest.raises(InputError, match=message):
        Process(parents=further)


@pytest.mark.parametrize("membership", ["unstructured", "semi-structured", "structured"])
def test_events_reach_the_subscribers_of_all_parents_also_of_one_added_while_running(membership) -> None:
    async def story() -> None:
        first = {ITALY: [NEWS]}
        async with Process(period=PERIOD, membership=membership, parents=first, seed=1) as one:
            gateways = {topic: [one.address] for topic in (NEWS, ".soccer", ".late", "*")}
            options = {"period": PERIOD, "membership": membership, "parents": first}
            async with (
                Process(gateways, seed=2, **options) as two,
                Process(gateways, seed=3, **options) as three,
            ):
                news = await one.community(NEWS).subscribe()
                soccer = await one.community(".soccer").subscribe()
                tennis = await two.community(".tennis").subscribe()
                italy = three.community(ITALY)
                await italy.publish(b"one", upward=1.0)
                for events in (news, soccer):
                    assert (await asyncio.wait_for(anext(events), 20)).data == b"one"
                late = await one.community(".late").subscribe()
                for process in (one, two, three):
                    process.add_parent(ITALY, ".late")
                for number in range(60):  # until the new table is filled
                    await italy.publish(b"%d" % number, upward=1.0)
                    await asyncio.sleep(2 * PERIOD)
                    if not late._events.empty():
                        break
                assert (await asyncio.wait_for(anext(late), 5)).topic == ITALY
                assert tennis._events.empty()
                assert sum(each.counts["parasites"] for each in (one, two, three)) == 0

    live_virtually(story)
