"""A live peer of a P-Grid: when it meets others, and what it does with requests that are routed to it.

The peer itself is `hierarchy.peers.pgrid.GridPeer`. A meeting is computed by the one that is
asked, on itself and on how the asker says it stands. Different from the simulator (see the table in
docs/live.md):

- A meeting concerns two peers. Others that the simulator lets meet at the same time become acquaintances
  of one of the two, and are met in later cycles.
- A newcomer knows its gateway's address only, so its first acquaintances are the peer that gave it its
  place and those that peer refers to.
- Two peers a cycle or so, of all, meet a gateway: it would be alone for ever if all that knew it had lost
  sight of it.
- References are not checked for their own sake: one that cannot be reached is forgotten.
- A peer that waits for the outcome of a meeting it asked for learns of others that ask, but stays where it
  stands: two outcomes could not both hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hierarchy.peers.contacts import Contact, Send, Sends
from hierarchy.peers.pgrid import (
    GridPeer,
    Listed,
    Meet,
    Met,
    Placed,
    Post,
    Posting,
    Route,
    common_prefix,
    meet,
    peers_in,
    random_place,
)
from hierarchy.peers.settings import PGridSettings
from sub2sub.peers.draws import Dice

PLACE, SEARCH, ANNOUNCE, ENTER = range(4)
DEPTH = 16  # bits of a path at most; leaves part only while they are crowded, so far fewer
HELD = 1024  # announcements at most
STEPS = 64
REQUESTS = 16  # for a place, one a cycle, that may still be answered


class Grid:
    """One peer's part of a P-Grid.

    Attributes
    ----------
    peer : GridPeer
    placed : bool
        Whether it has its place; before, it answers nobody.
    """

    def __init__(self, own: Contact, settings: PGridSettings) -> None:
        self.own, self.settings = own, settings
        self.gateways: Sequence[Contact] = ()
        self.peer = GridPeer(own, settings, DEPTH, HELD)
        self.placed = False
        self._asked: dict[int, Contact] = {}
        self._places: list[int] = []  # numbers of the last requests for a place
        self._left, self._buddy_first = 0, True  # meetings to ask for in this cycle, and their order

    def ask_for_place(self, dice: Dice) -> Sends:
        """Ask a gateway to become a replica of a random leaf; where there is none, be the first."""
        contact = self._gateway(dice)
        if contact is None:
            self.placed = True
        else:
            self._places = [*self._places[1 - REQUESTS :], dice.next_bits()]
            yield Send(contact, Route(self._places[-1], self.own, PLACE, dice.next_bits(), ".", STEPS))

    def tick(self, cycle: int, dice: Dice) -> Sends:
        """Drop what is over, and meet a buddy, then an acquaintance.

        If the first of the two did not answer, the other comes first: one that is silent for ever must not
        keep a peer from all others.
        """
        self.peer.expire(cycle)
        self._asked.clear()
        self._buddy_first ^= self._left > 0
        self._left = 2 if self.placed else 0
        yield from self._meet_next(cycle, dice)

    def meet(self, message: Meet, cycle: int, dice: Dice) -> Sends:
        """Meet somebody: both may extend their paths, and learn of others."""
        me, them = self.peer, GridPeer.at(message.position, self.settings, DEPTH)
        if not self.placed or them.own.id == self.own.id:
            return
        known = peers_in(me.acquaintances)
        passed_on = [known[dice.next_below(len(known))]] if known else []
        on_the_way = _on_the_way(them, me), _on_the_way(me, them)
        meet(them, me, dice, b_stays=bool(self._asked))
        me.know([*on_the_way[0], them.own], dice)
        others = (*on_the_way[1], *passed_on, self.own)
        yield Send(None, Met(message.exchange, them.position(), others, self._postings(cycle)))
        me.hold(message.postings, cycle)

    def met(self, message: Met, sender: int, cycle: int, dice: Dice) -> Sends:
        """Apply the result of a meeting, and ask for the next.

        A process that has returned answers in the place of its earlier life, which nobody has to know then.
        """
        partner = self._asked.pop(message.exchange, None)
        if partner is None:
            return
        if message.position.peer == self.own:
            self.peer.move(GridPeer.at(message.position, self.settings, DEPTH), dice)
        self.peer.know(message.others, dice)
        if partner.id != sender:
            self.peer.forget(partner.id)
        self.peer.hold(message.postings, cycle)
        yield from self._meet_next(cycle, dice)

    def route(self, message: Route, cycle: int, wanted: int, dice: Dice) -> Sends:
        """Hand a request on, or serve it if its key belongs here; where no way is known, a gateway may."""
        key = format(message.key, "064b")
        if self.peer.belongs(key):
            yield from self._serve(message, cycle, wanted, dice)
        elif message.steps > 0:
            ways = (way for way in self.peer.ways(key, dice) if way.id != self.own.id)
            following = next(ways, None) or self._gateway(dice)
            if following is not None:
                yield Send(following, replace(message, steps=message.steps - 1))

    def take_place(self, message: Placed, cycle: int, dice: Dice) -> None:
        """Become a replica, as one has asked."""
        if not self.placed and message.exchange in self._places:
            self.placed = True
            other = GridPeer.at(message.position, self.settings, DEPTH)
            other.forget(self.own.id)
            self.peer.take_place(other, dice)
            known = (each for row in other.references for each in peers_in(row))
            self.peer.know([other.own, *known], dice)
            self.peer.hold(message.postings, cycle)

    def level_of(self, key: str) -> int:
        """The level at which requests for a key go another way than the own path; -1 if it belongs here."""
        return -1 if self.peer.belongs(key) else common_prefix(self.peer.path, key)

    def take_over(self, level: int, dice: Dice) -> None:
        """Stand for the other side of a level, too, since nobody seems to be left there.

        The path ends before that level. If somebody is left after all, a meeting with those of this side, or
        of the other, parts the two as it parts any newcomer from them.
        """
        me = self.peer
        me.know(
            [
                *peers_in(me.buddies),
                *(each for row in me.references[level:] for each in peers_in(row)),
            ],
            dice,
        )
        me.path, me.references = me.path[:level], me.references[:level]
        me.buddies = [None] * len(me.buddies)
        self._asked.clear()  # meetings under way would bring the old path back

    def post(self, message: Post, cycle: int) -> None:
        """Hold announcements."""
        self.peer.hold(message.postings, cycle)

    def _meet_next(self, cycle: int, dice: Dice) -> Sends:
        """Ask the next for a meeting."""
        while self._left:
            self._left -= 1
            is_buddy = self._buddy_first == (self._left > 0)
            row = self.peer.buddies if is_buddy else self.peer.acquaintances
            place = random_place(row, dice.next_bits())
            partner = row[place] if place >= 0 else None
            peers = self.settings.replication * 2 ** len(self.peer.path)  # all, as far as it can tell
            if not is_buddy and (partner is None or dice.next_unit() * peers < 2.0):
                partner = self._gateway(dice) or partner
            if partner is not None:
                number = dice.next_bits()
                self._asked[number] = partner
                yield Send(partner, Meet(number, self.peer.position(), self._postings(cycle)))
                return

    def _gateway(self, dice: Dice) -> Contact | None:
        return self.gateways[dice.next_below(len(self.gateways))] if self.gateways else None

    def _serve(self, message: Route, cycle: int, wanted: int, dice: Dice) -> Sends:
        """Do what a request wishes, whose key belongs here."""
        asker, number, me = message.asker, message.exchange, self.peer
        if message.wish == PLACE:
            if asker.id == self.own.id:  # its second request, and it has a place since the first
                return
            position = me.position()
            me.admit(asker, dice)
            yield Send(asker, Placed(number, position, self._postings(cycle)))
            return
        known = len(me.known(message.topic))
        some = me.some_of(message.topic, asker.id, wanted, dice)
        if message.wish == SEARCH and message.topic == asker.topic:
            some = list(dict.fromkeys([*me.following(message.topic, asker.id), *some]))
        if message.wish == ENTER:  # one that is not in yet waits for a smaller number, if there is one
            some += [each for each in me.known(message.topic) if each.id != asker.id][:1]
        if message.wish == ANNOUNCE or (message.wish == ENTER and not known):
            posting = Posting(asker, self.settings.lease)
            me.hold([posting], cycle)
            for buddy in peers_in(me.buddies):
                yield Send(buddy, Post((posting,)))
        yield Send(asker, Listed(number, known, tuple(some)))

    def _postings(self, cycle: int) -> tuple[Posting, ...]:
        """What one holds, to hand on. That takes a cycle of each lease: replicas do not tick at once, and a
        lease that went from a late one to an early one and back would never end.
        """
        held = self.peer.held.values()
        return tuple(Posting(each.member, max(each.expires - cycle - 1, 0)) for each in held)


def _on_the_way(one: GridPeer, other: GridPeer) -> list[Contact]:
    """Those `one` refers to on the side of `other`: nearer to it than `one` is, perhaps its replicas."""
    place = common_prefix(one.path, other.path)
    return peers_in(one.references[place]) if place < min(len(one.path), len(other.path)) else []
