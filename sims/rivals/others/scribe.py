"""Scribe over Pastry: a multicast tree for each topic, of the routes from its subscribers to its root.

Castro, Druschel, Kermarrec, Rowstron: *Scribe: a large-scale and decentralized application-level multicast
infrastructure*, IEEE JSAC 20(8), 2002, Section III. The node whose identifier is nearest to a topic's key is
the root of its tree. A subscriber routes `Subscribe` towards the key; every node on the route accepts the
sender as a child and, if it is not in the tree yet, subscribes itself. So nodes also forward events of topics
that they do not subscribe to.

Readings:

- Once a cycle a node sends its parent a sign of life; a parent drops children that were silent for two
  cycles. In the paper parents send them to children; the number of messages is the same.
- A node whose parent is dead subscribes again. A root checks in every cycle whether another node has become
  responsible for the key, and other nodes check from time to time whether their route to the root has
  changed. Otherwise trees that were built with incomplete routing tables would stay deep for ever.
- An event is sent to the roots of its own topic and of all topics above, whose subscribers want it as well.
  Publishers know these roots from an earlier event (they cache their addresses); every event is billed a
  message by which each root says that it still is one. To a root that does not answer they route.
- A node without children that does not subscribe to the topic leaves the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sims.config.topic_workload import TopicWorkload
from sims.rivals.base.accounts import ENTERING, Retries, RouteSender, keys_of
from sims.rivals.base.entrants import Knob, Look
from sims.rivals.base.grouped import Pushed, counts
from sims.rivals.base.groups import Groups, GroupStack
from sims.rivals.base.objects import ObjectLayer, Sends
from sims.rivals.base.push_tables import PushRules, PushTables, Starts, Way
from sims.rivals.base.system import Integers, Publication
from sims.rivals.below.pastry import MOST_HOPS, PastryPeer, PastrySettings, anywhere
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import Clock, latency
from sub2sub.peers.descriptors import LINK, NAME
from sub2sub.peers.draws import Dice, cycle_key, stream_number

KEYS = stream_number("anchors/scribe keys")

PATIENCE = 2  # cycles that a child may be silent
REVISED = 4  # cycles between two checks of the route to the root


class Subscribe(NamedTuple):
    """A request to be the parent in a topic's tree; repeated, it says that the child is alive."""

    topic: int
    size: int = NAME


class Leave(NamedTuple):
    """A child leaves a tree."""

    topic: int
    size: int = NAME


