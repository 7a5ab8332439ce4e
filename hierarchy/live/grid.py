"""P-Grid for one live peer: where it stands in the trie, whom it knows there, what it holds.

Rules and papers: `hierarchy.membership.pgrid.rules`; a meeting is the simulator's `meet`, run by whoever is
asked on the two peers' rows. Read differently from the simulator:

- A meeting draws in nobody else (`recursion` is 0); those it would have become acquaintances, to be met in
  later cycles.
- A newcomer knows its gateway's address only, so its first acquaintances are those who gave it its place
  and whom they refer to.
- References are not checked for their own sake: one that cannot be reached is dropped.
- Who waits for the outcome of a meeting it asked for shares what it knows with others that ask, but stays
  where it stands: two outcomes could not both hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hierarchy.live.dice import Dice
from hierarchy.live.messages import Contact, Listed, Meet, Met, Placed, Post, Posting, Route, Send, Stand
from hierarchy.membership.pgrid.layer import PGridSettings
from hierarchy.membership.pgrid.rules import Trie, first_difference, meet
from sub2sub.kernels.randomness import mix, stream_number

__all__ = ["ANNOUNCE", "ENTER", "PLACE", "SEARCH", "Grid", "key_of"]

PLACE, SEARCH, ANNOUNCE, ENTER = range(4)
DEPTH = 16  # bits of a path at most; leaves part only while they are crowded, so far fewer
STEPS = 64


def key_of(topic: str) -> int:
    """Where a topic belongs.

    Examples
    --------
    >>> key_of(".a") != key_of(".b")
    True
    """
    return int(mix(np.uint64(stream_number(topic))))


@dataclass
class Held:
    """An announcement one holds, and the cycle in which it ends."""

    member: Contact
    expires: int


class Grid:
    """One peer's part of a P-Grid."""

    HELD = 1024  # announcements, at most

    def __init__(self, own: Contact, settings: PGridSettings) -> None:
        self.own, self.settings = own, settings
        self.stand = Stand(own, 0, 0, (), ())
        self.others: list[Contact] = []
        self.held: dict[int, Held] = {}
        self.placed = False
        self._asked: dict[int, Stand] = {}
        self._left = 0  # meetings to ask for in this cycle

    def ask_for_place(self, contact: Contact | None, dice: Dice) -> list[Send]:
        """Ask to become a replica of a random leaf; with no contact, be the first."""
        if contact is None:
            self.placed = True
            return []
        self._know([contact])
        return [Send(contact, Route(int(dice.bits()), self.own, PLACE, int(dice.bits()), ".", STEPS))]

    def tick(self, cycle: int, dice: Dice) -> list[Send]:
        """Drop what is over, and meet a buddy, then another."""
        self.held = {id: each for id, each in self.held.items() if each.expires > cycle}
        self._asked.clear()
        self._left = 2 if self.placed else 0
        return self._meet_next(cycle, dice)

    def _meet_next(self, cycle: int, dice: Dice) -> list[Send]:
        """Ask the next for a meeting."""
        while self._left:
            self._left -= 1
            known = self.stand.buddies if self._left else self.others
            if known:
                number = int(dice.bits())
                self._asked[number] = self.stand
                message = Meet(number, self.stand, self._postings(cycle))
                return [Send(known[dice.below(len(known))], message)]
        return []

    def meet(self, message: Meet, cycle: int, dice: Dice) -> list[Send]:
        """Meet somebody: both may extend their paths, and learn of others."""
        theirs = _bounded(message.stand, self.settings)
        if not self.placed or theirs.peer.id == self.own.id:
            return []
        mine = self.stand
        if not self._asked:
            mine, theirs = _meeting(mine, theirs, self.settings, dice)
        passed_on = [self.others[dice.below(len(self.others))]] if self.others else []
        self._move(mine)
        self._know([*_on_the_way(theirs, mine), theirs.peer])
        others = (*_on_the_way(mine, theirs), *passed_on, self.own)
        answer = Met(message.exchange, theirs, others, self._postings(cycle))
        self._hold(message.postings, cycle)
        return [Send(None, answer)]

    def met(self, message: Met, cycle: int, dice: Dice) -> list[Send]:
        """Take up what came of a meeting; returns the request for the next."""
        before = self._asked.pop(message.exchange, None)
        if before is None:
            return []
        if before == self.stand and message.stand.peer == self.own:
            self._move(_bounded(message.stand, self.settings))
        self._know(message.others)
        self._hold(message.postings, cycle)
        return self._meet_next(cycle, dice)

    def route(self, message: Route, cycle: int, wanted: int, dice: Dice) -> list[Send]:
        """Hand a request on, or serve it if its key belongs here."""
        stand = self.stand
        place = int(first_difference(np.uint64(stand.path), np.uint64(message.key), stand.length))
        if place < stand.length:
            known = [each for each in stand.references[place] if each.id != self.own.id]
            if not known or message.steps <= 0:
                return []
            onward = replace(message, steps=message.steps - 1)
            return [Send(known[dice.below(len(known))], onward)]
        asker, number = message.asker, message.exchange
        if message.wish == PLACE:
            self.stand = stand._replace(buddies=self._with(stand.buddies, [asker]))
            theirs = stand._replace(buddies=self._with(stand.buddies, [self.own]))
            return [Send(asker, Placed(number, theirs, self._postings(cycle)))]
        found = [each.member for each in self.held.values() if each.member.topic == message.topic]
        told = []
        if message.wish == ANNOUNCE or (message.wish == ENTER and not found):
            posting = Posting(asker, self.settings.lease)
            self._hold([posting], cycle)
            told = [Send(buddy, Post((posting,))) for buddy in stand.buddies]
        others = [member for member in found if member.id != asker.id]
        for i in range(min(wanted, len(others) - 1)):  # the first of them in random order
            j = i + dice.below(len(others) - i)
            others[i], others[j] = others[j], others[i]
        return [*told, Send(asker, Listed(number, len(found), tuple(others[:wanted])))]

    def take_place(self, message: Placed, cycle: int) -> None:
        """Become a replica."""
        if not self.placed:
            self.placed = True
            stand = _bounded(message.stand, self.settings)
            buddies = tuple(each for each in stand.buddies if each.id != self.own.id)
            self.stand = stand._replace(peer=self.own, buddies=buddies)
            self._know([message.stand.peer, *(each for level in stand.references for each in level)])
            self._hold(message.postings, cycle)

    def post(self, message: Post, cycle: int) -> None:
        """Hold announcements."""
        self._hold(message.postings, cycle)

    def drop(self, id: int) -> None:
        """Forget a peer that cannot be reached."""

        def left(known: Iterable[Contact]) -> tuple[Contact, ...]:
            return tuple(each for each in known if each.id != id)

        stand = self.stand
        references = tuple(left(level) for level in stand.references)
        self.stand = stand._replace(references=references, buddies=left(stand.buddies))
        self.others = list(left(self.others))

    def _move(self, stand: Stand) -> None:
        """Stand elsewhere; who was a replica stays an acquaintance, or those who part lose all the others."""
        self._know(each for each in self.stand.buddies if each not in stand.buddies)
        self.stand = stand

    def _know(self, contacts: Iterable[Contact]) -> None:
        self.others = list(self._with(self.others, (each for each in contacts if each.id != self.own.id)))

    def _with(self, known: Iterable[Contact], more: Iterable[Contact]) -> tuple[Contact, ...]:
        """Known peers and more of them, the last ones if there are too many."""
        all_of = {each.id: each for each in (*known, *more) if each.id != 0}
        return tuple(all_of.values())[-4 * self.settings.replication :]

    def _postings(self, cycle: int) -> tuple[Posting, ...]:
        """What one holds, to hand on. That takes a cycle of each lease: replicas do not tick at once, and a
        lease that went from a late one to an early one and back would never end.
        """
        return tuple(Posting(each.member, max(each.expires - cycle - 1, 0)) for each in self.held.values())

    def _hold(self, postings: Iterable[Posting], cycle: int) -> None:
        """Hold those announcements that belong here; of two of a member the later counts."""
        stand = self.stand
        for member, lease in postings:
            key = np.uint64(key_of(member.topic))
            belongs = first_difference(np.uint64(stand.path), key, stand.length) == stand.length
            known = self.held.get(member.id)
            if belongs and lease > 0 and (known or len(self.held) < self.HELD):
                expires = cycle + min(lease, self.settings.lease)
                if known is None or known.expires < expires:
                    self.held[member.id] = Held(member, expires)


