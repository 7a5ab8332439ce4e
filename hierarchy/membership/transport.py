"""A simulated network for the community programming interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hierarchy.camcast.manager import CommunityEvent, Subscriber, check_callback, check_data, check_upward
from hierarchy.camcast.settings import Settings
from hierarchy.compiled.camcast.dissemination import disseminate
from hierarchy.membership.interface import MembershipService, known_parameters
from hierarchy.membership.unstructured import Unstructured
from hierarchy.peers.settings import SENDING_TO_ALL
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError

WAIT = 64  # cycles to wait before publishing, at most


class SimulatedTransport:
    """Processes on one machine that are members of communities and gossip events.

    A join returns when the process has joined, some cycles later. An event is disseminated at once. Members
    that left are never reused for another topic, so old table entries that point to them have no effect.

    Parameters
    ----------
    tree : TopicTree
        The hierarchy of topics; more topics may be added later.
    settings : Settings, optional
        Settings of CAMCAST. By default a member that sends upward sends to its whole super-topic table.
    capacity : int
        Maximum number of memberships, including those that have ended.
    membership : callable, optional
        Makes the membership from (tree, topics, seed, settings); `Unstructured` by default.

    Examples
    --------
    >>> network = SimulatedTransport(TopicTree.from_paths([".a"]), seed=1)
    >>> heard = []
    >>> network.join(7, ".", heard.append)
    >>> network.join(8, ".a", heard.append)
    >>> _ = network.publish(8, ".a", b"hello")
    >>> [(event.topic, event.data, event.publisher) for event in heard]
    [('.a', b'hello', 8), ('.a', b'hello', 8)]
    """

    def __init__(
        self,
        tree: TopicTree,
        seed: int,
        settings: Settings | None = None,
        capacity: int = 1000,
        membership: Callable[[TopicTree, Any, int, Settings], MembershipService] = Unstructured,
    ) -> None:
        if not isinstance(tree, TopicTree):
            raise InputError(f"tree: expected a TopicTree, got {tree!r}")
        if not callable(membership):
            raise InputError(f"membership: expected a class such as Unstructured, got {membership!r}")
        for field, number, least in (("seed", seed, 0), ("capacity", capacity, 1)):
            if not isinstance(number, int) or number < least:
                raise InputError(f"{field}: expected a whole number, {least} or more, got {number!r}")
        self.tree, self.seed = tree, seed
        self.settings = settings or SENDING_TO_ALL
        self.network = Network(np.zeros(capacity, np.uint8), np.zeros(capacity, np.uint8))
        self.membership = membership(tree, np.zeros(capacity, np.int32), seed, self.settings)
        self.cycle = 0
        self._changes = tree.changes
        self._members: dict[tuple[int, int], int] = {}  # (process, topic) -> member
        self._owner: list[tuple[int, Subscriber]] = []  # of each member: process, callback
        self._events = 0

    def join(self, process: int, topic: str, deliver: Subscriber) -> None:
        """Make a process a member of a community."""
        check_callback(deliver)
        if not isinstance(process, int):
            raise InputError(f"process: expected the number of a process, got {process!r}")
        t, member = self.tree.number(topic), len(self._owner)
        if (process, t) in self._members:
            raise InputError(f"process: {process} is a member of {topic!r} already")
        if member == len(self.network.alive):
            raise InputError(f"capacity: all {member} memberships are used, expected a larger capacity")
        self._follow_tree()
        self._members[process, t] = member
        self._owner.append((process, deliver))
        self.membership.topic[member] = t
        self.network.alive[member] = 1
        self.membership.join(np.array([member]), np.array([-1]), self.cycle)
        self.step(self.membership.cycles_to_join)

    def leave(self, process: int, topic: str) -> None:
        """Remove a process from a community."""
        member = self._member(process, topic)
        del self._members[process, self.tree.number(topic)]
        self.membership.leave(np.array([member]), self.cycle)
        self.network.alive[member] = 0
        self.step()

    def publish(self, process: int, topic: str, data: bytes, upward: float | None = None) -> int:
        """Gossip an event, and deliver it to all processes that it reaches.

        Waits some cycles until the process knows members of its supertopics, or knows that there are none
        (CAMCAST, Section 5.1). An event published earlier would not reach them.
        """
        data, member = check_data(data), self._member(process, topic)
        check_upward(upward)
        for _ in range(WAIT):
            if self.membership.ready()[member]:
                break
            self.step()
        number, self._events = self._events, self._events + 1
        chances = known_parameters(self.membership, self.network, self.settings, self.tree)
        spread = disseminate(
            self.membership.tables(),
            chances if upward is None else chances._replace(p_sel=np.full_like(chances.p_sel, upward)),
            member,
            seed=self.seed,
            event=number,
            network=self.network,
        )
        reached = np.flatnonzero(spread.trace.first >= 0)
        for other in reached[np.argsort(spread.trace.first[reached], kind="stable")]:
            _, deliver = self._owner[other]
            deliver(CommunityEvent(topic, data, number, process, int(spread.trace.first[other])))
        return number

    def parents(self, topic: str) -> list[str]:
        """The direct supertopics; refuses an unknown topic."""
        return [self.tree.name(parent) for parent in self.tree.parents(topic)]

    def add_parent(self, topic: str, parent: str) -> None:
        """Give a topic a further supertopic, unless it is below that already."""
        if not self.tree.includes(parent, topic):
            self.tree.add_parent(topic, parent)

    def step(self, cycles: int = 1) -> None:
        """Run some cycles: leases are renewed, tables are checked and refilled."""
        if not isinstance(cycles, int) or cycles < 0:
            raise InputError(f"cycles: expected a whole number, 0 or more, got {cycles!r}")
        self._follow_tree()
        for _ in range(cycles):
            self.membership.step(self.cycle, self.network)
            self.cycle += 1

    def crash(self, process: int) -> None:
        """Crash a process in all its communities, without notice to others."""
        for (owner, _), member in list(self._members.items()):
            if owner == process:
                self.network.alive[member] = 0

    def _member(self, process: int, topic: str) -> int:
        t = self.tree.number(topic)
        member = self._members.get((process, t)) if isinstance(process, int) else None
        if member is None:
            raise InputError(f"process: expected a member of {topic!r}, got {process!r}")
        return member

    def _follow_tree(self) -> None:
        if self.tree.changes > self._changes:
            self._changes = self.tree.changes
            self.membership.topics_changed()
