"""A live node as a file of settings: what it listens to, whom it knows, what it subscribes to.

Each of the three kinds makes its node, subscribes, and publishes what comes as a JSON object.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sub2sub.errors import InputError
from sub2sub.live import Node, Received, Tls
from sub2sub.peers.descriptors import Descriptor
from workloads.settings.models import table

if TYPE_CHECKING:  # a node loads only what it is
    from hierarchy.camcast.manager import CommunityEvent
    from hierarchy.live import Community, Process
    from hierarchy.shared.live import SharedNode
    from hierarchy.topics import TopicTree

Address = tuple[str, int]
Show = Callable[[dict[str, Any]], None]
"""Takes an event as it is printed."""


def address(text: str, key: str) -> Address:
    """Return the host and the port in a text.

    Examples
    --------
    >>> address("[::1]:7000", "listen")
    ('::1', 7000)
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise InputError(f"{key}: expected HOST:PORT, got {text!r}")
    return host.strip("[]"), int(port)


def ranges(text: str) -> tuple[list[float], list[float]]:
    """Return the lower and the upper ends in a text such as 0:0.5,0:1."""
    ends = [part.split(":") for part in text.split(",")]
    try:
        return [float(low) for low, _ in ends], [float(high) for _, high in ends]
    except ValueError:
        raise InputError(f"subscribe: expected LOW:HIGH,LOW:HIGH,..., got {text!r}") from None


def _of_range(event: Received) -> dict[str, Any]:
    return {"point": event.point, "data": event.data.decode(errors="replace"), "hops": event.hops}


def _of_topic(event: CommunityEvent) -> dict[str, Any]:
    return {"topic": event.topic, "data": event.data.decode(errors="replace"), "hops": event.round}


@dataclass(frozen=True)
class NodeFile(ABC):
    """What all kinds of nodes have.

    Attributes
    ----------
    listen : str
        HOST:PORT; port 0 takes a free one. An address that is not loopback needs `tls`.
    advertise : str
        HOST:PORT that others are told to connect to, if that differs.
    contacts : list of str
        HOST:PORT of nodes of the overlay; this node's own may be among them.
    subscribe : list of str
        Ranges LOW:HIGH,LOW:HIGH,... one for each attribute, or topics.
    tls : path
        The member's folder, as `sub2sub live ca issue` makes it.
    insecure : bool
        Listen without TLS at any address: everybody who reaches it takes part.
    period : float
        Seconds of a cycle, the same for all nodes.
    control : path
        Unix socket for `sub2sub live status`, `members` and `monitor`.
    metrics : int
        Port for `/metrics` and `/healthz`, on loopback.
    log : str
        How much is logged.
    """

    listen: str = "127.0.0.1:0"
    advertise: str | None = None
    contacts: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    tls: Path | None = None
    insecure: bool = False
    period: float = 1.0
    control: Path | None = None
    metrics: int | None = None
    log: Literal["debug", "info", "warning"] = "info"

    def __post_init__(self) -> None:
        """Find what is wrong before the node listens."""
        self.known()
        if self.metrics is not None and not 0 <= self.metrics <= 65535:
            raise InputError(f"metrics: expected a port from 0 to 65535, got {self.metrics}")

    def known(self) -> list[Address]:
        """Return the addresses of others to begin with."""
        found = [address(text, "contacts") for text in self.contacts]
        own = [address(text, key) for key in ("listen", "advertise") if (text := getattr(self, key))]
        return [each for each in found if each not in own]

    def options(self) -> dict[str, Any]:
        """Return the arguments that all kinds of nodes have."""
        return {
            "listen": address(self.listen, "listen"),
            "advertise": address(self.advertise, "advertise") if self.advertise else None,
            "period": self.period,
            "tls": Tls(self.tls) if self.tls else None,
            "insecure": self.insecure,
        }

    @abstractmethod
    def node(self) -> Any:
        """Return the node, which is to be opened."""

    @abstractmethod
    async def enter(self, node: Any, what: str, show: Show) -> None:
        """Subscribe to one thing."""

    @abstractmethod
    async def publish(self, node: Any, event: Mapping[str, Any], data: bytes) -> str:
        """Publish an event; return what became of it."""


