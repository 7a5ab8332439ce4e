"""Histories of nodes of the shared overlay under virtual time (`sub2sub.live.virtual`).

Some nodes subscribe to topics, some to ranges. Whole is what either way of publishing needs: complete rings,
and from every member of a topic a way, along tables and to range subscribers beside it, to all that want its
events. Events go by either way.
"""

from __future__ import annotations

from typing import Any

from hierarchy.peers.router import range_neighbours
from hierarchy.peers.settings import CamcastRoute
from hierarchy.shared.live.shared_core import SharedCore, is_topical
from hierarchy.shared.live.shared_node import SharedNode
from hierarchy.topics import NestedRanges, TopicTree
from tests.histories.faults import FURTHER
from tests.histories.history import SPREAD, Fault
from tests.histories.invariants import beyond
from tests.histories.rings import RingHistory, Subscriber

PATHS = (".a", ".b", ".a.x", ".a.x.p")
TO_ALL = CamcastRoute(c=16.0, g=1000.0)  # everybody sends to all its tables: nothing is left to chance


def topics() -> NestedRanges:
    """The topics of all histories."""
    return NestedRanges(TopicTree.from_paths(PATHS), span=4096)


class SharedSubscriber(Subscriber):
    """A node with a topic subscription, a range subscription, or both."""

    history: SharedHistory
    node: SharedNode

    def __init__(self, history: SharedHistory, number: int) -> None:
        super().__init__(history, number)
        dice, nested = history.dice, history.topics
        self.topic = dice.choice([".", *PATHS, *PATHS, None])
        self.boxes = []
        if self.topic is not None:
            (low, high) = nested.closed_ranges(self.topic)[0].tolist()
            self.boxes.append(([low], [high]))
        if self.topic is None or dice.random() < 0.2:
            low = float(dice.randrange(0, 2000))
            self.boxes.append(([low], [low + dice.choice([10.0, 2000.0])]))

    def node_type(self, *given: Any, **named: Any) -> SharedNode:
        """A node that knows the topics."""
        return SharedNode(topics(), *given, **named)

    async def enter(self, number: int) -> Any:
        """Subscribe to its topic, which comes first, or to its range."""
        if number == 0 and self.topic is not None:
            return await self.node.subscribe_topic(self.topic, self._note(number))
        return await super().enter(number)

    def cores(self) -> list[SharedCore]:
        """Its peers."""
        return [core for core in self.node.cores.values() if isinstance(core, SharedCore)]

    def excesses(self) -> list[str]:
        """What is beyond its limits."""
        lines = [line for line in super().excesses() if "open exchanges" not in line]
        for core in self.cores():
            given = core.settings.overlay.tables
            lines += beyond(
                ("equals", len(core.tables.equals), given.equals),
                ("entries above", len(core.tables.above), given.z),
                ("entries below", len(core.tables.below), given.below),
                ("points", len(core.points.view), core.settings.overlay.points.view),
                ("open exchanges", len(core.exchanges.open), 1024),
            )
        return lines


class SharedHistory(RingHistory):
    """A history of nodes that subscribe to topics and ranges."""

    participants: list[Any]  # of SharedSubscriber

    def __init__(self, seed: int, plan: Any = None) -> None:
        super().__init__(seed, plan)
        self.attributes, self.topics = 1, topics()

    def new_participant(self, number: int) -> SharedSubscriber:
        """A subscriber."""
        return SharedSubscriber(self, number)

    def further_faults(self) -> list[Fault]:
        """Leaving, and long absences."""
        return FURTHER

    def is_whole(self) -> bool:
        """Whether the rings are complete, and the tables lead from each topic to all that want it."""
        live = {core.own.id: core for who in self.participants if who.is_live for core in who.cores()}
        members = [core for core in live.values() if is_topical(core.own)]
        return super().is_whole() and all(self._leads_to_all(core, live) for core in members)

    def _leads_to_all(self, start: SharedCore, live: dict[int, SharedCore]) -> bool:
        point = start.own.low
        found, queue = {start.own.id}, [start]
        while queue:
            core = queue.pop()
            ring = [each.peer for each in core.ring.in_order()]
            both = (range_neighbours(way, point, core.tables) for way in (ring, ring[::-1]))
            aside = [peer for way in both for peer in way[:1]]
            if not is_topical(core.own):
                wanting = [peer for peer in ring if peer.matches(point)]
                aside = [*wanting[:1], *wanting[-1:]]
            tables = [link.peer for link in (*core.tables.equals, *core.tables.above)]
            for peer in (*tables, *aside):
                if peer.id in live and peer.id not in found:
                    found.add(peer.id)
                    queue.append(live[peer.id])
        return found >= {id for id, core in live.items() if core.own.matches(point)}

    async def publish(self) -> None:
        """Publish by CAMCAST's routing from a member of a topic, or along the rings from anybody."""
        members = [each for each in self.participants if each.is_live and each.topic is not None]
        if not members or self.dice.random() < 0.5:
            await super().publish()
            return
        publisher = self.dice.choice(members)
        topic = publisher.topic
        assert topic is not None
        task = publisher.machine.start(publisher.node.publish_topic(topic, b"", TO_ALL))
        published = await self._finish(task, 2 * SPREAD)
        if published:
            self.expect(published.name, [float(self.topics.point(topic))])
