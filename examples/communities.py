"""One program for topic communities, simulated and over TCP: subscribe, publish, unsubscribe.

The names are the same; over TCP each call is awaited, and events may be waited for.
"""

import asyncio

from hierarchy.camcast import CommunityManager
from hierarchy.live import Process
from hierarchy.membership import SimulatedTransport
from hierarchy.topics import TopicTree


def simulated() -> list[tuple[str, bytes]]:
    """Alice subscribes to soccer, Bob publishes in its subtopic Italy; the events that Alice receives."""
    network = SimulatedTransport(TopicTree.from_paths([".soccer.italy"]), seed=1)
    alice, bob = CommunityManager(1, network), CommunityManager(2, network)
    soccer, italy = alice.community(".soccer"), bob.community(".soccer.italy")
    heard = []
    subscription = soccer.subscribe(heard.append)
    for report in (b"kick-off", b"goal"):
        italy.publish(report)
    soccer.unsubscribe(subscription)
    italy.stop_publishing()
    return sorted((event.topic, event.data) for event in heard)


async def live() -> list[tuple[str, bytes]]:
    """The same over TCP on this machine; Bob's configuration names Alice as a gateway of her community."""
    async with (
        Process(period=0.05) as alice,
        Process({".soccer": [alice.address], ".soccer.italy": []}, period=0.05) as bob,
    ):
        soccer, italy = alice.community(".soccer"), bob.community(".soccer.italy")
        subscription = await soccer.subscribe()
        for report in (b"kick-off", b"goal"):
            await italy.publish(report)
        heard = [await asyncio.wait_for(anext(subscription), 20) for _ in range(2)]
        await soccer.unsubscribe(subscription)
        await italy.stop_publishing()
        return sorted((event.topic, event.data) for event in heard)


def main() -> None:
    """Run the program twice."""
    for name, heard in (("simulated", simulated()), ("live", asyncio.run(live()))):
        print(f"{name}:", *(f"{topic} {data.decode()}" for topic, data in heard), sep="  ")


if __name__ == "__main__":
    main()
