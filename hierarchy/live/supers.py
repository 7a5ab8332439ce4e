"""The super-topic table of one live member (CAMCAST, Sections 3.3 and 3.4): found, checked, refilled.

MERGE is the simulator's (`hierarchy.super_tables.rules`). A topic here is the path it is named by, with
one chain of supertopics; topics with several parents are simulated only. Read differently from the
simulator: an entry that is checked sends others of its community along with its answer, whether or not they
are needed, instead of being asked a second time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hierarchy.live.messages import Contact
from hierarchy.super_tables.rules import FAR, merge, table_place
from hierarchy.super_tables.slots import Slots

__all__ = ["SuperTable", "supertopics"]


def supertopics(topic: str) -> tuple[str, ...]:
    """The topics above a topic, nearest first.

    Examples
    --------
    >>> supertopics(".soccer.italy")
    ('.soccer', '.')
    >>> supertopics(".")
    ()
    """
    parts = [part for part in topic.split(".") if part]
    return tuple("." + ".".join(parts[:k]) for k in range(len(parts) - 1, -1, -1))


class SuperTable:
    """Members of the nearest populated supertopic.

    Attributes
    ----------
    entries : list of Contact
        At most z of them, all of one topic.
    scope : int
        How many supertopics a search names by now; 0 when none is under way.
    due : int
        Cycle of the next request.
    fresh : bool
        Whether the table changed and is to be passed on.

    Examples
    --------
    >>> table = SuperTable(".soccer.italy", z=3)
    >>> table.merge([Contact(1, "h", 1, ".")]), table.merge([Contact(2, "h", 2, ".soccer")])
    (True, True)
    >>> [contact.id for contact in table.entries]  # the nearer topic's
    [2]
    """

    def __init__(self, topic: str, z: int) -> None:
        self.chain, self.z = supertopics(topic), z
        self.entries: list[Contact] = []
        self.scope = self.due = 0
        self.fresh = False
        numbers = np.arange(len(self.chain), dtype=np.int64)
        ends = np.array([0, len(self.chain)], np.int64)
        self._slots = Slots(np.array([0, 1], np.int64), np.array([-1], np.int64), ends, numbers)

    def merge(self, candidates: Iterable[Contact]) -> bool:
        """Take up candidates; whether the table changed."""
        changed = False
        for candidate in candidates:
            known = [*self.entries, candidate]
            number = next(i for i, contact in enumerate(known) if contact.id == candidate.id)
            row = self._row()
            if merge(self._topics(known), row, self.z, self._slots, 0, number):
                self.entries = [known[i] for i in row if i >= 0]
                changed = self.fresh = True
        return changed

    def drop(self, id: int) -> None:
        """Drop an entry that is gone."""
        self.entries = [contact for contact in self.entries if contact.id != id]

    def place(self) -> int:
        """How far up the entries' topic is, 0 for the parent; as many as there are supertopics if empty."""
        place = int(table_place(self._topics(self.entries), self._row(), self._slots, 0))
        return len(self.chain) if place == FAR else place

    def next_search(self, cycle: int, chance: float, p_sel: float, timeout: int) -> tuple[str, ...]:
        """The topics to search for now, nearest first; none if there is nothing to search for."""
        now = self.place()
        if not self.chain or self.due > cycle:
            return ()
        if now == 0:
            self.scope = 0
            return ()
        if now < len(self.chain):  # found farther up: nearer ones only, and not everybody every time
            if chance >= p_sel:
                return ()
            self.scope = now
        else:
            self.scope = min(len(self.chain), self.scope + 1)
        self.due = cycle + timeout
        return self.chain[: self.scope]

    def _topics(self, contacts: Iterable[Contact]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Topics as numbers: places on the chain, one more than all of them for a topic not on it."""
        place = {topic: i for i, topic in enumerate(self.chain)}
        return np.array([place.get(each.topic, len(place)) for each in contacts], np.int32)

    def _row(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        row = np.full(self.z, -1, np.int32)
        row[: len(self.entries)] = np.arange(len(self.entries))
        return row
