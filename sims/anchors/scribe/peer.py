"""One node of Scribe: the topics whose trees it is in, with its parent and its children in each.

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
- A node without children that does not subscribe to the topic leaves the tree.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from sims.anchors.pastry.peer import PastryPeer
from sims.anchors.pastry.settings import PastrySettings
from sims.anchors.transport import Sends
from sub2sub.peers.descriptors import NAME
from sub2sub.peers.draws import Dice

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
        self, own: int, ids: list[int], keys: list[int], topic: int, settings: PastrySettings
    ) -> None:
        super().__init__(own, ids, settings)
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
