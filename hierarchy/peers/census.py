"""One member's part in the census of its community.

Paper and rules: `hierarchy.compiled.census.rules`. Live members run this class; the tests drive it as the
oracle that the kernels agree with.

Each cycle a member sends a `Tally` to some members of its topic table. Sometimes it asks a contact from
outside its part of the community (`Compare`); if the answer (`Compared`) shows that they are in different
parts, it merges the parts by subscribing there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from hierarchy.peers.contacts import Contact, Send, Sends
from hierarchy.peers.settings import CensusSettings
from sub2sub.peers.draws import Dice, stream_number

STREAM = stream_number("census")

TELL, COMPARE, CHOOSE = range(-3, 0)  # keys of the phases' random numbers
FEW = 6  # within one part at most one minimum in six may differ

LAST = 1 << 39  # largest number of a count that is accepted; no honest member ever gets there


@dataclass(frozen=True)
class Tally:
    """The smallest numbers that the sender knows in a count, and the size by the last one (0: none)."""

    epoch: int
    size: float
    minima: tuple[int, ...]


@dataclass(frozen=True)
class Compare:
    """A question: which part of the community of this topic is the receiver in?"""

    exchange: int
    topic: str


@dataclass(frozen=True)
class Compared:
    """The sender, its last count (-1: none) with its minima, and the lease of its subscription."""

    exchange: int
    member: Contact
    epoch: int
    minima: tuple[int, ...]
    lease: int


CensusMessage = Tally | Compare | Compared


class CensusPeer:
    """The state of one member's counts.

    Parameters
    ----------
    key : int
        Key of its own random numbers.
    cycle : int, optional
        The cycle in which it begins.

    Attributes
    ----------
    epoch, begun : int
        Number of the count that it takes part in, and the cycle in which it entered that count.
    minima : list of int
        The smallest numbers that it has received.
    size, before : float
        Size of the community by the last count, and by the one before; 0 if there was none.
    counted, last
        Number of the last count that it joined early enough (-1: none), and the minima of it.
    merged : int
        Number of the last count after which it merged its part with another.

    Examples
    --------
    >>> one, two = (CensusPeer(key, CensusSettings(minima=256)) for key in (1, 2))
    >>> contact = Contact(2, "h", 2, ".")
    >>> (send,) = one.tell([contact], Dice(1))
    >>> two.take(send.message, cycle=0)
    >>> round(one.estimate()), round(two.estimate())
    (1, 2)
    """

    def __init__(self, key: int, settings: CensusSettings, cycle: int = 0) -> None:
        self.key, self.settings = key, settings
        self.size, self.before, self.counted, self.merged = 0.0, 0.0, -1, -1
        self.last: list[int] = [0] * settings.minima
        self.minima: list[int]
        self._asked: set[int] = set()
        self._enter(0, cycle)

    def estimate(self) -> float:
        """Its estimate of the size of the community: by the last count, else by the present one."""
        return self.size or _size(self.minima)

    def safe_estimate(self) -> float:
        """The smaller of the last two counts, or of the last one and the current one.

        Any member can make a count too large, by sending numbers that no member has drawn.
        """
        return min(self.estimate(), self.before or _size(self.minima))

    def advance(self, cycle: int) -> None:
        """Begin the next count if the time of this one is up."""
        self._asked.clear()
        time = self.settings.period if self.epoch else self.settings.period // 2
        if cycle - self.begun >= time:
            self._begin(self.epoch + 1, cycle)

    def tell(self, view: Sequence[Contact], dice: Dice) -> Sends:
        """Send the tally to some members of the topic table."""
        for _ in range(min(self.settings.fan, len(view))):
            to = view[dice.next_below(len(view))]
            yield Send(to, Tally(self.epoch, self.size, tuple(self.minima)))

    def take(self, tally: Tally, cycle: int) -> None:
        """Process a tally: enter a later count, keep the smaller numbers; a newcomer takes over the size."""
        if len(tally.minima) != len(self.minima) or tally.epoch > LAST:
            return
        if tally.epoch > self.epoch:
            self._begin(tally.epoch, cycle)
        if tally.epoch == self.epoch:
            self.minima = [min(pair) for pair in zip(self.minima, tally.minima, strict=True)]
            if self.counted < 0:
                self.size = tally.size

    def wants_to_ask(self, dice: Dice) -> bool:
        """Whether to ask a contact now: with probability askers / size, and at most once after each count."""
        return self.counted > self.merged and dice.next_unit() * self.size < self.settings.askers

    def ask(self, contact: Contact, dice: Dice) -> Send:
        """Ask a contact which part it is in."""
        number = dice.next_bits()
        self._asked.add(number)
        return Send(contact, Compare(number, contact.topic))

    def answer(self, question: Compare, own: Contact, lease: int) -> Compared:
        """The answer to a question."""
        return Compared(question.exchange, own, self.counted, tuple(self.last), lease)

    def is_apart(self, answer: Compared) -> bool:
        """Whether an answer shows that both are in different parts. Counts that differ by one do not."""
        if answer.exchange not in self._asked:
            return False
        self._asked.remove(answer.exchange)
        ahead = abs(self.counted - answer.epoch)
        if self.counted < 0 or answer.epoch < 0 or ahead == 1:
            return False
        differing = sum(mine != other for mine, other in zip(self.last, answer.minima, strict=False))
        if ahead > 1 or FEW * differing > len(self.last):
            self.merged = self.counted
            return True
        return False

    def _begin(self, epoch: int, cycle: int) -> None:
        """Enter a count; the one before ends, and is used if it was long enough."""
        if cycle - self.begun >= self.settings.period // 2:
            self.before = self.size if self.counted >= 0 else 0.0
            self.size, self.last, self.counted = _size(self.minima), self.minima, self.epoch
        self._enter(epoch, cycle)

    def _enter(self, epoch: int, cycle: int) -> None:
        self.epoch, self.begun = epoch, cycle
        numbers = Dice(self.key).of_peer(epoch)
        self.minima = [numbers.bits(i) >> 32 for i in range(self.settings.minima)]


def _size(minima: Sequence[int]) -> float:
    total = -sum(log1p(-(number + 0.5) / 2**32) for number in minima)
    return max(1.0, (len(minima) - 1) / total)
