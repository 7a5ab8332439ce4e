"""Which entries of a live member's view are there: heartbeats are answered, and goodbyes are checked.

Two things the simulator does not need. A heartbeat is answered, so that an entry of the view that has been
silent for `isolation` cycles, or cannot be reached, is dropped long before its lease ends. And a member
that says goodbye (SCAMP's `Replace`) is asked whether it is there before that is believed: anybody can say
goodbye in another's name. A member whose lease is over says goodbye too, to make room for its next,
and then does not object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hierarchy.contacts import Contact
from hierarchy.membership.scamp.scamp_messages import Replace

FAILURES = 6  # heartbeats to one of the view that could not be delivered, with no answer between them
# With three, where 15 % of the messages are lost, a third of all links to members that are there would go
# within a lease of 100 cycles, and those that few hold would be in nobody's view; with six, one in 500 goes.


@dataclass(frozen=True)
class Beaten:
    """The answer to a heartbeat."""


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