class ScribePeer(PastryPeer):
    """A Pastry node in the trees of topics.

    Attributes
    ----------
    topic : int
        What it subscribes to, -1 for nothing.
    parents : dict
        Its parent in each tree; itself where it is the root.
    children : dict
        For each tree, its children and when each was heard of.

    Examples
    --------
    >>> nodes = [ScribePeer(k, [1 << 60, 2 << 60], [2 << 60], 0, PastrySettings()) for k in (0, 1)]
    >>> nodes[0].learn(1)
    >>> (target, message), = nodes[0].subscribe(0)
    >>> list(nodes[target].receive(0, message, Dice(1))), nodes[1].children, nodes[1].parents
    ([], {0: {0: 0}}, {0: 1})
    """

    kept: ClassVar[tuple[str, ...]] = (*PastryPeer.kept, "parents", "children")

    def __init__(
        self,
        own: int,
        ids: list[int],
        keys: list[int],
        topic: int,
        settings: PastrySettings,
        round_trip: Callable[[int, int], float] = anywhere,
    ) -> None:
        super().__init__(own, ids, settings, round_trip)
        self.keys, self.topic = keys, topic
        self.parents: dict[int, int] = {}
        self.children: dict[int, dict[int, int]] = {}

    def turn(self, cycle: int, dice: Dice) -> Sends:
        """Pastry's turn, then the places in trees."""
        sends = list(super().turn(cycle, dice))
        oldest = cycle - PATIENCE
        for topic, children in list(self.children.items()):
            if len(children) and min(children.values()) < oldest:
                children = {child: when for child, when in children.items() if when >= oldest}
            self.children[topic] = children
            if not children:
                del self.children[topic]
        for topic in [*self.parents, *([self.topic] if self.topic not in self.parents else [])]:
            if topic < 0:
                continue
            if topic != self.topic and topic not in self.children:
                parent = self.parents.pop(topic)
                sends += [(parent, Leave(topic))] if parent != self.own else []
            else:
                sends += self.subscribe(topic, (cycle + self.own + topic) % REVISED == 0)
        return sends

    def subscribe(self, topic: int, revise: bool = False) -> list[tuple[int, Any]]:
        """Tell the parent that this node is alive, or look for a parent."""
        old = self.parents.get(topic, self.own)
        parent = self.next_hop(self.keys[topic]) if revise or old == self.own else old
        self.parents[topic] = parent
        left = [(old, Leave(topic))] if old not in (self.own, parent) else []
        return [*left, (parent, Subscribe(topic))] if parent != self.own else left

    def receive(self, sender: int, message: Any, dice: Dice) -> Sends:
        """Accept a child, and join the tree."""
        if isinstance(message, Subscribe):
            self.children.setdefault(message.topic, {})[sender] = self.now
            return [] if message.topic in self.parents else self.subscribe(message.topic)
        if isinstance(message, Leave):
            self.children.get(message.topic, {}).pop(sender, None)  # an empty one is dropped at the next turn
            return ()
        return super().receive(sender, message, dice)

    def unreachable(self, target: int, message: Any, dice: Dice) -> Sends:
        """Take another way to the root, if a parent is gone."""
        sends = list(super().unreachable(target, message, dice))
        if isinstance(message, Subscribe):
            self.parents.pop(message.topic, None)
            sends += self.subscribe(message.topic)
        return sends

    def links(self) -> list[int]:
        """Pastry's, and those of the trees."""
        trees = [*self.parents.values(), *(child for tree in self.children.values() for child in tree)]
        return list(dict.fromkeys([*super().links(), *(node for node in trees if node != self.own)]))


def topic_keys(topics: int) -> list[int]:
    """The keys of topics: a hash of each one's number, which all nodes know how to compute.

    Examples
    --------
    >>> topic_keys(3) == topic_keys(5)[:3]
    True
    """
    keys: list[int] = draws(cycle_key(0, KEYS, 0), np.arange(topics)).tolist()
    return keys


@dataclass(frozen=True)
class ScribePush(Retries):
    """Settings of Scribe's dissemination.

    Attributes
    ----------
    cached : bool
        Whether publishers send to the roots that they know, instead of routing every event.
    """

    cached: bool = True


class Trees:
    """The trees of all topics as links of members: a router for each node, then its places in trees.

    Attributes
    ----------
    host : (members,) int64
        The node of each member.
    place : dict
        The member of a (node, topic).
    """

    def __init__(self, layer: ObjectLayer[ScribePeer]) -> None:
        peers = layer.peers
        places = [(node, topic) for node, peer in enumerate(peers) for topic in peer.parents]
        self.place = {place: len(peers) + k for k, place in enumerate(places)}
        self.host = np.array([*range(len(peers)), *(node for node, _ in places)])
        down = [
            [self.place.get((child, topic), child) for child in peers[node].children.get(topic, ())]
            for node, topic in places
        ]
        self.tables = PushTables.of([*([[]] * len(peers)), *down])


