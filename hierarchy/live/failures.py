"""What live members do about a network that fails, which the simulator does not need.

A heartbeat is answered, so that an entry of the view that has been silent for `isolation` cycles, or cannot
be reached, is dropped long before its lease ends. A member that says goodbye (SCAMP's `Replace`) is asked
whether it is there before that is believed: the goodbye may have come late. A member whose lease is over says
goodbye too, to make room for its next, and then does not object. An event that could not be sent is sent
again, and copies of a subscription that the network doubles are bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hierarchy.live.messages import Event
from hierarchy.peers.contacts import Contact, Send, Sends
from hierarchy.peers.scamp import ScampPeer
from hierarchy.peers.scamp_messages import Replace
from hierarchy.peers.super_table import Find
from sub2sub.peers.draws import Dice

FAILURES = 6  # heartbeats to one of the view that could not be delivered, with no answer between them
# With three, where 15 % of the messages are lost, a third of all links to members that are there would go
# within a lease of 100 cycles, and those that few hold would be in nobody's view; with six, one in 500 goes.
CYCLES = 4  # in which an event is sent again
MOST_UNSENT = 1024  # messages that wait; further ones are not sent again
SPACE = 1 << 22  # bytes of them
MOST_COPIES = 32  # copies of the subscription of one member, in a cycle


@dataclass(frozen=True)
class _Goodbye:
    exchange: int
    cycle: int
    message: Replace


class Liveness:
    """What a member knows of the entries of its view.

    Parameters
    ----------
    silence : int
        Cycles without an answer after which an entry of the view is gone.
    patience : int
        Cycles that a member that is said to leave has to object.

    Examples
    --------
    >>> liveness = Liveness(silence=10, patience=2)
    >>> liveness.doubt(7, exchange=99, cycle=1, message=Replace((), 0))
    True
    >>> liveness.objects(99), liveness.gone(cycle=9)
    (True, [])
    >>> liveness.doubt(8, exchange=98, cycle=9, message=Replace((), 0))
    True
    >>> liveness.doubts()  # to be asked again
    [(8, 98)]
    """

    def __init__(self, silence: int, patience: int) -> None:
        self.silence, self.patience = silence, patience
        self._heard: dict[int, int] = {}
        self._failures: Counter[int] = Counter()
        self._goodbyes: dict[int, _Goodbye] = {}

    def heard_from(self, id: int, cycle: int) -> None:
        """Note an answer, of one of the view."""
        self._failures.pop(id, None)
        if id in self._heard:
            self._heard[id] = cycle

    def failed(self, id: int) -> bool:
        """Note that one of the view could not be reached; whether that has happened too often."""
        self._failures[id] += 1
        return self._failures[id] >= FAILURES

    def is_alone(self, view: Sequence[Contact], cycle: int) -> bool:
        """Whether nobody of the view answers."""
        return bool(view) and all(
            self._failures[peer.id] >= FAILURES or cycle - self._heard.get(peer.id, cycle) > self.silence
            for peer in view
        )

    def silent(self, view: Sequence[Contact], cycle: int) -> list[int]:
        """Those of the view that have been silent for too long; to be called once a cycle."""
        self._failures = Counter({peer.id: self._failures[peer.id] for peer in view})
        self._heard = {peer.id: self._heard.get(peer.id, cycle) for peer in view}
        return [id for id, last in self._heard.items() if cycle - last > self.silence]

    def doubt(self, id: int, exchange: int, cycle: int, message: Replace) -> bool:
        """Note a goodbye that is not believed yet; False if one is checked already."""
        if id in self._goodbyes:
            return False
        self._goodbyes[id] = _Goodbye(exchange, cycle, message)
        return True

    def objects(self, exchange: int) -> bool:
        """Take the answer of one that is said to leave; False if nobody was asked under that number."""
        for id, goodbye in self._goodbyes.items():
            if goodbye.exchange == exchange:
                del self._goodbyes[id]
                return True
        return False

    def doubts(self) -> list[tuple[int, int]]:
        """Members that are said to leave and have not objected yet, with the number of the question."""
        return [(id, goodbye.exchange) for id, goodbye in self._goodbyes.items()]

    def gone(self, cycle: int) -> list[tuple[int, Replace]]:
        """Goodbyes that nobody has objected to; to be called once a cycle."""
        over = [(id, g.message) for id, g in self._goodbyes.items() if cycle - g.cycle > self.patience]
        for id, _ in over:
            del self._goodbyes[id]
        return over


@dataclass
class _Waiting:
    to: Contact
    event: Event
    since: int
    due: bool = True


class Unsent:
    """The events that could not be sent, and are sent again with the next cycles.

    Gossip makes up for some such losses, but not where a community is so small that an event has one way to
    go. The simulator's members send again at once (`retries`).

    Examples
    --------
    >>> unsent, to = Unsent(), Contact(7, "h", 1, ".a")
    >>> unsent.note(to, Event(b"name", ".a", 1, 0, -1.0, b""), cycle=3)
    >>> [send.to.id for send in unsent.again(cycle=4)], list(unsent.again(cycle=5))
    ([7], [])
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[Contact, bytes], _Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def held(self) -> int:
        """Bytes that wait."""
        return sum(len(each.event.data) for each in self._waiting.values())

    def note(self, to: Contact, event: Event, cycle: int) -> None:
        """Take note that an event could not be sent."""
        waiting = self._waiting.get((to, event.name))
        if waiting:
            waiting.due = True
        elif len(self._waiting) < MOST_UNSENT and self.held + len(event.data) <= SPACE:
            self._waiting[to, event.name] = _Waiting(to, event, cycle)

    def again(self, cycle: int) -> list[Send]:
        """What to send again; to be called once a cycle."""
        self._waiting = {k: each for k, each in self._waiting.items() if cycle - each.since <= CYCLES}
        due = [each for each in self._waiting.values() if each.due]
        for each in due:
            each.due = False
        return [Send(each.to, each.event) for each in due]


