"""Scribe over Pastry as a system: events are routed to the root of a topic's tree, then down the tree.

An event is sent to the roots of its own topic and of all topics above, whose subscribers want it as well.
"""

from __future__ import annotations

import numpy as np

from sims.anchors.groups import Groups, GroupStack
from sims.anchors.pastry.peer import MOST_HOPS
from sims.anchors.pastry.settings import PastrySettings
from sims.anchors.pushing.tables import PushRules, PushTables, Starts, Way, rows
from sims.anchors.scribe.layer import Scribe
from sims.systems.bounds import Retries
from sims.systems.grouped import ENTERING, Grouped, counts
from sims.systems.interface import Integers, Knob
from sims.systems.ledger import Truth, keys_of
from sims.systems.pushed import Pushed
from sims.systems.route_sender import RouteSender
from sims.systems.topic_workload import TopicWorkload
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import Clock
from sub2sub.peers.descriptors import LINK, NAME
from sub2sub.peers.draws import Dice


class Trees:
    """The trees of all topics as links of members: a router for each node, then its places in trees.

    Attributes
    ----------
    host : (members,) int64
        The node of each member.
    place : dict
        The member of a (node, topic).
    """

    def __init__(self, layer: Scribe) -> None:
        peers = layer.peers
        places = [(node, topic) for node, peer in enumerate(peers) for topic in peer.parents]
        self.place = {place: len(peers) + k for k, place in enumerate(places)}
        self.host = np.array([*range(len(peers)), *(node for node, _ in places)])
        down = [
            [self.place.get((child, topic), child) for child in peers[node].children.get(topic, ())]
            for node, topic in places
        ]
        none = rows([[]] * len(self.host))
        self.tables = PushTables(rows([*([[]] * len(peers)), *down]), none, none)


class ScribeSystem(Pushed):
    """A tree for each topic."""

    name = "scribe"
    workload = TopicWorkload
    layers = PastrySettings
    dissemination = Retries
    knobs = tuple(Knob(retries=r) for r in (0, 1, 2, 3))
    probe = Knob(retries=2)
    layer_names = ("scribe",)
    observers = Grouped.observers

    def build(self, layers: PastrySettings | None, spare: int) -> GroupStack:
        """Nodes with the identifiers of their peers."""
        population = self.make_population(spare)
        self.groups = Groups(population, self.wanted.tree.ranges)
        self.layer = Scribe(population.ids, self.groups, layers or PastrySettings(), self.seed)
        return GroupStack(population, self.groups, [self.layer], self.seed, within=False)

    def publish(
        self, events: Integers, publishers: Integers, settings: Retries, salt: int, record: bool = False
    ) -> Outcome:
        """Route each event to its roots, and down their trees."""
        trees = self.trees()
        keys = keys_of(self.seed, salt, events).tolist()
        topics = self.wanted.tree.of_event[events].tolist()
        network = self.network
        network = Network(network.alive[trees.host], network.group[trees.host], network.loss, network.timing)
        clock = Clock.of(network.timing, self.places[trees.host])
        ways = [
            self._way(
                publisher, topic, RouteSender(network, clock, Dice(key).of_peer(ENTERING), settings.retries)
            )
            for publisher, topic, key in zip(publishers.tolist(), topics, keys, strict=True)
        ]
        return self.push(
            trees.tables, PushRules(retries=settings.retries), events, publishers,
            Starts.of(publishers.tolist(), ways), salt, record, network,
            Truth.of(self)._replace(host=trees.host, places=self.places[trees.host]),
        )  # fmt: skip

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
        return {kind: counts(links)[self.peer_of] for kind, links in kinds.items()}

    def _way(self, publisher: int, topic: int, route: RouteSender) -> Way:
        """From a publisher to the roots of a topic and of those above."""
        way = Way([], [])
        for number, each in enumerate((topic, *self.groups.above[topic])):
            self._route(publisher, each, number * route.clock.occupied, route, way)
        return way

    def _route(self, node: int, topic: int, now: float, route: RouteSender, way: Way) -> None:
        """Route towards a key; with acknowledgements, around nodes that are down."""
        key, hop, silent = self.layer.keys[topic], 0, set[int]()
        while hop < MOST_HOPS:
            following = self.layer.peers[node].next_hop(key, silent)
            if following == node:
                break
            copies, arrives = route.send(node, following, now)
            way.payers.extend([node] * copies)
            if arrives is not None:
                node, hop, now = following, hop + 1, arrives
                if self.layer.peers[node].next_hop(key, silent) != node:
                    way.reached.append((node, hop, now))
            elif route.retries:
                silent.add(following)
                now += route.silence
            else:
                return
        way.reached.append((self.trees().place.get((node, topic), node), hop, now))
