"""One member and one event: what it does when the event, its announcement or a request for it comes.

The readable form of `sims.rivals.base.pushing`, which must take the same decisions, draw for draw.
A member pushes what it receives for the first time, announces it, and asks those that announced what it has
not received, one after the other (Plumtree, Section 3.4; GossipSub v1.0, "Gossip propagation").

Each method yields the messages to send, as (kind, target).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sims.rivals.base.objects import sample
from sims.rivals.base.push_tables import PushRules
from sims.rivals.base.pushing import ANNOUNCE, ANNOUNCERS, PUSH, REFUSE, REQUEST
from sub2sub.peers.draws import Dice

Sends = Iterator[tuple[int, int]]  # lazy: the loss of a message is drawn before the next is chosen


@dataclass
class PushPeer:
    """What one member knows of one event.

    Attributes
    ----------
    eager, pool, lazy : sequence of int
        Its links, see `PushTables`.
    rules : PushRules
    dice : Dice
        Of this member and event.
    has : bool
        Whether the event has come.
    announcers : list of int
        Members that announced it and were not asked yet.
    heard : int
        How many announced it.
    beats : int
        Heartbeats at which it is still to be announced.
    one_by_one : bool
        Whether it decides on each push when its uplink is free.
    left : list of int
        To whom it is still to push the event, if they do not refuse it.
    refusing : set of int
        Links whose other ends have the event.

    Examples
    --------
    >>> peer = PushPeer([2, 3], [], [4], PushRules(), Dice(1))
    >>> list(peer.receive(2)), list(peer.receive(3))
    ([(0, 3), (1, 4)], [])
    """

    eager: Sequence[int]
    pool: Sequence[int]
    lazy: Sequence[int]
    rules: PushRules
    dice: Dice
    has: bool = False
    waiting: bool = False
    heard: int = 0
    beats: int = 0
    one_by_one: bool = False
    announcers: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    refusing: set[int] = field(default_factory=set)

    def receive(self, sender: int, publishes: bool = False) -> Sends:
        """The event comes, from a sender or from -1."""
        if self.has:
            return
        self.has = True
        eager = [peer for peer in self.eager if peer != sender]
        if self.rules.refuses and not publishes:
            yield from ((REFUSE, peer) for peer in eager)
        self.left = [*eager, *self.lazy] if publishes and self.rules.floods else eager
        sent = 0
        for message in self.push_on():
            yield message
            sent += 1
        more = max(self.rules.fanout - sent, 0)
        yield from ((PUSH, peer) for peer in self._some(self.pool, more, sender))
        if self.rules.period:
            self.beats = self.rules.windows if self.lazy else 0
        else:
            yield from self._announce(sender)

    def push_on(self) -> Sends:
        """Push to those left that do not refuse the event: to all, or to the next of them."""
        while self.left:
            peer = self.left.pop(0)
            if peer not in self.refusing:
                yield PUSH, peer
                if self.one_by_one:
                    return

    def beat(self) -> Sends:
        """A heartbeat: announce the event once more."""
        self.beats -= 1
        yield from self._announce(-1)

    def hear(self, sender: int) -> bool:
        """Handle an announcement; return whether to wake this member after `wait` hops."""
        if self.has or self.heard == ANNOUNCERS:
            return False
        self.heard += 1
        self.announcers.append(sender)
        begins, self.waiting = not self.waiting, True
        return begins

    def wake(self) -> Sends:
        """Ask the next announcer, if the event has not come; to be woken again after another round trip."""
        self.waiting = False
        if not self.has and self.announcers:
            self.waiting = True
            yield REQUEST, self.announcers.pop(0)

    def answer(self, sender: int) -> Sends:
        """Answer a request for the event."""
        yield PUSH, sender

    def _announce(self, sender: int) -> Sends:
        count = self.rules.announce if self.rules.announce >= 0 else len(self.lazy)
        yield from ((ANNOUNCE, peer) for peer in self._some(self.lazy, count, sender))

    def _some(self, links: Sequence[int], count: int, sender: int) -> list[int]:
        """A sample of `count` links without the sender; all in their order if there are no more."""
        return sample([peer for peer in links if peer != sender], count, self.dice)