@dataclass(frozen=True)
class PeerFile(NodeFile):
    """A Sub-2-Sub node: ranges.

    Attributes
    ----------
    attributes : int
        Number of attributes of all events; by default that of the first range.
    """

    attributes: int | None = None

    def __post_init__(self) -> None:
        """Find what is wrong before the node listens."""
        super().__post_init__()
        for what in self.subscribe:
            Descriptor.of(0, *ranges(what))

    def node(self) -> Node:
        """Return the node."""
        number = self.attributes or (len(ranges(self.subscribe[0])[0]) if self.subscribe else 1)
        return Node(number, **self.options())

    async def enter(self, node: Node, what: str, show: Show) -> None:
        """Subscribe to ranges."""
        await node.subscribe(*ranges(what), lambda event: show(_of_range(event)))

    async def publish(self, node: Node, event: Mapping[str, Any], data: bytes) -> str:
        """Publish an event at a point."""
        return (await node.publish(event["point"], data)).outcome


@dataclass(frozen=True)
class TopicFile(NodeFile):
    """A CAMCAST process: topics, one community each.

    Attributes
    ----------
    membership : str
        Where a community's tables come from, the same for everybody.
    """

    membership: Literal["unstructured", "semi-structured", "structured"] = "unstructured"

    def __post_init__(self) -> None:
        """Find what is wrong before the node listens."""
        from hierarchy.live.topic_graph import check_topic

        super().__post_init__()
        for what in self.subscribe:
            check_topic(what)

    def node(self) -> Process:
        """Return the process."""
        from hierarchy.live import Process

        return Process({"*": self.known()}, membership=self.membership, **self.options())

    async def enter(self, node: Process, what: str, show: Show) -> None:
        """Subscribe to a topic."""
        await self._community(node, what).subscribe(lambda event: show(_of_topic(event)))

    async def publish(self, node: Process, event: Mapping[str, Any], data: bytes) -> str:
        """Publish an event of a topic; nobody answers for it."""
        await self._community(node, event["topic"]).publish(data)
        return "sent"

    def _community(self, node: Process, topic: str) -> Community:
        """Return a community, after noting that the contacts may be gateways of it and of those above."""
        above = [topic]
        for each in above:
            node.gateways.setdefault(each, self.known())
            above += node.parents(each)
        return node.community(topic)


@dataclass(frozen=True)
class SharedFile(NodeFile):
    """A node of the shared overlay: topics, ranges, or both.

    Attributes
    ----------
    topics : list of str
        Paths of all topics, the same list for everybody.
    attributes : int
        Number of attributes; the first is where the topics are.
    """

    topics: tuple[str, ...] = ()
    attributes: int = 1

    def __post_init__(self) -> None:
        """Find what is wrong before the node listens."""
        super().__post_init__()
        for what in self.subscribe:
            if what.startswith("."):
                self.tree().number(what)
            else:
                Descriptor.of(0, *ranges(what))

    def tree(self) -> TopicTree:
        """Return the tree of all topics."""
        from hierarchy.topics import TopicTree

        return TopicTree.from_paths(self.topics)

    def node(self) -> SharedNode:
        """Return the node."""
        from hierarchy.shared.live import SharedNode
        from hierarchy.topics import NestedRanges

        return SharedNode(NestedRanges(self.tree()), self.attributes, **self.options())

    async def enter(self, node: SharedNode, what: str, show: Show) -> None:
        """Subscribe to a topic, or to ranges."""

        def of_topic(event: Received) -> None:
            name = node.topics.tree.name(node.topics.topic_at(int(event.point[0])))
            show({"topic": name, **_of_range(event)})

        if what.startswith("."):
            await node.subscribe_topic(what, of_topic)
        else:
            await node.subscribe(*ranges(what), lambda event: show(_of_range(event)))

    async def publish(self, node: SharedNode, event: Mapping[str, Any], data: bytes) -> str:
        """Publish an event of a topic, or at a point."""
        if "topic" in event:
            return (await node.publish_topic(event["topic"], data)).outcome
        return (await node.publish(event["point"], data)).outcome


KINDS: dict[str, type[NodeFile]] = {"peer": PeerFile, "topic": TopicFile, "shared": SharedFile}
TABLES = {name: table(kind, name=name) for name, kind in KINDS.items()}
"""The types of their files, for `workloads.settings`."""
