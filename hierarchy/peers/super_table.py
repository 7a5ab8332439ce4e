"""One super-topic table: members of the nearest populated supertopic (CAMCAST, Sections 3.3 and 3.4).

FIND_SUPER_CONTACT and KEEP_TABLE_UPDATED of Figures 5 and 6; see `hierarchy.compiled.super_tables.rules`.
Live members run this class; the tests use it as the oracle of the kernels, draw for draw. A driver decides
when a check ends: `conclude` then drops the entries that have not answered.

A member has a table for each of its slots (`hierarchy.compiled.super_tables.slots`). Topics are given by
their paths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hierarchy.peers.contacts import Contact, Send, Sends
from sub2sub.peers.draws import Dice

EXCHANGE = -1  # key of the random numbers of exchanges


@dataclass(frozen=True)
class Find:
    """REQCONTACT (Figure 5): a request for members of these topics, nearest first."""

    exchange: int
    topics: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """ANSCONTACT: some members of the nearest of these topics that the receiver knows."""

    exchange: int
    contacts: tuple[Contact, ...]


@dataclass(frozen=True)
class Check:
    """CHECK (Figure 6): a question whether the receiver, an entry of a super-topic table, is alive."""

    exchange: int


@dataclass(frozen=True)
class Checked:
    """The answer to `Check`."""

    exchange: int
    contacts: tuple[Contact, ...] = ()


@dataclass(frozen=True)
class Supers:
    """A super-topic table that changed, passed on within the community."""

    contacts: tuple[Contact, ...]


SuperMessage = Find | Found | Check | Checked | Supers


class SuperTable:
    """Members of one of the topics of a chain.

    Parameters
    ----------
    chain : sequence of str
        The supertopics it may hold members of, nearest first.
    z, tau : int
        Maximum number of entries; if a check leaves tau or fewer, they are asked for others of their
        community.
    tries : int
        How many times an entry is asked in a check before it is dropped; 1 if messages are not lost.
    below : SuperTable, optional
        The table that must be searched without result before this one is used (topics with several parents).
    slot : int
        Number of the table among those of its member, which gives its exchanges other numbers.

    Attributes
    ----------
    entries : list of Contact
        All of one topic.
    scope : int
        Number of topics of the chain that a search names; 0 if there is no search.
    due : int
        Cycle of the next request.
    fresh : bool
        Whether the table changed and is to be passed on.

    Examples
    --------
    >>> table = SuperTable([".soccer", "."], z=3)
    >>> table.merge([Contact(1, "h", 1, ".")]), table.merge([Contact(2, "h", 2, ".soccer")])
    (True, True)
    >>> [contact.id for contact in table.entries]  # the nearer topic's
    [2]
    """

    def __init__(
        self, chain: Sequence[str], z: int, tau: int = 1, below: SuperTable | None = None, tries: int = 1,
        slot: int = 0,
    ) -> None:  # fmt: skip
        self.chain, self.z, self.tau, self.below, self.tries = tuple(chain), z, tau, below, tries
        self.slot = slot
        self.entries: list[Contact] = []
        self.scope = self.due = 0
        self.fresh = False
        self._news = False
        self._exchanges = 0
        self._silent: dict[int, int] = {}  # entries that have not answered a check yet, with its number
        self._asked: deque[int] = deque(maxlen=64)  # numbers of requests
        self._offered: list[Contact] = []
        self._refill = False
        self._left = 0  # how many more times silent entries may be asked

    def place(self) -> int:
        """Position of the entries' topic in the chain, 0 for the parent; without entries, its length."""
        return self.chain.index(self.entries[0].topic) if self.entries else len(self.chain)

    def merge(self, candidates: Iterable[Contact]) -> bool:
        """MERGE: add candidates of the same topic, prefer nearer topics; return whether the table changed."""
        changed = False
        for candidate in candidates:
            if candidate.topic not in self.chain:
                continue
            place, now = self.chain.index(candidate.topic), self.place()
            if place < now:
                self.entries = [candidate]
                changed = True
            elif place == now and len(self.entries) < self.z and not self._has(candidate.id):
                self.entries.append(candidate)
                changed = True
        self.fresh |= changed
        return changed

    def doubt(self, id: int, dice: Dice) -> Sends:
        """Check all entries, because one of them could not be reached, unless a check is under way."""
        if self._has(id) and self.is_answered:
            yield from self._check(dice)

    def drop(self, id: int) -> None:
        """Drop an entry."""
        self.entries = [entry for entry in self.entries if entry.id != id]

    def is_active(self) -> bool:
        """Whether the table is in use: the whole chain below its branch was searched without result."""
        below = self.below
        return below is None or (not below.entries and below.scope >= len(below.chain))

    def is_ready(self, since: int) -> bool:
        """Whether its member may publish (CAMCAST, Section 5.1): it has entries, or was searched to the root.

        A request to the root had time to be answered if the next one is due before cycle `since`.
        """
        whole = self.scope >= len(self.chain) and self.due < since
        return bool(self.entries) or not self.chain or whole or not self.is_active()

    @property
    def is_checking(self) -> bool:
        """Whether a check is under way."""
        return bool(self._silent or self._offered or self._refill)

    @property
    def is_answered(self) -> bool:
        """Whether all entries have answered the check."""
        return not self._silent

    @property
    def unanswered(self) -> list[int]:
        """IDs of the entries that are dropped if the check ends now."""
        return [] if self._left else list(self._silent)

    def begin_cycle(self) -> None:
        """Empty the table if it is not in use, and remember whether there is a change to pass on."""
        if not self.is_active():
            self.entries, self.scope = [], 0
        self._news, self.fresh = self.fresh, False

    def pass_on(self, view: Iterable[Contact]) -> Sends:
        """Send the table to the community if it changed in the cycle before."""
        for member in view if self._news else ():
            yield Send(member, Supers(tuple(self.entries)))
        self._news = False

    def keep_updated(self, p_sel: float, dice: Dice) -> Sends:
        """With probability p_sel, check all entries."""
        if self.entries and dice.next_chance(p_sel) and self.is_answered:
            self._refill = True
            yield from self._check(dice)

    def receive(self, message: Supers | Checked | Found, dice: Dice) -> Sends:
        """Process another's table, which is merged after a check of the own one, or an answer."""
        match message:
            case Supers():
                self._offered += message.contacts[: self.z]
                del self._offered[: -4 * self.z]
                if self.is_answered:
                    yield from self._check(dice)
            case Checked():
                self._silent = {id: n for id, n in self._silent.items() if n != message.exchange}
            case Found():
                if message.exchange in self._asked:
                    self._asked.remove(message.exchange)
                    self.merge(message.contacts)

    def conclude(self, dice: Dice) -> Sends:
        """End a check: drop silent entries, merge the tables received, ask for others if few are left.

        Silent entries are asked again first, up to `tries` times in all.
        """
        if self._silent and self._left:
            self._left -= 1
            silent = [entry for entry in self.entries if entry.id in self._silent]
            yield from [Send(entry, Check(self._silent[entry.id])) for entry in silent]
            return
        self.entries = [entry for entry in self.entries if entry.id not in self._silent]
        offered, refill = self._offered, self._refill
        self._silent, self._offered, self._refill = {}, [], False
        self.merge(offered)
        if refill and len(self.entries) <= self.tau:
            for entry in list(self.entries):
                yield self.ask(entry, self.chain, dice)

    def wanted(self, cycle: int, p_sel: float, timeout: int, dice: Dice) -> tuple[str, ...]:
        """The topics to search for now, nearest first; none if there is nothing to search for."""
        takes_part = dice.next_chance(p_sel)
        now = self.place()
        if not self.chain or self.due > cycle or not self.is_active():
            return ()
        if now == 0:
            self.scope = 0
            return ()
        if now < len(self.chain):  # has a farther supertopic: some members search for nearer ones
            if not takes_part:
                return ()
            self.scope = now
        else:
            self.scope = min(len(self.chain), self.scope + 1)
        self.due = cycle + timeout
        return self.chain[: self.scope]

    def ask(self, to: Contact, topics: Sequence[str], dice: Dice) -> Send:
        """A request to a member for members of some topics."""
        number = self._number(dice)
        self._asked.append(number)
        return Send(to, Find(number, tuple(topics)))

    def take_found(self, contacts: Iterable[Contact]) -> None:
        """Merge the members that a search found; it ends when the nearest topic is reached."""
        self.merge(contacts)
        if self.place() == 0:
            self.scope = 0

    def _has(self, id: int) -> bool:
        return any(entry.id == id for entry in self.entries)

    def _check(self, dice: Dice) -> Sends:
        """CHECK: ask all entries whether they are alive."""
        self._left = self.tries - 1
        self._silent = {entry.id: self._number(dice) for entry in self.entries}
        yield from [Send(entry, Check(self._silent[entry.id])) for entry in self.entries]

    def _number(self, dice: Dice) -> int:
        """A number for an exchange, known only to the two members that take part in it."""
        self._exchanges += 1
        return dice.of_peer(EXCHANGE - self.slot).bits(self._exchanges)


def answer(
    own: Contact,
    view: Sequence[Contact],
    tables: Iterable[SuperTable],
    topics: Sequence[str],
    wanted: int,
    dice: Dice,
) -> list[Contact]:
    """The members of some topics, nearest first, that a member knows: its community, or its super-processes.

    Examples
    --------
    >>> one, two = (Contact(i, "h", i, ".a") for i in (1, 2))
    >>> [each.id for each in answer(one, [two], [], [".a", "."], 3, Dice(1))]
    [1, 2]
    """
    if own.topic in topics:
        # Random entries of its table; MERGE ignores repeated ones.
        count = max(0, min(wanted, len(view) + 1) - 1)
        return [own, *(view[dice.next_below(len(view))] for _ in range(count))]
    known = [table for table in tables if table.entries and table.entries[0].topic in topics]
    if not known:
        return []
    return min(known, key=lambda table: topics.index(table.entries[0].topic)).entries[:wanted]
