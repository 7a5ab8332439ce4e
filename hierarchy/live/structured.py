"""Members whose contacts, or tables, come from a P-Grid (CAMCAST, Sections 5.2.2 and 5.2.3).

Structured: topic and super-topic table are what searches bring back, ln N + c and z members, asked for anew
every `refresh` cycles; N is how many the answering peer knows of. Semi-structured: only contacts are found
that way, the topic table is SCAMP's. A newcomer rests in the overlay, searches, subscribes through whom it
found, and only then announces itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hierarchy.live import messages as m
from hierarchy.live.dice import Dice
from hierarchy.live.grid import ANNOUNCE, ENTER, SEARCH, STEPS, Grid, key_of
from hierarchy.live.member import Member, MemberSettings
from hierarchy.membership.pgrid.layer import PGridSettings

__all__ = ["GridMember"]

WANTED = 32  # members a search asks for


@dataclass(frozen=True)
class _Search:
    """A search under way: the topic, its place up the chain (-1: one's own community), and when it began."""

    topic: str
    place: int
    begun: int


class GridMember(Member):
    """A member with a place in a P-Grid.

    Parameters
    ----------
    own, deliver, settings
        As of `Member`.
    keeps_scamp : bool
        Whether the topic table is SCAMP's (semi-structured), or what searches bring back (structured).
    pgrid : PGridSettings
    refresh : int
        Cycles between two searches.
    rest : int
        Cycles in the overlay before the first.
    """

    def __init__(
        self,
        own: m.Contact,
        deliver: Callable[[m.Event], None],
        settings: MemberSettings | None = None,
        keeps_scamp: bool = False,
        pgrid: PGridSettings | None = None,
        refresh: int = 10,
        rest: int = 3,
    ) -> None:
        s = settings or MemberSettings()
        super().__init__(own, deliver, replace(s, scamp=replace(s.scamp, contact_first=True)))
        self.keeps_scamp, self.refresh, self.rest = keeps_scamp, refresh, rest
        self.grid = Grid(own, pgrid or PGridSettings())
        self.found: list[m.Contact] = []
        self.contact: m.Contact | None = None
        self._in = not keeps_scamp  # whether it may announce itself
        self._placed_in = self._announce_in = self._search_in = 0
        self._searches: dict[int, _Search] = {}

    def join(self, contact: m.Contact | None, dice: Dice) -> list[m.Send]:
        """Enter the overlay through any peer of it; with none, begin it."""
        self.contact = contact
        return self.grid.ask_for_place(contact, dice)

    def leave(self) -> list[m.Send]:
        """Unsubscribe; announcements end by themselves."""
        return self.scamp.leave(self.cycle) if self.keeps_scamp else []

    def topic_table(self) -> list[m.Contact]:
        """Whom an event goes to within the community."""
        return super().topic_table() if self.keeps_scamp else self.found

    def tick(self, dice: Dice) -> list[m.Send]:
        """Let a cycle pass."""
        self.cycle += 1
        cycle, grid = self.cycle, self.grid
        if not grid.placed:
            return grid.ask_for_place(self.contact, dice)
        self._placed_in = self._placed_in or cycle
        sends = grid.tick(cycle, dice)
        if self.keeps_scamp and self.scamp.lease_end:
            sends += self.scamp.tick(cycle, dice)
        if self._in and cycle >= self._announce_in:
            self._announce_in = cycle + grid.settings.lease // 2
            sends += self._request(ANNOUNCE, self.own.topic, dice)
        self._searches = {n: each for n, each in self._searches.items() if cycle - each.begun < 4}
        short = not self.topic_table() or (not self.supers.entries and bool(self.supers.chain))
        if cycle >= self._placed_in + self.rest and (cycle >= self._search_in or (short and cycle % 3 == 0)):
            self._search_in = cycle + self.refresh
            sends += self._request(ENTER if self.keeps_scamp else SEARCH, self.own.topic, dice, -1)
            if self.supers.chain:
                sends += self._request(SEARCH, self.supers.chain[0], dice, 0)
        return sends

    def receive(self, message: m.Message, sender: int, dice: Dice) -> list[m.Send]:
        """Take a message: those of the P-Grid here, the others as any member."""
        cycle, grid = self.cycle, self.grid
        match message:
            case m.Meet():
                return grid.meet(message, cycle, dice)
            case m.Met():
                return grid.met(message, cycle, dice)
            case m.Route():
                return grid.route(message, cycle, WANTED, dice) if grid.placed else []
            case m.Placed():
                grid.take_place(message, cycle)
            case m.Post():
                grid.post(message, cycle)
            case m.Listed():
                return self._listed(message, dice)
            case _:
                return super().receive(message, sender, dice)
        return []

    def unreachable(self, to: m.Contact, message: m.Message, dice: Dice) -> list[m.Send]:
        """Drop who cannot be reached from all tables, and hand requests on by another way."""
        self.grid.drop(to.id)
        self.found = [each for each in self.found if each.id != to.id]
        sends = super().unreachable(to, message, dice)
        if isinstance(message, m.Route):
            sends += self.grid.route(message, self.cycle, WANTED, dice)
        return sends

    def _request(self, wish: int, topic: str, dice: Dice, place: int = -2) -> list[m.Send]:
        """Route a request of one's own; what is served here comes back through the front door."""
        number = int(dice.bits())
        if place > -2:
            self._searches[number] = _Search(topic, place, self.cycle)
        request = m.Route(number, self.own, wish, key_of(topic), topic, STEPS)
        return self.grid.route(request, self.cycle, WANTED, dice)

    def _enter(self, contact: m.Contact | None, dice: Dice) -> list[m.Send]:
        """Subscribe through whom a search named, or found the community; later, renew through such a one.

        Should two have founded it, or should it fall apart, its parts grow together within a lease.
        """
        self._in = True
        if self.scamp.view or (self.scamp.lease_end and contact is None):
            self.scamp.contact = contact or self.scamp.contact
            return []
        return self.scamp.subscribe(contact, self.settings.scamp.c, self.cycle, dice)

    def _listed(self, message: m.Listed, dice: Dice) -> list[m.Send]:
        """Take up what a search brought back."""
        search = self._searches.pop(message.exchange, None)
        if search is None:
            return []
        members = [each for each in message.contacts if each.topic == search.topic and each.id != self.own.id]
        topic = self.settings.topic
        if search.place < 0:
            if not self.keeps_scamp:
                if message.known:
                    self.found = members[: topic.table_size(message.known)]
                return []
            return self._enter(members[0] if members else None, dice)
        if members:
            if not self.keeps_scamp:
                self.supers.entries = []
            self.supers.merge(members[: topic.z])
            return []
        above = search.place + 1
        if above < len(self.supers.chain):
            return self._request(SEARCH, self.supers.chain[above], dice, above)
        return []
