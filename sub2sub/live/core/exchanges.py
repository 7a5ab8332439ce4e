"""The exchanges that a live peer has begun, until they are answered or time out; and the time answers take.

An answer after the timeout is not used, but measured: where machines are busy, answers take long, and with a
fixed timeout a peer would take all its neighbours for dead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from sub2sub.live.core.messages import Message
from sub2sub.peers.cyclon import Shuffle
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.newcomer import Newcomer
from sub2sub.peers.verification import Verification

LATE = 256  # exchanges after their timeout, whose answers are still measured


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange that waits for its reply.

    Attributes
    ----------
    reply : type
        The kind of message that it waits for.
    partner : Descriptor
    begun : int
        When it was begun, by the peer's clock.
    expected : bool
        Whether it fails if no reply comes.
    shuffle : Shuffle, optional
        CYCLON's state of the exchange.
    asker : Verification or Newcomer, optional
        The object that takes the reply, if it is not the ring peer itself.
    names : tuple of bytes
        Names of the events in a digest.
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
    """The time that answers take: mean and deviation, smoothed as in TCP (RFC 6298).

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
        """The time to wait for an answer."""
        return self.mean + 4 * self.spread

    def measure(self, time: int) -> None:
        """Take the time of one answer into account."""
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
        Numbers of exchanges; hard to guess where others may forge replies.
    """

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self.open: dict[int, Exchange] = {}
        self.round_trip = RoundTrip()
        self._late: dict[int, int] = {}  # when exchanges were begun that have timed out
        self._numbers = numbers or count(1)

    def begin(self, exchange: Exchange) -> int:
        """Open an exchange; return its number."""
        number = next(self._numbers)
        self.open[number] = exchange
        return number

    def finish(self, number: int, reply: Message, now: int) -> Exchange | None:
        """Close and return the exchange that a reply belongs to; None if there is none.

        An exchange that is answered by a wrong kind of message stays open until its timeout: it has to fail
        then, because other objects may wait for it.
        """
        exchange = self.open.get(number)
        if exchange and not isinstance(reply, exchange.reply):
            return None
        begun = self.open.pop(number).begun if exchange else self._late.pop(number, None)
        if begun is not None:
            self.round_trip.measure(now - begun)
        return exchange

    def failed(self, number: int, partner: Descriptor) -> Exchange | None:
        """Close and return an exchange whose request could not be sent; None if it is closed already."""
        exchange = self.open.get(number)
        return self.open.pop(number) if exchange and exchange.partner.id == partner.id else None

    def overdue(self, before: int) -> list[Exchange]:
        """Close the exchanges begun before a time; return those that have failed by that."""
        late = [number for number, each in self.open.items() if each.begun < before]
        self._late.update((number, self.open[number].begun) for number in late)
        for number in list(self._late)[:-LATE]:
            del self._late[number]
        return [each for each in map(self.open.pop, late) if each.expected]
