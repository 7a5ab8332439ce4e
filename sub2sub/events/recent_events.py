"""A peer's recent events, and how it makes sure that its neighbours on their rings have them, too.

Not in Sub-2-Sub. While peers come and go, an event misses those whose neighbours do not know them yet. So a
peer keeps its events for a few cycles, and once a cycle looks up its present neighbours on the ring of each
of them. A neighbour that is known to have the event, because one of the two told the other, needs nothing.
Any other is sent a *digest*, the names of such events; it answers with those it lacks, and is sent them.
A peer that got an event in this way goes on at once. Where rings do not change, nothing is sent.

An event so reaches everybody on its ring as soon as neighbours know one another, as long as one of them has
it. That includes newcomers, which get what happened just before they came.

`sub2sub.events.recovery` does the same for a population, draw for draw. A cycle has rounds: in each, all
digests are sent, then the answers, then the events asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sub2sub.errors import require
from sub2sub.overlay.descriptors import Coordinates, Descriptor

NameT = TypeVar("NameT", bound=Hashable)


@dataclass(frozen=True)
class RecoverySettings:
    """Settings of recovery.

    Attributes
    ----------
    history : int
        Cycles after its publication for which an event is kept, 0 for no recovery. Longer ones help where
        rings stay broken for longer.
    tries : int
        Times a digest, an answer or an event is sent while it is lost.
    retries : int
        Rounds of a cycle in which one further on is told where a neighbour does not answer.
    """

    history: int = 10
    tries: int = 3
    retries: int = 3

    def __post_init__(self) -> None:
        require(self, "recovery", history=0, tries=1, retries=0)


@dataclass
class _Kept:
    point: Coordinates
    since: int
    known: list[int | None] = field(default_factory=lambda: [None, None])  # up and down the ring


class History(Generic[NameT]):
    """The recent events of one peer.

    Parameters
    ----------
    settings : RecoverySettings

    Examples
    --------
    >>> a, b, c = (Descriptor.of(id, [0.0], [1.0]) for id in (20, 30, 40))
    >>> history = History[int](RecoverySettings())
    >>> history.add(7, (0.5,), now=1)
    >>> history.has_it(7, 20, ring=[a, b, c])
    >>> history.digests([a, b, c], [7]), history.lacks([7, 8])
    ({40: [7]}, [8])
    """

    def __init__(self, settings: RecoverySettings) -> None:
        self.settings = settings
        self.events: dict[NameT, _Kept] = {}
        self.silent: set[int] = set()  # in this cycle

    def begin_cycle(self, now: int) -> None:
        """Forget what is too old, and who was silent."""
        self.silent.clear()
        oldest = now - self.settings.history
        self.events = {name: each for name, each in self.events.items() if each.since >= oldest}

    def add(self, name: NameT, point: Coordinates, now: int) -> None:
        """Keep an event, published in cycle `now`."""
        self.events.setdefault(name, _Kept(point, now))

    def digests(self, ring: Sequence[Descriptor], names: Iterable[NameT]) -> dict[int, list[NameT]]:
        """Whom to tell of which of these events; ring neighbours in the order of the ring."""
        digests: dict[int, list[NameT]] = {}
        for name in names:
            each = self.events[name]
            adjacent = self._adjacent(each.point, ring)
            if adjacent[0] == adjacent[1]:
                adjacent = (adjacent[0], None)
            for side, id in enumerate(adjacent):
                if id is not None and id != each.known[side]:
                    digests.setdefault(id, []).append(name)
        return digests

    def lacks(self, names: Iterable[NameT]) -> list[NameT]:
        """Which of the events of a digest to ask for."""
        return [name for name in names if name not in self.events]

    def has_it(self, name: NameT, id: int, ring: Sequence[Descriptor]) -> None:
        """Note that a peer has an event, if it is adjacent on its ring."""
        each = self.events[name]
        for side, adjacent in enumerate(self._adjacent(each.point, ring)):
            if adjacent == id:
                each.known[side] = id

    def _adjacent(self, point: Coordinates, ring: Sequence[Descriptor]) -> tuple[int | None, int | None]:
        match = [peer.id for peer in ring if peer.id not in self.silent and peer.matches(point)]
        return (match[0], match[-1]) if match else (None, None)