class Copies:
    """The copies that came in this cycle: each member takes only so many of one subscription.

    Where all members know a newcomer, a copy walks until its steps are used up (`hop_limit`). A network may
    double it at each step: copies then grow exponentially, and all other messages wait behind them. So visits
    to each member count as well, as in the paper (`hierarchy.compiled.scamp.rules`).

    Examples
    --------
    >>> copies = Copies()
    >>> [copies.take(7, cycle=1) for _ in range(MOST_COPIES + 1)].count(True) == MOST_COPIES
    True
    >>> copies.take(8, cycle=1), copies.take(7, cycle=2)
    (True, True)
    """

    def __init__(self) -> None:
        self._cycle, self._came = 0, Counter[int]()

    def take(self, newcomer: int, cycle: int) -> bool:
        """Note a copy; whether it is to be taken."""
        if cycle != self._cycle:
            self._cycle, self._came = cycle, Counter()
        self._came[newcomer] += 1
        return self._came[newcomer] <= MOST_COPIES


class Seeking:
    """Asks the gateways of a community for another contact: by it one renews, so that parts grow together.

    Attributes
    ----------
    sought : int
        Number of the request, until it is answered; -1 afterwards.
    """

    def __init__(self, scamp: ScampPeer, gateways: Sequence[Contact], timeout: int) -> None:
        self.scamp, self.gateways, self.timeout, self.sought = scamp, gateways, timeout, -1
        self._asked = self._unanswered = 0  # requests in all, and those without an answer since the last

    def ask(self, is_lost: bool, cycle: int, dice: Dice) -> Sends:
        """Ask once a lease, and every `timeout` cycles while the view is empty or nobody answers.

        One that is not in yet founds the community when it has asked every gateway twice and none has
        answered, as a process does that enters: its contact may have crashed before it was served, and all
        others with it. One that is in forgets a contact that does not answer: messages to a process that has
        crashed need not fail.
        """
        scamp, known = self.scamp, self.gateways
        if scamp.served and scamp.view and scamp.is_lost(cycle):
            scamp.contact = None
        every = self.timeout if is_lost else max(scamp.settings.lease // 2, 1)
        if known and (cycle + scamp.own.id) % every == 0:
            self._unanswered += self.sought >= 0
            if not scamp.served and self._unanswered >= 2 * len(known):
                yield from scamp.join(None, cycle, dice)
            self._asked, self.sought = self._asked + 1, dice.next_bits()
            to = known[(self._asked + scamp.own.id) % len(known)]
            yield Send(to, Find(self.sought, (scamp.own.topic,)))

    def take(self, contacts: Sequence[Contact], cycle: int, dice: Dice) -> Sends:
        """Accept a contact that a gateway named; alone, subscribe through it at once."""
        self.sought, self._unanswered, scamp = -1, 0, self.scamp
        found = [each for each in contacts if each.topic == scamp.own.topic and each.id != scamp.own.id]
        if found:
            scamp.contact = found[dice.next_below(len(found))]
            if not scamp.view:
                yield from scamp.subscribe(scamp.settings.c, cycle, dice)
