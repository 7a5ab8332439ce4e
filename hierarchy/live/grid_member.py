"""Members whose contacts, or tables, come from a P-Grid (CAMCAST, Sections 5.2.2 and 5.2.3).

Structured: topic and super-topic table are what searches bring back, ln N + c and z members, asked for anew
every `refresh` cycles; N is how many the answering peer knows of. The first of the ln N + c is the next in
the order of numbers, as in `hierarchy.membership.structured`. Semi-structured: only contacts are found
that way, the topic table is SCAMP's. A newcomer rests in the overlay, searches, and subscribes through a
member that it found; `hierarchy.membership.entrance` says which member founds a community.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from hierarchy.live.grid import ANNOUNCE, ENTER, SEARCH, STEPS, Grid
from hierarchy.live.member import Member
from hierarchy.live.member_settings import MemberSettings
from hierarchy.live.messages import Event, Message
from hierarchy.live.topic_graph import TopicGraph
from hierarchy.membership.entrance import WAIT, decide
from hierarchy.peers.contacts import Contact, Send, Sends
from hierarchy.peers.pgrid import Listed, Meet, Met, Placed, Post, Route, key_of
from hierarchy.peers.settings import PGridSettings
from hierarchy.peers.super_table import Check
from sub2sub.live.core.suspects import Suspects
from sub2sub.peers.draws import Dice

BEGIN = 4  # cycles that the first gateway asks the others before it begins the overlay
PATIENCE = 4  # cycles that a search may take
WANTED = 32  # members a search asks for
SILENCE = 5  # checks that a newcomer's contact does not answer, before it counts as gone
UNANSWERED = 5  # searches in a row across one level of the P-Grid, before nobody counts as left there
OWN, PART, NOTHING = -1, -2, -3  # what a search is for besides a place up the chain


@dataclass(frozen=True)
class _Search:
    """A search under way: the topic, its place up the chain (or `OWN`, `PART`) of a table, when it began."""

    topic: str
    place: int
    begun: int
    table: int = 0


class GridMember(Member):
    """A member with a place in a P-Grid.

    Parameters
    ----------
    own, deliver, settings, graph
        As of `Member`.
    keeps_scamp : bool
        Whether the topic table is SCAMP's (semi-structured), or what searches bring back (structured).
    pgrid : PGridSettings
    refresh : int
        Cycles between two searches.
    rest : int
        Cycles in the overlay before the first.
    rank : int, optional
        Its place among the gateways of the overlay, if it is one of them: the first whose requests are not
        answered begins the overlay, the others wait longer.
    """

    def __init__(
        self,
        own: Contact,
        deliver: Callable[[Event], None],
        settings: MemberSettings | None = None,
        keeps_scamp: bool = False,
        pgrid: PGridSettings | None = None,
        refresh: int = 10,
        rest: int = 3,
        rank: int | None = None,
        graph: TopicGraph | None = None,
    ) -> None:
        s = settings or MemberSettings()
        super().__init__(own, deliver, replace(s, scamp=replace(s.scamp, contact_first=True)), graph=graph)
        self.keeps_scamp, self.refresh, self.rest = keeps_scamp, refresh, rest
        self.grid = Grid(own, pgrid or PGridSettings())
        self.found: list[Contact] = []
        self.rank = rank
        self._in = not keeps_scamp  # whether it may announce itself
        self._placed_in = self._announce_in = self._search_in = self._failed_searches = 0
        self._listed_own = False  # whether a search for the own community was answered
        self._known = 1.0  # members of the community, as the last search found
        self._searches: dict[int, _Search] = {}
        self._across: Counter[int] = Counter()  # searches in a row without an answer, by the level to cross
        self.suspects, self._failures = Suspects(), count()
        self._unheard: Counter[int] = Counter()  # checks of contacts, until they answer or it is in

    def join(self, contact: Contact | None, dice: Dice) -> Sends:
        """Enter the overlay through any peer of it; with none, begin it."""
        return self.enter_by([contact] if contact else [], dice)

    def enter_by(self, gateways: Sequence[Contact], dice: Dice) -> Sends:
        """Enter the overlay through one of its gateways, another each time; with none, begin it."""
        self.grid.gateways = gateways
        return self.grid.ask_for_place(dice)

    def leave(self) -> Sends:
        """Unsubscribe; announcements end by themselves."""
        return self.scamp.leave(self.cycle) if self.keeps_scamp else iter(())

    def topic_table(self) -> list[Contact]:
        """The members that an event goes to within the community."""
        return super().topic_table() if self.keeps_scamp else self.found

    def miss_cycles(self, missed: int) -> None:
        """Take note of cycles that passed without a tick: all announcements went on to end.

        Where many may have ended it rests again, as a newcomer: a search that it serves itself would find
        nobody, and empty its table, until it has met its replicas.
        """
        super().miss_cycles(missed)
        self._announce_in -= missed
        if missed:
            self.grid.peer.miss_cycles(missed)
        if self._placed_in and missed >= self.grid.settings.lease // 2:
            self._placed_in = self.cycle + 1

    def tick(self, dice: Dice) -> Sends:
        """Let a cycle pass."""
        self.cycle += 1
        cycle, grid = self.cycle, self.grid
        yield from self.unsent.again(cycle)
        if not grid.placed:
            if self.rank is None or cycle < BEGIN * (1 + self.rank):
                yield from grid.ask_for_place(dice)
                return
            grid.placed = True
        self._placed_in = self._placed_in or cycle
        yield from grid.tick(cycle, dice)
        if self.keeps_scamp:
            yield from self.count(dice)
            yield from self.ask_part(dice)
            yield from self.check_contact(dice)
            yield from self.keep_view(dice)
            yield from self.keep_tables(dice)  # a search goes another way here
        if self._in and cycle >= self._announce_in:
            self._announce_in = cycle + grid.settings.lease // 2
            yield from self._request(ANNOUNCE, self.own.topic, dice)
        self._give_up_searches(dice)
        lost = not self._is_in or not self.topic_table() or (self.keeps_scamp and self.is_lost())
        short = lost or any(
            table.chain and table.is_active() and not table.entries for table in self.above.tables
        )
        if cycle >= self._placed_in + self.rest and (cycle >= self._search_in or (short and cycle % 3 == 0)):
            self._search_in = cycle + self.refresh
            yield from self._request(ENTER if self.keeps_scamp else SEARCH, self.own.topic, dice, OWN)
            for number, table in enumerate(self.above.tables):
                if table.chain and table.is_active():
                    yield from self._request(SEARCH, table.chain[0], dice, 0, number)

    def _give_up_searches(self, dice: Dice) -> None:
        """Forget searches without an answer; after some in a row, stand where nobody seems to be left.

        The peers of a leaf may all leave or crash at once: they are few, and may even be of one process.
        """
        over = [number for number, each in self._searches.items() if self.cycle - each.begun >= PATIENCE]
        for number in over:
            level = self.grid.level_of(key_of(self._searches.pop(number).topic))
            self._across[level] += 1
            if level >= 0 and self._across[level] >= UNANSWERED:
                self.grid.take_over(level, dice)
                self._across.clear()

    def ask_part(self, dice: Dice) -> Sends:
        """Now and then, search for one to ask whether both are in one part of the community."""
        if self.scamp.served and self.census.wants_to_ask(dice):
            yield from self._request(SEARCH, self.own.topic, dice, PART)

    def check_contact(self, dice: Dice) -> Sends:
        """Ask the contact whether it is there, while it has not had this one served: it may wait, too."""
        contact = self.scamp.contact
        if contact is not None and not self.scamp.served:
            self._unheard[contact.id] += 1
            yield Send(contact, Check(dice.next_bits()))

    @property
    def _is_in(self) -> bool:
        """Whether it is in its community."""
        return self.scamp.served if self.keeps_scamp else self._listed_own

    @property
    def is_ready(self) -> bool:
        """Whether it may publish: it is in, and knows somebody above or that nobody is there."""
        return self._is_in and all(
            table.entries or table.scope >= len(table.chain) or not table.is_active()
            for table in self.above.tables
        )

    def p_sel(self) -> float:
        """The chance to act as a link, or to check the super-topic table."""
        return super().p_sel() if self.keeps_scamp else self.settings.topic.select(round(self._known))

    def receive(self, message: Message, sender: int, dice: Dice) -> Sends:
        """Take a message: those of the P-Grid here, the others as any member."""
        cycle, grid = self.cycle, self.grid
        self.suspects.heard_from(sender)
        self._unheard.pop(sender, None)
        match message:
            case Meet():
                yield from grid.meet(message, cycle, dice)
            case Met():
                yield from grid.met(message, sender, cycle, dice)
            case Route():
                if grid.placed:
                    yield from grid.route(message, cycle, WANTED, dice)
            case Placed():
                grid.take_place(message, cycle, dice)
            case Post():
                grid.post(message, cycle)
            case Listed():
                yield from self._listed(message, dice)
            case _:
                yield from super().receive(message, sender, dice)

    def unreachable(self, to: Contact, message: Message, dice: Dice) -> Sends:
        """Forget a peer of the P-Grid that cannot be reached twice; requests go on by another way.

        One failure says little: if it were enough, a network that loses every seventh message would empty the
        tables faster than meetings fill them. Tables of members keep the peer until a search brings others:
        right after a partition messages fail without being sent, and nobody else may have it in a table.
        """
        if self.suspects.is_silent_again(to.id, next(self._failures)):
            self.grid.peer.forget(to.id)
            if not self.keeps_scamp and to in self.known():
                self._search_in = self.cycle
        yield from super().unreachable(to, message, dice)
        if isinstance(message, Route):
            yield from self.grid.route(message, self.cycle, WANTED, dice)

    def _doubt_above(self, to: Contact, dice: Dice) -> Sends:
        """Check super-contacts, unless searches bring others."""
        return super()._doubt_above(to, dice) if self.keeps_scamp else iter(())

    def _request(self, wish: int, topic: str, dice: Dice, place: int = NOTHING, table: int = 0) -> Sends:
        """Route a request of this member; if it is served here, the answer is a message to itself."""
        number = dice.next_bits()
        if place > NOTHING:
            self._searches[number] = _Search(topic, place, self.cycle, table)
        request = Route(number, self.own, wish, int(key_of(topic), 2), topic, STEPS)
        return self.grid.route(request, self.cycle, WANTED, dice)

    def _enter(self, members: Sequence[Contact], dice: Dice) -> Sends:
        """Subscribe through one of some members, or found the community; later, renew through one of them.

        Members that are gone are still listed until their announcements end, which newcomers do not wait for.
        """
        if self.scamp.served:
            self._unheard.clear()
            self.scamp.contact = members[0] if members else self.scamp.contact
            return
        members = [each for each in members if self._unheard[each.id] < SILENCE]
        choice = decide(self.own.id, [each.id for each in members], self._failed_searches)
        self._failed_searches += 1
        if choice == WAIT:
            self._search_in = self.cycle + 1
            return
        self._in = True
        contact = next((each for each in members if each.id == choice), None)
        yield from self.scamp.join(contact, self.cycle, dice)

    def _listed(self, message: Listed, dice: Dice) -> Sends:
        """Accept what a search brought back."""
        search = self._searches.pop(message.exchange, None)
        if search is None:
            return
        self._across.pop(self.grid.level_of(key_of(search.topic)), None)
        members = [each for each in message.contacts if each.topic == search.topic and each.id != self.own.id]
        topic = self.settings.topic
        if search.place == PART:
            if members:  # the first is the next one, the others are random
                yield self.census.ask(members[-1], dice)
        elif search.place == OWN:
            self._listed_own = True
            if self.keeps_scamp:
                yield from self._enter(members, dice)
            elif message.known:
                self._known = message.known
                self.found = members[: topic.table_size(message.known)]
        else:
            yield from self._listed_above(search, members, dice)

    def _listed_above(self, search: _Search, members: Sequence[Contact], dice: Dice) -> Sends:
        """Accept members of a supertopic; if there are none, search for the next."""
        tables = self.above.tables
        if search.table >= len(tables):  # topics have other parents by now
            return
        table = tables[search.table]
        if members:
            if not self.keeps_scamp:
                table.entries = []
            table.merge(members[: self.settings.topic.z])
        elif search.place + 1 < len(table.chain):
            above = search.place + 1
            table.scope = max(table.scope, above)
            yield from self._request(SEARCH, table.chain[above], dice, above, search.table)
        else:
            table.scope = len(table.chain)
