"""One peer of the shared overlay: its tables of peers with its own topic, supertopics and subtopics.

CAMCAST's two tables (Section 3.2) on the ranges of Sub-2-Sub, and a third:

- the *topic table*, `equals`: peers with the same range. If it is not full, all of them are known. Other
  peers never replace the nearest successors and predecessors among them, the *neighbours*. So some peer knows
  every member, and the distance to the neighbours shows how many members there are;
- the *super-topic table*, `above`: peers with the tightest enclosing ranges;
- the *directory*, `below`: one peer for each subtopic. Events are not sent there. A newcomer uses directories
  to search for its community, from any supertopic downward. CAMCAST has a bootstrap service for that.

In a cycle a peer

1. drops entries that nobody has heard from for long (`expire`);
2. considers the links of the other layers (`hear`). The only message is a greeting to each new neighbour,
   which has to answer, and learns of its own new neighbour by it. A newcomer also greets peers of subtopics,
   because it may be the first of its topic;
3. asks peers above (`to_ask`): a newcomer for a way to its community; others now and then for a tighter
   supertopic and unknown equals, more often if they know few; or a suspect entry whether it is there, and for
   other members of its community;
4. exchanges all tables with an equal (`partners`, `tell`, `answer`, `finish`): in alternate cycles with the
   oldest entry of all equals and of the neighbours. A newcomer exchanges tables with the nearest equals that
   it knows until it finds no nearer ones, so it knows its neighbours from its first cycle on.

A peer that does not answer is forgotten, and not accepted again until another peer hears from it
(`sub2sub.compiled.ring_views.tombstones`). Live peers run this class, and the kernels of
`hierarchy.compiled.shared.layer` must make the same decisions with the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hierarchy.peers.settings import TableSettings
from sub2sub.peers.descriptors import AROUND, Descriptor, Link, oldest_place, remove_place
from sub2sub.peers.draws import Dice, stream_number
from sub2sub.peers.verification import Tombstones

STREAM = stream_number("shared tables")
GREETINGS = stream_number("shared greetings")
POINTS = stream_number(
    "points"
)  # of VICINITY over the points of ranges, whose draws are not those over ranges
EXCHANGES = 8  # of tables in one cycle, at most, with two draws each
ASKS = 2 * EXCHANGES  # number of the first draw for questions, after those for exchanges
DRAWS = 24  # per question: whether it arrives, whether the answer arrives, and the peers that it names
EAGER = 10  # cycles after joining in each of which a peer without equals searches
HASTE = 3  # cycles after joining in which a peer searches for its nearest equals at once
SEARCHES = 3  # factor by which a peer that knows few equals searches more often
STEPS = 12  # questions of a search, at most

Greet = Callable[[Descriptor], bool | None]
"""Informs a peer that it has been accepted; returns whether it answered, None if that is not known yet."""


class TableContents(NamedTuple):
    """The contents of all tables, which a peer sends to an equal."""

    equals: Sequence[Link]
    above: Sequence[Link]
    below: Sequence[Link]


def encloses(a: Descriptor, b: Descriptor) -> bool:
    """Whether the range of a encloses that of b."""
    return all(low <= its for low, its in zip(a.low, b.low, strict=True)) and all(
        its <= end for end, its in zip(a.end, b.end, strict=True)
    )


def looseness(a: Descriptor, b: Descriptor) -> float:
    """Squared distance of the points (low, high) of two ranges: the greater, the looser b encloses a."""
    total = 0.0
    for low, end, its_low, its_end in zip(a.low, a.end, b.low, b.end, strict=True):
        below, beyond = low - its_low, its_end - end
        total += below * below + beyond * beyond
    return total


def is_topic(peer: Descriptor) -> bool:
    """Whether a peer subscribes to a topic, where all peers do."""
    return True


@dataclass(eq=False)
class TablePeer:
    """The tables of one peer.

    Attributes
    ----------
    around : int
        Number of IDs around the ring.
    topical : callable
        Whether a descriptor is that of a topic's subscriber.
    since : int
        When the peer joined.
    unit : int
        Steps of its clock in a cycle. Stamps, and the ages in its settings, are counted in steps.

    Examples
    --------
    >>> a, b, over, under = (Descriptor.half_open(k, (float(low),), (float(end),))
    ...                      for k, (low, end) in enumerate([(10, 20), (10, 20), (0, 100), (12, 15)]))
    >>> peer = TablePeer(a, TableSettings())
    >>> peer.hear([Link(b, 1), Link(over, 1), Link(under, 1)], 1, greet=lambda other: True)
    >>> [[link.peer.id for link in table] for table in peer.tell()]
    [[1], [2], [3]]
    """

    own: Descriptor
    settings: TableSettings
    around: int = AROUND
    topical: Callable[[Descriptor], bool] = is_topic
    since: int = 0
    unit: int = 1
    equals: list[Link] = field(default_factory=list)
    above: list[Link] = field(default_factory=list)
    below: list[Link] = field(default_factory=list)
    tombstones: Tombstones = field(default_factory=Tombstones, repr=False)

    def expire(self, now: int) -> None:
        """Drop entries that nobody has heard from for too long."""
        for table in (self.equals, self.above, self.below):
            table[:] = [link for link in table if link.stamp >= self._oldest_allowed(now)]

    def hear(self, links: Iterable[Link], now: int, greet: Greet) -> None:
        """Consider links that others sent; greet new neighbours, and forget those that do not answer."""
        for link in links:
            if self._accept(link, now, direct=False):
                answered = greet(link.peer)
                if answered:
                    self.heard_from(link.peer, now)
                elif answered is not None:
                    self.fail(link.peer, now)

    def heard_from(self, sender: Descriptor, now: int) -> None:
        """Note a message of a peer itself."""
        self._accept(Link(sender, now), now, direct=True)

    def fail(self, peer: Descriptor, now: int) -> None:
        """Forget a peer that did not answer."""
        for table in (self.equals, self.above, self.below):
            place = _place_of(table, peer)
            if place >= 0:
                remove_place(table, place)
        self.tombstones.set(peer.id, now)

    def to_ask(self, now: int) -> Iterator[Descriptor]:
        """Peers to ask in this cycle: those with enclosing ranges, then those of subtopics.

        The caller has to take the answer of each, or to note that there was none, before it takes the next.
        """
        newcomer, patience = not self.equals and self._age(now) <= EAGER, self.settings.patience
        if 2 * len(self.equals) < self.settings.equals:
            patience = max(patience // SEARCHES, 1)
        if newcomer or (now // self.unit + self.own.id) % patience == 0:
            asked: set[int] = set()
            while len(asked) < STEPS and (other := self._tightest(asked) or self._freshest_below(asked)):
                asked.add(other.id)
                yield other
                if self.equals:
                    return
        elif self.above and self.settings.suspect_age:
            oldest = self.above[oldest_place(self.above)]
            if oldest.stamp < now - self.settings.suspect_age:
                yield oldest.peer

    def ways(
        self, sender: Descriptor, step: int, now: int, dice: Dice, ring: Sequence[Link] = ()
    ) -> list[Link]:
        """Answer question number `step` of a peer: some equals, and entries that lead to the sender's topic.

        Ring neighbours are named, too. A directory has room for few subtopics, but a newcomer can go along
        the ring of its topic to the first member.

        The sender is recorded only after that: in the directory, it would replace the entry that leads to its
        topic.
        """
        count = min(len(self.equals), self.settings.z)
        places = dice.sample(ASKS + step * DRAWS + 2, len(self.equals), count)
        others = (link for link in (*self.below, *self.above) if link.peer.id != sender.id)
        along = (link for link in ring if link.peer.id != sender.id and self.topical(link.peer))
        ways = (link for link in (*others, *along) if encloses(link.peer, sender))
        told = [*(self.equals[place] for place in places), *ways]
        self.heard_from(sender, now)
        return told

    def partners(self, now: int) -> Iterator[Descriptor]:
        """Partners of the exchanges of this cycle, one after the other.

        The caller has to take the tables of each, or to note that there were none, before it takes the next.
        """
        if self._age(now) < HASTE:
            yield from self._nearest()
        elif self.equals:
            among = self.equals
            if (now // self.unit + self.own.id) % 2:
                near = self._neighbours(self.equals)
                among = [link for link in self.equals if link.peer.id in near]
            yield among[oldest_place(among)].peer

    def tell(self) -> TableContents:
        """The tables to send to an equal."""
        return TableContents(tuple(self.equals), tuple(self.above), tuple(self.below))

    def answer(self, sender: Descriptor, received: TableContents, now: int, greet: Greet) -> TableContents:
        """Consider the tables of a request; return those to send back."""
        reply = self.tell()
        self.finish(sender, received, now, greet)
        return reply

    def finish(self, partner: Descriptor, received: TableContents, now: int, greet: Greet) -> None:
        """Consider the tables of an equal."""
        self.heard_from(partner, now)
        for links in received:
            self.hear(links, now, greet)

    def is_ready(self, now: int) -> bool:
        """Whether it may publish (CAMCAST, Section 5.1): it has a super-topic entry, or searched long enough.

        If there were a peer above, it would have been found within `EAGER` cycles, in each of which a peer
        without equals searches.
        """
        return bool(self.above) or self._age(now) > EAGER

    def in_order(self) -> list[Descriptor]:
        """The topic table in the order of the ring, beginning with the nearest successor."""
        peers = [link.peer for link in self.equals]
        return sorted(peers, key=lambda peer: (peer.id - self.own.id) % self.around)

    def community_size(self) -> float:
        """Number of members of its community: counted, or, if the table is full, estimated from IDs."""
        size, k = len(self.equals), self.settings.neighbours
        if size < self.settings.equals:
            return size + 1.0
        ways = sorted((link.peer.id - self.own.id) % self.around for link in self.equals)
        span = float(ways[k - 1]) - float(ways[-k]) + float(self.around)
        return max(size + 1.0, 2.0 * k * float(self.around) / max(span, 1.0))  # rounding may give a span of 0

    def _age(self, now: int) -> int:
        """Cycles since it joined."""
        return (now - self.since) // self.unit

    def _oldest_allowed(self, now: int) -> int:
        return now - self.settings.max_age if self.settings.max_age else 0

    def _tightest(self, asked: set[int]) -> Descriptor | None:
        """The tightest super-topic entry that was not asked; of equally tight ones the freshest."""
        links = [link for link in self.above if link.peer.id not in asked]
        if not links:
            return None
        return min(links, key=lambda link: (looseness(self.own, link.peer), -link.stamp, -link.peer.id)).peer

    def _freshest_below(self, asked: set[int]) -> Descriptor | None:
        """The freshest entry of the directory that was not asked; it shares this peer's supertopics."""
        links = [link for link in self.below if link.peer.id not in asked]
        return max(links, key=lambda link: (link.stamp, link.peer.id)).peer if links else None

    def _nearest(self) -> Iterator[Descriptor]:
        """The nearest known successor until it stays the same, then the nearest predecessor."""
        left = EXCHANGES
        for sign in (1, -1):
            before: Descriptor | None = None
            while left and self.equals:
                near = min(
                    self.equals, key=lambda link: sign * (link.peer.id - self.own.id) % self.around
                ).peer
                if before is not None and near.id == before.id:
                    break
                left, before = left - 1, near
                yield near

    def _neighbours(self, links: Sequence[Link]) -> set[int]:
        """IDs of the nearest successors and predecessors among some links."""
        order = sorted((link.peer.id - self.own.id) % self.around for link in links)
        near = {*order[: self.settings.neighbours], *order[-self.settings.neighbours :]}
        return {(self.own.id + way) % self.around for way in near}

    def _accept(self, link: Link, now: int, direct: bool) -> bool:
        """Renew the entry of a peer, or add it to its table; return whether to greet the peer."""
        peer, own = link.peer, self.own
        if peer.id == own.id or link.stamp < self._oldest_allowed(now):
            return False
        if not self.topical(own) or not self.topical(peer):
            return False
        over, under = encloses(peer, own), encloses(own, peer)
        if not over and not under:
            return False
        table = self.equals if over and under else self.above if over else self.below
        place = _place_of(table, peer)
        if place >= 0:
            table[place] = max(table[place], link, key=lambda each: each.stamp)
            return False
        if self.tombstones.outdate(link):
            return False
        if over and under:
            return self._take_equal(link, direct)
        if over:
            self._take_above(link)
            return False
        return self._take_below(link) and self._age(now) < HASTE

    def _take_equal(self, link: Link, direct: bool) -> bool:
        """Take an equal; in a full table, neighbours and direct senders replace the oldest other entry."""
        near = self._neighbours([*self.equals, link])
        is_near = link.peer.id in near
        if len(self.equals) < self.settings.equals:
            self.equals.append(link)
        elif is_near or direct:
            others = [each for each in self.equals if each.peer.id not in near]
            self.equals[self.equals.index(others[oldest_place(others)])] = link
        return is_near

    def _take_above(self, link: Link) -> None:
        """Take a peer above; in a full table it replaces the loosest entry if it is tighter or fresher."""
        if len(self.above) < self.settings.z:
            self.above.append(link)
            return

        def rank(each: Link) -> tuple[float, int]:
            return looseness(self.own, each.peer), -each.stamp

        worst = max(self.above, key=rank)
        if rank(link) < rank(worst):
            self.above[self.above.index(worst)] = link

    def _take_below(self, link: Link) -> bool:
        """Take a peer of a subtopic: one entry per range, no range within another; else the oldest goes.

        Returns whether the range is new.
        """
        for place, other in enumerate(self.below):
            if encloses(other.peer, link.peer):
                if encloses(link.peer, other.peer) and link.stamp > other.stamp:
                    self.below[place] = link
                return False
        self.below[:] = [other for other in self.below if not encloses(link.peer, other.peer)]
        if len(self.below) < self.settings.below:
            self.below.append(link)
            return True
        oldest = oldest_place(self.below)
        is_newer = link.stamp > self.below[oldest].stamp
        if is_newer:
            self.below[oldest] = link
        return is_newer


def _place_of(table: Sequence[Link], peer: Descriptor) -> int:
    """Place of the entry for a peer, or -1."""
    for place, link in enumerate(table):
        if link.peer.id == peer.id:
            return place
    return -1
