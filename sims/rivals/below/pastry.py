"""One node of Pastry: its leaf set, its routing table, and the next hop of a message to a key.

Rowstron, Druschel: *Pastry: scalable, decentralized object location and routing for large-scale peer-to-peer
systems*, Middleware 2001, Section 2. A key belongs to the node with the nearest identifier. If the key is
among the leaves, a node forwards a message to the nearest of them; otherwise to a node whose identifier
shares one digit more with the key; otherwise to any node that shares as many digits and is nearer.

Readings:

- A newcomer's `Arrive` is routed to its own identifier; every node on the way sends it what it knows.
- A newcomer does so through several contacts, one per cycle, and every node again from time to time. In the
  paper there is one contact, and newcomers join one after the other. If all nodes start at once with one
  contact each, they form several interleaved rings, each of nodes whose leaves are all in the same ring.
  Exchanges between neighbours merge these slowly or never, and a key then has several roots.
- Leaf sets and tables are kept by gossip: once a cycle a node exchanges what it knows with a random leaf or,
  every other cycle, a random node of its table (as Bamboo does; Rhea et al., USENIX 2004), and with both
  while its leaves change. This also detects broken links. The paper repairs leaf sets on failure, and tables
  lazily.
- Once a cycle a node measures the round trip to a few nodes that it has heard of and whose places in its
  table are taken; a nearer one takes the place (Section 2.5). Where a network has no latencies, a table keeps
  the first it hears of. The paper fills tables from nodes that are near to the newcomer's contact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from sims.rivals.base.objects import ObjectPeer, Sends, any_of
from sub2sub.errors import InputError, require
from sub2sub.peers.descriptors import LINK, NAME
from sub2sub.peers.draws import Dice

MOST_HOPS = 32  # a limit for routes, in case nodes disagree
JOINS = 4  # contacts through which a newcomer joins, one a cycle
AGAIN = 32  # cycles after which a node joins once more
FORGOTTEN = 20  # cycles for which a node that did not answer is not added again
ID_BITS = 64
AROUND = 1 << ID_BITS


@dataclass(frozen=True)
class PastrySettings:
    """Settings of Pastry.

    Attributes
    ----------
    bits : int
        b: bits of a digit. Larger digits take fewer hops and larger tables.
    leaves : int
        L: nodes with the nearest identifiers that a node keeps, half of them on either side.
    tries : int
        Copies of a message before its target counts as unreachable.
    probes : int
        Round trips that a node measures in a cycle, to keep near nodes; 0 for the first it knows.
    """

    bits: int = 4
    leaves: int = 16
    tries: int = 3
    probes: int = 2

    def __post_init__(self) -> None:
        if self.bits not in (1, 2, 4, 8):
            raise InputError(f"pastry.bits: expected 1, 2, 4 or 8, got {self.bits}")
        if self.leaves < 2 or self.leaves % 2:
            raise InputError(f"pastry.leaves: expected an even number of 2 or more, got {self.leaves}")
        require(self, "pastry", tries=1, probes=0)


class Arrive(NamedTuple):
    """A newcomer on the way to its own identifier."""

    newcomer: int
    hops: int = 0
    size: int = LINK + NAME


class Tell(NamedTuple):
    """Nodes that the sender knows, and whether as many are wanted in return."""

    known: tuple[int, ...]
    asks: bool

    @property
    def size(self) -> int:
        """Bytes: nodes with their identifiers."""
        return (LINK + NAME) * len(self.known)


class Probe(NamedTuple):
    """A message whose answer tells how near its target is."""

    answer: bool
    size: int = 0


def anywhere(node: int, other: int) -> float:
    """Return the round trip of two nodes in a network without latencies."""
    return 0.0


class PastryPeer(ObjectPeer):
    """One node.

    Attributes
    ----------
    leaves : list of int
        Nodes with the nearest identifiers.
    table : dict
        A node for each place 2^b row + digit: one that shares `row` digits and has `digit` next.
    gone : dict
        Nodes that did not answer, and when.
    changed : int
        Whether the leaves have changed since the last turn.
    joins : int
        Contacts through which it has joined.
    rivals : dict
        For places that are taken, another node for each.

    Examples
    --------
    >>> ids = [0x10 << 56, 0x20 << 56, 0x2F << 56, 0x80 << 56]
    >>> node = PastryPeer(0, ids, PastrySettings(leaves=2))
    >>> for other in (1, 2, 3):
    ...     node.learn(other)
    >>> node.leaves, node.next_hop(0x2E << 56), node.next_hop(0x11 << 56)
    ([1, 3], 1, 0)
    """

    kept: ClassVar[tuple[str, ...]] = (
        "leaves", "table", "gone", "contact", "now", "reach", "changed", "joins", "rivals",
    )  # fmt: skip

    def __init__(
        self,
        own: int,
        ids: list[int],
        settings: PastrySettings,
        round_trip: Callable[[int, int], float] = anywhere,
    ) -> None:
        self.own, self.ids, self.id, self.settings = own, ids, ids[own], settings
        self.round_trip = round_trip
        self.rivals: dict[int, int] = {}
        self.leaves: list[int] = []
        self.table: dict[int, int] = {}
        self.gone: dict[int, int] = {}
        self.met: set[int] = set()  # nodes considered since the last removal: nothing new about them
        self.now, self.joins = 0, 0
        self.changed = 1
        self.reach = [AROUND, AROUND]  # how far away a new leaf may be, ahead and behind

    def seeks(self, cycle: int) -> bool:
        """Whether to ask for a contact: newcomers, nodes without leaves, and all nodes from time to time."""
        settled = self.leaves and self.joins >= JOINS and (cycle + self.own) % AGAIN
        return self.contact < 0 and not settled

    def turn(self, cycle: int, dice: Dice) -> Sends:
        """Join, or exchange what is known with a leaf or a node of the table."""
        self.now = cycle
        if self.gone:
            self.gone = {node: when for node, when in self.gone.items() if when > cycle - FORGOTTEN}
        sends: list[tuple[int, Any]] = []
        if self.contact >= 0:
            sends.append((self.contact, Arrive(self.own)))
            self.learn(self.contact)
            self.contact = -1
            self.joins += 1
        if self.leaves and (cycle % 2 or self.changed):
            sends.append(self._ask(self.leaves, dice))
        if self.table and (cycle % 2 == 0 or self.changed):
            sends.append(self._ask(list(self.table.values()), dice))
        self.changed = 0
        for place in list(self.rivals)[: self.settings.probes]:
            sends.append((self.rivals.pop(place), Probe(answer=False)))
        return sends

    def _ask(self, among: list[int], dice: Dice) -> tuple[int, Tell]:
        partner = any_of(among, dice)
        return partner, Tell(self._known_near(partner), asks=True)

    def receive(self, sender: int, message: Any, dice: Dice) -> Sends:
        """Add the nodes that others know; route a newcomer onward."""
        self.learn(sender, fresh=True)
        if isinstance(message, Probe):
            if not message.answer:
                return [(sender, Probe(answer=True))]
            place = self._place(self.ids[sender])
            held = self.table.get(place, sender)
            if self.round_trip(self.own, sender) < self.round_trip(self.own, held):
                self.table[place] = sender
            return ()
        if isinstance(message, Tell):
            answer = [(sender, Tell(self._known_near(sender), asks=False))] if message.asks else []
            for node in message.known:
                self.learn(node)
            return answer
        newcomer = message.newcomer
        told = [(newcomer, Tell((self.own, *self._known_near(newcomer)), asks=False))]
        self.learn(newcomer, fresh=True)
        return [*told, *self._onward(message)]

    def unreachable(self, target: int, message: Any, dice: Dice) -> Sends:
        """Drop a dead node; route a newcomer another way."""
        self.forget(target)
        return self._onward(message) if isinstance(message, Arrive) and self.own != message.newcomer else ()

    def _onward(self, message: Arrive) -> list[tuple[int, Arrive]]:
        """Route a newcomer to the nearest node but itself."""
        following = self.next_hop(self.ids[message.newcomer], (message.newcomer,))
        further = message._replace(hops=message.hops + 1)
        return [(following, further)] if following != self.own and further.hops < MOST_HOPS else []

    def links(self) -> list[int]:
        """Leaves and table."""
        return list(dict.fromkeys([*self.leaves, *self.table.values()]))

    def next_hop(self, key: int, silent: Collection[int] = ()) -> int:
        """The next hop of a message to a key; the node itself, if it is responsible for the key.

        Nodes in `silent` are passed over: they did not answer just now.
        """
        if self._within_leaves(key):
            leaves = [leaf for leaf in self.leaves if leaf not in silent] if silent else self.leaves
            return min([self.own, *leaves], key=lambda node: (apart(self.ids[node], key), node))
        bits = self.settings.bits
        common = shared(self.id, key, bits)
        place = (common << bits) + digit(key, common, bits)
        if place in self.table and self.table[place] not in silent:
            return self.table[place]
        own = apart(self.id, key)
        nearer = [
            node
            for node in PastryPeer.links(self)
            if node not in silent
            and shared(self.ids[node], key, bits) >= common
            and apart(self.ids[node], key) < own
        ]
        return min(nearer, key=lambda node: apart(self.ids[node], key), default=self.own)

    def learn(self, node: int, fresh: bool = False) -> None:
        """Add a node if there is room or it is nearer; `fresh` if it sent a message itself."""
        if node in self.met:
            return
        if fresh:
            self.gone.pop(node, None)
        if node == self.own or node in self.gone:
            return
        self.met.add(node)
        theirs = self.ids[node]
        place = self._place(theirs)
        if place not in self.table:
            self.table[place] = node
        elif self.round_trip is not anywhere:
            self.rivals[place] = node
        ahead = (theirs - self.id) % AROUND
        if node in self.leaves:
            return
        if ahead < self.reach[0] or AROUND - ahead < self.reach[1]:
            self._take_leaf(node)

    def _place(self, theirs: int) -> int:
        """The place of an identifier in the table."""
        bits = self.settings.bits
        row = (ID_BITS - (self.id ^ theirs).bit_length()) // bits
        return (row << bits) + (theirs >> (ID_BITS - (row + 1) * bits) & ((1 << bits) - 1))

    def forget(self, node: int) -> None:
        """Drop a node that did not answer."""
        self.gone[node] = self.now
        self.met.clear()
        if node in self.leaves:
            self.leaves.remove(node)
            self.reach = [AROUND, AROUND]
        for place in [place for place, held in self.table.items() if held == node]:
            del self.table[place]

    def _take_leaf(self, node: int) -> None:
        """Keep the nearest on either side, in the order of identifiers from this node on."""
        half = self.settings.leaves // 2
        leaves = sorted([*self.leaves, node], key=lambda leaf: (self.ids[leaf] - self.id) % AROUND)
        if len(leaves) > 2 * half:
            leaves = [*leaves[:half], *leaves[-half:]]
        self.changed |= int(leaves != self.leaves)
        self.leaves = leaves
        if len(leaves) == 2 * half:
            outermost = self.ids[leaves[half - 1]], self.ids[leaves[half]]
            self.reach = [(outermost[0] - self.id) % AROUND, (self.id - outermost[1]) % AROUND]

    def _within_leaves(self, key: int) -> bool:
        """Whether a key lies between the outermost leaves."""
        half = self.settings.leaves // 2
        if len(self.leaves) < 2 * half:
            return True
        first, last = self.ids[self.leaves[half]], self.ids[self.leaves[half - 1]]
        return (key - first) % AROUND <= (last - first) % AROUND

    def _known_near(self, target: int) -> tuple[int, ...]:
        """Nodes to send to another node: the leaves, and the table row of their common prefix."""
        bits = self.settings.bits
        row = shared(self.id, self.ids[target], bits)
        places = range(row << bits, (row + 1) << bits)
        told = dict.fromkeys([*self.leaves, *(self.table[place] for place in places if place in self.table)])
        told.pop(target, None)
        return tuple(told)


def shared(a: int, b: int, bits: int) -> int:
    """Digits that two identifiers have in common at the front.

    Examples
    --------
    >>> shared(0xAB00000000000000, 0xAC00000000000000, 4)
    1
    """
    return (ID_BITS - (a ^ b).bit_length()) // bits


def digit(a: int, place: int, bits: int) -> int:
    """The digit at a place, counted from the front.

    Examples
    --------
    >>> digit(0xAB00000000000000, 1, 4)
    11
    """
    return a >> (ID_BITS - (place + 1) * bits) & ((1 << bits) - 1)


def apart(a: int, b: int) -> int:
    """Distance of two identifiers on the circle.

    Examples
    --------
    >>> apart(2**64 - 1, 1)
    2
    """
    return min((a - b) % AROUND, (b - a) % AROUND)
