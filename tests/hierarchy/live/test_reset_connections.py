"""Events into a connection that is reset: they are sent once more."""

from __future__ import annotations

import asyncio

import pytest

from hierarchy.live import Member, Process
from hierarchy.live.messages import Event
from hierarchy.peers.contacts import Contact, Send
from sub2sub.live.virtual.conditions import Network
from sub2sub.live.virtual.loop import VirtualLoop

HERE, THERE = ("127.0.0.1", 7000), ("127.0.0.2", 7000)


@pytest.mark.parametrize("returns", [False, True])
def test_an_event_that_meets_a_process_that_has_returned_is_sent_again(returns: bool) -> None:
    """Its earlier life has left a connection that looks open, if the network was cut when it ended."""
    network, got = Network(1), list[bytes]()

    async def begin(at: tuple[str, int], topic: str) -> tuple[Process, Member]:
        process = Process(listen=at, seed=1)
        await process.open()
        await process.community(topic).subscribe(lambda event: got.append(event.data))
        (member,) = process.cores.values()
        return process, member

    async def test() -> None:
        here, there = network.machine(HERE[0]), network.machine(THERE[0])
        process, member = await here.start(begin(HERE, ".a"))
        await there.start(begin(THERE, "."))
        above = Contact(5, *THERE, ".")

        async def send(data: bytes) -> None:
            event = Event(data * 16, ".a", member.own.id, 0, 1.0, data)
            process.dispatch(member, [Send(above, event)])
            await asyncio.sleep(4.0)

        await here.start(send(b"1"))
        if returns:
            there.crash(silent=True)
            await network.machine(THERE[0]).start(begin(THERE, "."))
        await here.start(send(b"2"))
        assert got == [b"1", b"2"]
        assert member.counts["failed"] == 0

    VirtualLoop(network).run(test())
