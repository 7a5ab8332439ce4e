"""The exchanges a live peer has begun, until they are answered or given up; and how long answers take.

An answer that comes too late is not used, but it says how long answers take where machines are busy. A peer
that went by a fixed time would take all its neighbours for dead there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from sub2sub.cyclon.peer import Shuffle
from sub2sub.live.core.messages import Message
from sub2sub.overlay.descriptors import Descriptor
from sub2sub.ring.newcomer import Newcomer
from sub2sub.ring.verification import Verification

LATE = 256  # exchanges given up, whose answers are still measured


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange that waits for its reply.

    Attributes
    ----------
    reply : type
        The kind of message it waits for.
    partner : Descriptor
    begun : int
        When, by the peer's clock.
    expected : bool
        Whether silence means that it has failed.
    shuffle : Shuffle, optional
        CYCLON's part in it.
    asker : Verification or Newcomer, optional
        The object that takes the answer, if it is not the ring peer itself.
    names : tuple of bytes
        Names of events that the partner was told.
    """

    reply: type[Message]
    partner: Descriptor
    begun: int
    expected: bool = True
    shuffle: Shuffle | None = None
    asker: Verification | Newcomer | None = None
    names: tuple[bytes, ...] = ()


@dataclass
class RoundTrip:
    """How long answers take: mean and spread, smoothed as TCP does (RFC 6298).

    Examples
    --------
    >>> times = RoundTrip()
    >>> times.measure(8)
    >>> times.most
    24.0
    """

    mean: float = 0.0
    spread: float = 0.0

    @property
    def most(self) -> float:
        """How long to wait for an answer."""
        return self.mean + 4 * self.spread

    def measure(self, time: int) -> None:
        """Note how long an answer took."""
        if not self.mean:
            self.mean, self.spread = time, time / 2
            return
        self.spread += (abs(time - self.mean) - self.spread) / 4
        self.mean += (time - self.mean) / 8


class Exchanges:
    """Open exchanges by their numbers.

    Parameters
    ----------
    numbers : iterator of int, optional
        Numbers to give; hard to guess where others may forge replies.
    """

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self.open: dict[int, Exchange] = {}
        self.round_trip = RoundTrip()
        self._late: dict[int, int] = {}  # when those were begun that were given up
        self._numbers = numbers or count(1)

    def begin(self, exchange: Exchange) -> int:
        """Open an exchange; its number."""
        number = next(self._numbers)
        self.open[number] = exchange
        return number

    def finish(self, number: int, reply: Message, now: int) -> Exchange | None:
        """Close the exchange that a reply belongs to; None if it belongs to none that is open.

        One that is answered by another kind of message stays open until it is given up: whatever waits for it
        would otherwise wait for ever.
        """
        exchange = self.open.get(number)
        if exchange and not isinstance(reply, exchange.reply):
            return None
        begun = self.open.pop(number).begun if exchange else self._late.pop(number, None)
        if begun is not None:
            self.round_trip.measure(now - begun)
        return exchange

    def failed(self, number: int, partner: Descriptor) -> Exchange | None:
        """Close an exchange whose request could not be sent; None if that is known already."""
        exchange = self.open.get(number)
        return self.open.pop(number) if exchange and exchange.partner.id == partner.id else None

    def overdue(self, before: int) -> list[Exchange]:
        """Close the exchanges begun before a moment; those whose silence means failure."""
        late = [number for number, each in self.open.items() if each.begun < before]
        self._late.update((number, self.open[number].begun) for number in late)
        for number in list(self._late)[:-LATE]:
            del self._late[number]
        return [each for each in map(self.open.pop, late) if each.expected]
