"""One program for topic communities, simulated and over TCP: subscribe, publish, unsubscribe.

`story` uses only the interface of two processes. `main` runs it on a simulated network, and over TCP.
"""

import asyncio

from hierarchy.live import Process, SimulatedProcess
from hierarchy.membership import SimulatedTransport
from hierarchy.topics import TopicTree

Either = Process | SimulatedProcess


async def story(alice: Either, bob: Either) -> list[tuple[str, bytes]]:
    """Alice subscribes to soccer, Bob publishes in its subtopic Italy; the events that Alice receives."""
    soccer, italy = alice.community(".soccer"), bob.community(".soccer.italy")
    events = await soccer.subscribe()
    for report in (b"kick-off", b"goal"):
        await italy.publish(report)
    heard = [await asyncio.wait_for(anext(events), 20) for _ in range(2)]
    await soccer.unsubscribe(events)
    await italy.stop_publishing()
    return sorted((event.topic, event.data) for event in heard)


async def simulated() -> list[tuple[str, bytes]]:
    """The story in a simulated network."""
    network = SimulatedTransport(TopicTree.from_paths([".soccer.italy"]), seed=1)
    async with SimulatedProcess(network, 1) as alice, SimulatedProcess(network, 2) as bob:
        return await story(alice, bob)


async def live() -> list[tuple[str, bytes]]:
    """The story over TCP on this machine; Bob's configuration names Alice as a gateway of her community."""
    async with (
        Process(period=0.05) as alice,
        Process({".soccer": [alice.address], ".soccer.italy": []}, period=0.05) as bob,
    ):
        return await story(alice, bob)


def main() -> None:
    """Run the story twice."""
    for run in (simulated, live):
        heard = [f"{topic} {data.decode()}" for topic, data in asyncio.run(run())]
        print(f"{run.__name__}:", *heard, sep="  ")


if __name__ == "__main__":
    main()
