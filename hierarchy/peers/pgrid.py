"""One peer of a P-Grid: where it stands in the trie, the peers it knows there, the announcements it holds.

Papers and rules: `hierarchy.compiled.pgrid.rules`. Live peers run this class; the tests drive it as the
oracle that the kernels agree with, draw for draw. What two peers make of a meeting is `meet`, which needs
no more than how both stand: the simulator calls it on both, a live peer on itself and on what the other
said of itself.

Paths and keys are strings of bits here. Rows have a fixed number of places, some of them free (None).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from hierarchy.peers.contacts import Contact
from hierarchy.peers.settings import PGridSettings
from sub2sub.peers.draws import Dice, mix, stream_number

STREAM = stream_number("pgrid")
MEET, ANNOUNCE, GATEWAY = range(-3, 0)

Row = list[Contact | None]


class Position(NamedTuple):
    """Where a peer stands in the P-Grid, and the peers it knows there."""

    peer: Contact
    path: int
    length: int
    references: tuple[tuple[Contact, ...], ...]
    buddies: tuple[Contact, ...]


class Posting(NamedTuple):
    """An announcement: a member, and for how many cycles it holds."""

    member: Contact
    lease: int


@dataclass(frozen=True)
class Meet:
    """The sender, as it stands, would like to meet, and shares the announcements it holds."""

    exchange: int
    position: Position
    postings: tuple[Posting, ...]


@dataclass(frozen=True)
class Met:
    """How the asker stands after the meeting, others to meet, and announcements."""

    exchange: int
    position: Position
    others: tuple[Contact, ...]
    postings: tuple[Posting, ...]


@dataclass(frozen=True)
class Route:
    """Hand this on to where the key belongs, for `steps` more steps.

    `wish` says what is wanted there: 0 a place, 1 members of the topic, 2 to announce oneself as one,
    3 members of the topic and, if there are none, to be the first.
    """

    exchange: int
    asker: Contact
    wish: int
    key: int
    topic: str
    steps: int


@dataclass(frozen=True)
class Placed:
    """Become a replica of the sender, which stands like this and holds these announcements."""

    exchange: int
    position: Position
    postings: tuple[Posting, ...]


@dataclass(frozen=True)
class Listed:
    """The number of members of the topic that are known here, and some of them."""

    exchange: int
    known: int
    contacts: tuple[Contact, ...]


@dataclass(frozen=True)
class Post:
    """Announcements for a replica."""

    postings: tuple[Posting, ...]


GridMessage = Meet | Met | Route | Placed | Listed | Post


@dataclass
class Held:
    """An announcement one holds, and the cycle in which it ends."""

    member: Contact
    expires: int


@lru_cache(4096)
def key_of(topic: str) -> str:
    """Where a topic belongs: 64 bits.

    Examples
    --------
    >>> len(key_of(".a")), key_of(".a") != key_of(".b")
    (64, True)
    """
    return format(mix(stream_number(topic)), "064b")


def common_prefix(a: str, b: str) -> int:
    """How many bits two strings have in common at the front.

    Examples
    --------
    >>> common_prefix("0110", "0100")
    2
    """
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


def peers_in(row: Row) -> list[Contact]:
    """The peers in a row, in order."""
    return [each for each in row if each is not None]


def put(row: Row, peer: Contact, dice: Dice) -> None:
    """Put a peer into a row, in the first free place or else in a random one, unless the row has it already.

    Examples
    --------
    >>> row = [None, Contact(2, "h", 2, ".a"), None]
    >>> put(row, Contact(2, "h", 2, ".a"), Dice(1))
    >>> [each.id for each in peers_in(row)]
    [2]
    """
    ids = [each and each.id for each in row]
    if peer.id not in ids:
        row[ids.index(None) if None in ids else dice.next_below(len(row))] = peer


def random_place(row: Row, bits: int) -> int:
    """Place of a random entry of a row; -1 if it has none."""
    start = (bits >> 32) * len(row) >> 32
    places = [*range(start, len(row)), *range(start)]
    return next((place for place in places if row[place] is not None), -1)


class GridPeer:
    """One peer's part of a P-Grid.

    Parameters
    ----------
    depth : int
        Bits of a path at most.
    most : int, optional
        Announcements held at most.

    Attributes
    ----------
    references : list of Row
        For each bit of the path, peers on the other side of it.
    buddies, acquaintances : Row
        Peers at the same leaf, and peers to meet, wherever they are.
    held : dict
        Announcements, by the number of the member.

    Examples
    --------
    >>> one, two = (GridPeer(Contact(i, "h", i, ".a"), PGridSettings(replication=1), depth=4) for i in (1, 2))
    >>> meeting = meet(one, two, Dice(1))  # replicas of the root get to know each other
    >>> meeting = meet(one, two, Dice(1))  # and part
    >>> one.path, two.path, [each.id for each in peers_in(two.references[0])]
    ('0', '1', [1])
    """

    def __init__(self, own: Contact, settings: PGridSettings, depth: int, most: int = 1 << 30) -> None:
        self.own, self.settings, self.depth, self.most = own, settings, depth, most
        self.path = ""
        self.references: list[Row] = []
        self.buddies: Row = [None] * (4 * settings.replication)
        self.acquaintances: Row = [None] * (4 * settings.replication)
        self.held: dict[int, Held] = {}

    @classmethod
    def at(cls, position: Position, settings: PGridSettings, depth: int) -> GridPeer:
        """A peer at the position that it reports, with no more references than one keeps."""
        peer = cls(position.peer, settings, depth)
        length = min(position.length, depth, len(position.references))
        peer.path = format(position.path, "064b")[:length]
        peer.references = [_row(level, settings.references) for level in position.references[:length]]
        peer.buddies = _row(position.buddies, len(peer.buddies))
        return peer

    def position(self) -> Position:
        """Its place in the trie, as other peers are told it."""
        return Position(
            self.own,
            int(self.path.ljust(64, "0"), 2),
            len(self.path),
            tuple(tuple(peers_in(row)) for row in self.references),
            tuple(peers_in(self.buddies)),
        )

    def belongs(self, key: str) -> bool:
        """Whether a key belongs to its leaf."""
        return key.startswith(self.path)

    def ways(self, key: str, dice: Dice) -> Iterator[Contact]:
        """The peers that may take a request for a key, in random order: across the first bit that differs."""
        left = peers_in(self.references[common_prefix(self.path, key)])
        while left:
            yield left.pop(dice.next_below(len(left)))

    def admit(self, newcomer: Contact, dice: Dice) -> None:
        """Add a newcomer to the replicas."""
        put(self.buddies, newcomer, dice)

    def take_place(self, other: GridPeer, dice: Dice) -> None:
        """Become a replica of another peer."""
        self.path, self.references = other.path, [list(row) for row in other.references]
        self.buddies = list(other.buddies)
        put(self.buddies, other.own, dice)

    def move(self, other: GridPeer, dice: Dice) -> None:
        """Take the path that a meeting decided on, and the peers to know there.

        What it has learnt since it asked for the meeting stays, but former replicas become acquaintances.
        """
        if other.path == self.path:
            for row, theirs in zip(self.references, other.references, strict=True):
                _take_over(row, theirs, self, dice)
            _take_over(self.buddies, other.buddies, self, dice)
            return
        kept = {each.id for each in peers_in(other.buddies)}
        parted = [each for each in peers_in(self.buddies) if each.id not in kept]
        self.path, self.references, self.buddies = other.path, other.references, other.buddies
        self.know(parted, dice)

    def know(self, peers: Iterable[Contact], dice: Dice) -> None:
        """Add peers to those that it meets."""
        for peer in peers:
            if peer.id != self.own.id:
                put(self.acquaintances, peer, dice)

    def extend(self, bit: str, across: Contact, dice: Dice) -> None:
        """Append one bit to the path, with a first reference across it."""
        self.path += bit
        for buddy in peers_in(self.buddies):  # whether one is still a replica is seen when they meet again
            put(self.acquaintances, buddy, dice)
        self.buddies = [None] * len(self.buddies)
        self.references.append([None] * self.settings.references)
        put(self.references[-1], across, dice)

    def hold(self, postings: Iterable[Posting], cycle: int) -> None:
        """Store the announcements that belong at this leaf; of two of one member the later counts."""
        for member, lease in postings:
            known = self.held.get(member.id)
            room = known is not None or len(self.held) < self.most
            if lease > 0 and room and self.belongs(key_of(member.topic)):
                expires = cycle + min(lease, self.settings.lease)
                if known is None or known.expires < expires:
                    self.held[member.id] = Held(member, expires)

    def miss_cycles(self, missed: int) -> None:
        """Account for cycles in which this peer did nothing: announcements that it holds went on to end."""
        self.held = {id: Held(held.member, held.expires - missed) for id, held in self.held.items()}

    def expire(self, cycle: int) -> None:
        """Drop the announcements that have expired or belong to another leaf by now."""
        self.held = {
            id: held
            for id, held in self.held.items()
            if held.expires > cycle and self.belongs(key_of(held.member.topic))
        }

    def known(self, topic: str) -> list[Contact]:
        """Members of a community that it holds announcements of, by their numbers."""
        members = [held.member for held in self.held.values() if held.member.topic == topic]
        return sorted(members, key=lambda member: member.id)

    def some_of(self, topic: str, asker: int, wanted: int, dice: Dice) -> list[Contact]:
        """Draw up to `wanted` known members in random order, never the asker (Floyd, then a shuffle)."""
        pool = [member for member in self.known(topic) if member.id != asker]
        count = min(len(pool), wanted)
        places: list[int] = list(range(count))
        if count < len(pool):
            for i in range(count):
                last = len(pool) - count + i
                place = dice.next_below(last + 1)
                places[i] = last if place in places[:i] else place
        for j in range(count - 1, 0, -1):
            other = dice.next_below(j + 1)
            places[j], places[other] = places[other], places[j]
        return [pool[place] for place in places]

    def following(self, topic: str, asker: int) -> list[Contact]:
        """The known member whose number follows the asker's, after the last the first; at most one."""
        others = [member for member in self.known(topic) if member.id != asker]
        return [member for member in others if member.id > asker][:1] or others[:1]

    def forget(self, id: int) -> None:
        """Forget a peer that cannot be reached."""
        for row in (*self.references, self.buddies, self.acquaintances):
            row[:] = [None if each is not None and each.id == id else each for each in row]