def _bounded(stand: Stand, settings: PGridSettings) -> Stand:
    """How somebody else says one stands, with no more references than one keeps."""
    length = min(stand.length, DEPTH, len(stand.references))
    references = tuple(level[: settings.references] for level in stand.references[:length])
    return stand._replace(
        length=length, references=references, buddies=stand.buddies[: 4 * settings.replication]
    )


def _on_the_way(one: Stand, other: Stand) -> tuple[Contact, ...]:
    """Those `one` refers to on the side of `other`: nearer to it than `one` is, perhaps its replicas."""
    shorter = min(one.length, other.length)
    place = int(first_difference(np.uint64(one.path), np.uint64(other.path), shorter))
    return one.references[place] if place < shorter else ()


def _meeting(mine: Stand, theirs: Stand, settings: PGridSettings, dice: Dice) -> tuple[Stand, Stand]:
    """How two peers stand after they have met, by the simulator's rule."""
    known: dict[int, Contact] = {}
    for stand in (mine, theirs):
        for each in (stand.peer, *stand.buddies, *(one for level in stand.references for one in level)):
            known.setdefault(each.id, each)
    contacts = list(known.values())
    number = {each.id: i for i, each in enumerate(contacts)}
    n, buddies = len(contacts), 4 * settings.replication
    trie = Trie(
        np.zeros(n, np.uint64),
        np.zeros(n, np.int32),
        np.full((n, DEPTH, settings.references), -1, np.int32),
        np.full((n, buddies), -1, np.int32),
        np.full((n, buddies), -1, np.int32),
    )
    both = [number[stand.peer.id] for stand in (mine, theirs)]
    for i, stand in zip(both, (mine, theirs), strict=True):
        trie.path[i], trie.length[i] = stand.path, stand.length
        for level, row in enumerate(stand.references):
            _fill(trie.reference[i, level], row, number)
        _fill(trie.buddy[i], stand.buddies, number)
    pairs = np.empty((4, 2), np.int64)
    meet(trie, both[0], both[1], settings.replication, 0, dice.bits(), np.int64(0), pairs, 0)
    after = []
    for i, stand in zip(both, (mine, theirs), strict=True):
        length = int(trie.length[i])
        references = tuple(_read(trie.reference[i, level], contacts) for level in range(length))
        after.append(Stand(stand.peer, int(trie.path[i]), length, references, _read(trie.buddy[i], contacts)))
    return after[0], after[1]


def _fill(row: Any, contacts: Sequence[Contact], number: dict[int, int]) -> None:
    for place, each in enumerate(contacts[: len(row)]):
        row[place] = number[each.id]


def _read(row: Any, contacts: Sequence[Contact]) -> tuple[Contact, ...]:
    return tuple(contacts[i] for i in row.tolist() if i >= 0)