class Scribe(Pushed):
    """A tree for each topic."""

    name = "scribe"
    workload = TopicWorkload
    layers = PastrySettings
    dissemination = ScribePush
    knobs = tuple(Knob(retries=r) for r in (0, 1, 2, 3))
    probe = Knob(retries=2)
    layer_names = ("scribe",)
    look = Look("pink", "s", "--")
    worlds = ("topics",)

    def build(self, layers: PastrySettings | None, spare: int) -> GroupStack:
        """Nodes with the identifiers of their peers."""
        population, settings = self.make_population(spare), layers or PastrySettings()
        groups = self.groups = Groups(population, self.wanted.tree.ranges)
        ids, keys = population.ids.tolist(), topic_keys(len(groups.above))

        def make(peer: int) -> ScribePeer:
            return ScribePeer(peer, ids, keys, int(groups.of[peer]), settings, self.round_trip)

        self.layer = ObjectLayer("scribe", len(ids), make, settings.tries, self.seed)
        return GroupStack(population, self.groups, [self.layer], self.seed, within=False)

    def round_trip(self, node: int, other: int) -> float:
        """Milliseconds there and back, which a node measures."""
        if self.network.timing is None:
            return 0.0
        clock = self.computed("clock", lambda: Clock.of(self.network.timing, self.truth.places))
        return 2.0 * float(latency(clock, node, other, np.uint64(0)))

    def spread(self, asked: Publication, settings: ScribePush) -> Outcome:
        """Send each event to its roots, and down their trees."""
        trees, truth = self.trees(), self.truth
        keys = keys_of(self.seed, asked.salt, asked.events).tolist()
        topics = self.wanted.tree.of_event[asked.events].tolist()
        own, places = self.network, truth.places[trees.host]
        network = Network(own.alive[trees.host], own.group[trees.host], own.loss, own.timing)
        clock = Clock.of(network.timing, places)
        ways = [
            self.way(
                publisher,
                topic,
                settings.cached,
                RouteSender(network, clock, Dice(key).of_peer(ENTERING), settings.retries),
            )
            for publisher, topic, key in zip(asked.publishers.tolist(), topics, keys, strict=True)
        ]
        found = self.push(
            trees.tables, PushRules(retries=settings.retries), asked,
            Starts.of(asked.publishers.tolist(), ways), network,
            truth._replace(host=trees.host, places=places),
        )  # fmt: skip
        if not settings.cached:
            return found
        return replace(found, control=np.array([1 + len(self.groups.above[topic]) for topic in topics]))

    def trees(self) -> Trees:
        """The trees as they are."""
        return self.computed("trees", lambda: Trees(self.layer))

    def entry_bytes(self, kind: str) -> int:
        """An address, and an identifier or a topic."""
        return LINK + NAME

    def links(self) -> dict[str, Integers]:
        """Leaves, table, and places in trees."""
        peers = self.layer.peers
        kinds: dict[str, list[list[int]]] = {
            "leaves": [peer.leaves for peer in peers],
            "table": [list(peer.table) for peer in peers],
            "trees": [
                [*peer.parents, *(child for tree in peer.children.values() for child in tree)]
                for peer in peers
            ],
        }
        return {kind: self.by_subscriber(counts(links)) for kind, links in kinds.items()}

    def way(self, publisher: int, topic: int, cached: bool, route: RouteSender) -> Way:
        """From a publisher to the roots of a topic and of those above."""
        way = Way([], [])
        for number, each in enumerate((topic, *self.groups.above[topic])):
            self._route(publisher, each, number * route.clock.occupied, cached, route, way)
        return way

    def root_of(self, node: int, topic: int) -> int:
        """The root that a node found when nothing was lost, and nobody down."""
        peers, hops = self.layer.peers, 0
        while (following := peers[node].next_hop(peers[node].keys[topic])) != node and hops < MOST_HOPS:
            node, hops = following, hops + 1
        return node

    def _route(self, node: int, topic: int, now: float, cached: bool, route: RouteSender, way: Way) -> None:
        """Send to a root, or route towards its key; with acknowledgements, around nodes that are down."""
        key, hop, silent = self.layer.peers[node].keys[topic], 0, set[int]()
        direct = self.root_of(node, topic) if cached else node
        while hop < MOST_HOPS:
            following = direct if direct != node else self.layer.peers[node].next_hop(key, silent)
            if following == node:
                break
            copies, came, arrives = route.send(node, following, now)
            way.payers.extend([node] * copies)
            if arrives is not None:
                node, hop, now, direct = following, hop + 1, arrives, following
                is_root = self.layer.peers[node].next_hop(key, silent) == node
                way.reached.extend([(node, hop, now)] * (came - is_root))
            elif route.retries:
                silent.add(following)
                now, direct = now + route.silence, node
            else:
                return
        way.reached.append((self.trees().place.get((node, topic), node), hop, now))