class Meeting(NamedTuple):
    """What comes of a meeting.

    Attributes
    ----------
    shares : bool
        Whether both have data for each other: replicas, or peers that have just parted.
    further : list of (Contact, Contact)
        Pairs that may meet next: each with peers that the other refers to on its side.
    """

    shares: bool
    further: list[tuple[Contact, Contact]]


def meet(a: GridPeer, b: GridPeer, dice: Dice, b_stays: bool = False) -> Meeting:
    """Let two peers exchange: both may extend their paths, and learn of others.

    With `b_stays` the second keeps its path, and so do both where they could only part.
    """
    common = common_prefix(a.path, b.path)
    for place in range(common):
        _take_over(a.references[place], b.references[place], a, dice)
        _take_over(b.references[place], a.references[place], b, dice)
    a_ends, b_ends = len(a.path) == common, len(b.path) == common
    crowded = 1 + max(len(peers_in(a.buddies)), len(peers_in(b.buddies))) >= 2 * a.settings.replication
    if a_ends and b_ends and common < a.depth and crowded and not b_stays:
        a.extend("0", b.own, dice)
        b.extend("1", a.own, dice)
    elif a_ends and b_ends:
        _take_over(a.buddies, b.buddies, a, dice)
        _take_over(b.buddies, a.buddies, b, dice)
        put(a.buddies, b.own, dice)
        put(b.buddies, a.own, dice)
    elif a_ends:
        a.extend("1" if b.path[common] == "0" else "0", b.own, dice)
        put(b.references[common], a.own, dice)
    elif b_ends and b_stays:
        return Meeting(False, [])
    elif b_ends:
        b.extend("1" if a.path[common] == "0" else "0", a.own, dice)
        put(a.references[common], b.own, dice)
    else:
        put(a.references[common], b.own, dice)
        put(b.references[common], a.own, dice)
        further: list[tuple[Contact, Contact]] = []
        for via_a, via_b in zip(a.references[common], b.references[common], strict=True):
            if via_a is not None and via_a.id != b.own.id:
                further.append((b.own, via_a))
            if via_b is not None and via_b.id != a.own.id:
                further.append((a.own, via_b))
        return Meeting(False, further)
    return Meeting(True, [])


def _take_over(row: Row, other: Row, peer: GridPeer, dice: Dice) -> None:
    """Add what another peer knows at the same place."""
    for each in peers_in(other):
        if each.id != peer.own.id:
            put(row, each, dice)


def _row(peers: Iterable[Contact], places: int) -> Row:
    """Peers in a row of `places` places, each once."""
    known = list({each.id: each for each in peers}.values())[:places]
    return [*known, *[None] * (places - len(known))]
