"""One participant of hpmcast, which gossips an event level by level to those it is for (Figures 1, 2, 6).

Every round a participant that has the event chooses F random participants of its view, and sends the event to
those of them whose subsystem wants it. It begins at the level at which it got the event. When the expected
number of rounds of a level is over (equations 4, 5 and 9; `pittel_rounds`), it goes on one level below, in
its own subsystem, and last among its neighbours. With one level this is pmcast (Figure 2); if everybody in a
view counts as wanting the event, which is then filtered on arrival, it is rfpbcast (Figure 1).

`AdaptiveParticipant` is Section 6.1.1, which Figure 6 does not have. `hierarchy.hpmcast.dissemination` lists
how the paper is read. `hierarchy.hpmcast.gossiping` does the same for a population, with the same random
numbers: participant k of a round has draw k, and the fate of the message to it has draw F + k.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log

from hierarchy.peers.settings import Gossip
from sub2sub.peers.draws import Dice


@dataclass
class Buffered:
    """An event in a gossip buffer: where it is gossiped, for whom, and for how many rounds so far.

    Attributes
    ----------
    level : int
    share : float
        The share of the view that wants it.
    rounds : int
        Rounds that its sender had gossiped at this level, and this participant since.
    """

    level: int
    share: float
    rounds: int = 0


def pittel_rounds(size: float, fanout: float, constant: float = 0.0) -> float:
    """Rounds until `size` participants have an event, each sending to `fanout` others (equation 5).

    Examples
    --------
    >>> round(pittel_rounds(100.0, 2.0), 3)
    6.494
    """
    return log(size) * (1 / fanout + 1 / log(fanout + 1)) + constant if size > 0 and fanout > 0 else -inf


@dataclass
class Participant:
    """One participant, and the one event that it has.

    Attributes
    ----------
    number : int
    views : mapping of int to sequence
        By level, the delegates of every line of its table; at level 1 its neighbours.
    wanted : mapping of int to collection
        By level, those of its view whose subsystems want the event.
    lines : mapping of int to int
        By level, the lines of its table: what it costs to match an event with the whole view.
    matched : dict of int to int
        By level, how often it has matched the event with an interest.

    Examples
    --------
    >>> peer = Participant(0, {1: [0, 1, 2]}, {1: [2]}, {1: 3}, Gossip(fanout=2, constant=3.0))
    >>> peer.publish(level=1)
    >>> peer.move_down(), peer.gossip(Dice(1), lambda other, event, draw: print("to", other, event.level))
    to 2 1
    (True, None)
    """

    number: int
    views: Mapping[int, Sequence[int]]
    wanted: Mapping[int, Collection[int]]
    lines: Mapping[int, int]
    settings: Gossip
    event: Buffered | None = None
    matched: dict[int, int] = field(default_factory=dict)

    def publish(self, level: int) -> None:
        """Publish the event, at the highest level."""
        self.event = Buffered(level, self.match_view(level))

    def receive(self, event: Buffered) -> bool:
        """Take the event; whether it is the first copy."""
        if self.event is not None:
            return False
        self.event = Buffered(event.level, event.share, event.rounds)
        return True

    def move_down(self) -> bool:
        """Leave the levels whose rounds are over; whether there is still one to gossip at (lines 5 to 12)."""
        assert self.event is not None
        while self.event.rounds >= self.rounds(self.event.level, self.event.share):
            if self.event.level == 1:
                return False
            self.event = Buffered(self.event.level - 1, self.share_below(self.event))
        return True

    def gossip(self, dice: Dice, send: Callable[[int, Buffered, int], object]) -> None:
        """One round: `send(participant, event, draw)` for each chosen participant that the event is for."""
        event = self.event
        assert event is not None
        event.rounds += 1
        others = [other for other in self.views[event.level] if other != self.number]
        chosen = min(self.settings.fanout, len(others))
        hits = 0
        for k in range(chosen):
            other = others.pop(dice.below(k, len(others)))
            if other in self.wanted[event.level]:
                hits += 1
                send(other, event, self.settings.fanout + k)
        self.note_matches(event.level, chosen)
        self.end_round(hits, chosen)

    def rounds(self, level: int, share: float) -> float:
        """Rounds of a level, of which loss and crashes take their part (equation 9)."""
        s = self.settings
        size = len(self.views[level]) * share * (s.lowest[0] if level == 1 else 1)
        return pittel_rounds(size, s.fanout * share * (1 - s.loss) * (1 - s.crash), s.constant)

    def match_view(self, level: int) -> float:
        """Match the event with all lines of a level; the share of its view that wants it (`GETPROB`)."""
        self.note_matches(level, self.lines[level])
        share = len(self.wanted[level]) / len(self.views[level]) if self.views[level] else 0.0
        return share / (self.settings.lowest[1] if level == 1 else 1)

    def note_matches(self, level: int, count: int) -> None:
        """Count how often it has matched the event with an interest."""
        self.matched[level] = self.matched.get(level, 0) + count

    def share_below(self, event: Buffered) -> float:
        """The share at the level below that of the event."""
        return self.match_view(event.level - 1)

    def end_round(self, hits: int, chosen: int) -> None:
        """Do nothing more: what is wanted is known."""


@dataclass
class AdaptiveParticipant(Participant):
    """A participant that estimates the share of those that want an event (Section 6.1.1).

    It inverts equation 19 for the level below, and adjusts the estimate by the matches among those it chose;
    the estimate that came with the event counts as one round.
    """

    prior: float = 0.0
    hits: int = 0
    tried: int = 0

    def publish(self, level: int) -> None:
        """Publish the event, whose share at the highest level is matched."""
        super().publish(level)
        self._start()

    def receive(self, event: Buffered) -> bool:
        """Take the event with its sender's estimate."""
        is_first = super().receive(event)
        if is_first:
            self._start()
        return is_first

    def share_below(self, event: Buffered) -> float:
        """The estimate at the level below: p(i) = 1 - (1 - p(i + 1))^(1/a)."""
        self.prior = 1 - (1 - event.share) ** (1 / max(self.lines[event.level - 1], 1))
        self.hits = self.tried = 0
        return self.prior

    def end_round(self, hits: int, chosen: int) -> None:
        """Adjust the estimate by the matches so far."""
        assert self.event is not None
        self.hits, self.tried, weight = self.hits + hits, self.tried + chosen, self.settings.fanout
        self.event.share = (weight * self.prior + self.hits) / (weight + self.tried)

    def _start(self) -> None:
        assert self.event is not None
        self.prior, self.hits, self.tried = self.event.share, 0, 0
