"""One peer of HyParView.

Leitão, Pereira, Rodrigues: *HyParView: a membership protocol for reliable gossip-based broadcast*, DSN 2007,
Section 4 and Algorithm 1. Active links are open connections and symmetric. When a connection breaks, a peer
of the passive view is asked to replace it. Passive views are renewed by shuffles along random walks over
active links.

Readings:

- The peer that accepts a newcomer at the end of its walk opens the connection (`Neighbour`, high priority).
  This makes links symmetric, as the paper assumes.
- A newcomer whose contact does not answer, or a peer whose active view has not been full for `patience`
  cycles, asks the rendezvous again; the paper assumes that contacts are alive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from sims.rivals.base.objects import ObjectPeer, Sends, any_of, sample
from sub2sub.errors import require
from sub2sub.peers.descriptors import LINK
from sub2sub.peers.draws import Dice


@dataclass(frozen=True)
class HyParViewSettings:
    """Settings of HyParView, as in Section 5.1 of its paper.

    Attributes
    ----------
    active : int
        Open links of a peer: fan-out plus 1. More links survive more crashes and cost more messages.
    passive : int
        Further known peers, from which the active view is repaired.
    join_walk, passive_walk : int
        Hops a newcomer's name travels (ARWL), and at which of them it is noted in a passive view (PRWL),
        counted from the end.
    shuffled_active, shuffled_passive : int
        Peers of either view that are sent in a shuffle, besides the sender.
    tries : int
        Copies of a message before its target counts as unreachable.
    patience : int
        Cycles without a full active view after which a peer asks the rendezvous again.
    """

    active: int = 5
    passive: int = 30
    join_walk: int = 6
    passive_walk: int = 3
    shuffled_active: int = 3
    shuffled_passive: int = 4
    tries: int = 3
    patience: int = 8

    def __post_init__(self) -> None:
        require(self, "hyparview", active=1, passive=1, join_walk=1, passive_walk=1, tries=1, patience=1)
        require(self, "hyparview", shuffled_active=0, shuffled_passive=0)


class Join(NamedTuple):
    """A newcomer asks its contact to join."""

    size: int = 0


class ForwardJoin(NamedTuple):
    """The name of a newcomer on its walk."""

    newcomer: int
    hops: int
    size: int = LINK


class Neighbour(NamedTuple):
    """A request to become neighbours. With high priority the sender has none and cannot be refused."""

    high: bool
    size: int = 1


class NeighbourReply(NamedTuple):
    """The answer."""

    accepted: bool
    size: int = 1


class Disconnect(NamedTuple):
    """The end of an active link."""

    size: int = 0


class Shuffle(NamedTuple):
    """Peers that its origin knows, on a walk."""

    origin: int
    hops: int
    known: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes: the peers, and the origin."""
        return LINK * (len(self.known) + 1)


class ShuffleReply(NamedTuple):
    """Peers in return, and the peers that they replace."""

    known: tuple[int, ...]
    sent: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes: the peers. Which peers they replace, the receiver knows from the number of the shuffle."""
        return LINK * len(self.known)


class HyParViewPeer(ObjectPeer):
    """The views of one peer.

    Attributes
    ----------
    active, passive : list of int
    contact : int
        The peer through which to join in the next turn, -1 for none.
    since : int
        The last cycle in which the active view was full, or a contact was asked for.

    Examples
    --------
    >>> settings = HyParViewSettings()
    >>> newcomer, contact = HyParViewPeer(1, settings), HyParViewPeer(2, settings)
    >>> newcomer.introduce(2)
    >>> sends = list(newcomer.turn(1, Dice(3)))
    >>> list(contact.receive(1, sends[0][1], Dice(4))), contact.active, newcomer.active
    ([], [1], [2])
    """

    kept: ClassVar[tuple[str, ...]] = ("active", "passive", "contact", "since")

    def __init__(self, own: int, settings: HyParViewSettings) -> None:
        self.own, self.settings = own, settings
        self.active: list[int] = []
        self.passive: list[int] = []
        self.since = 0

    def seeks(self, cycle: int) -> bool:
        """Whether to ask for a contact."""
        if len(self.active) >= self.settings.active:
            self.since = cycle
        alone = not self.active and not self.passive and self.contact < 0
        if not alone and cycle - self.since < self.settings.patience:
            return False
        self.since = cycle
        return True

    def turn(self, cycle: int, dice: Dice) -> Sends:
        """Join, repair the active view, and shuffle."""
        sends: list[tuple[int, Any]] = []
        if self.contact >= 0 and self.contact not in self.active:
            sends += self._open(self.contact, dice)
            sends.append((self.contact, Join()))
        self.contact = -1
        sends += self._mend(dice)
        if self.active:
            known = sample(self.active, self.settings.shuffled_active, dice)
            known += sample(self.passive, self.settings.shuffled_passive, dice)
            target = any_of(self.active, dice)
            walk = Shuffle(self.own, self.settings.join_walk, tuple(k for k in known if k != target))
            sends.append((target, walk))
        return sends

    def receive(self, sender: int, message: Any, dice: Dice) -> Sends:
        """Algorithm 1."""
        if isinstance(message, Shuffle):
            return self._walk(sender, message, dice)
        if isinstance(message, ShuffleReply):
            self._note(message.known, message.sent, dice)
            return ()
        if isinstance(message, Join):
            hops = self.settings.join_walk
            told = [(other, ForwardJoin(sender, hops)) for other in self.active if other != sender]
            return [*self._open(sender, dice), *told]
        if isinstance(message, ForwardJoin):
            return self._forward_join(sender, message, dice)
        if isinstance(message, Neighbour):
            accepted = message.high or len(self.active) < self.settings.active or sender in self.active
            dropped = self._open(sender, dice) if accepted else []
            return [*dropped, (sender, NeighbourReply(accepted))]
        if isinstance(message, NeighbourReply):
            if message.accepted:
                return self._open(sender, dice)
            self._close(sender)
            return ()
        if sender in self.active:  # Disconnect
            self._close(sender)
            self._note((sender,), (), dice)
        return ()

    def unreachable(self, target: int, message: Any, dice: Dice) -> Sends:
        """Drop a dead neighbour, and ask another peer to replace it."""
        if isinstance(message, ShuffleReply):  # not a link of this peer
            return ()
        if target in self.passive:
            self.passive.remove(target)
        was_neighbour = target in self.active
        self._close(target)
        mending = self._mend(dice) if was_neighbour or isinstance(message, Neighbour) else []
        if isinstance(message, Shuffle | ForwardJoin) and self.active:
            return [*mending, (any_of(self.active, dice), message)]  # walk on another way
        return mending

    def links(self) -> list[int]:
        """Both views."""
        return [*self.active, *self.passive]

    def _forward_join(self, sender: int, message: ForwardJoin, dice: Dice) -> Sends:
        newcomer, hops, _ = message
        others = [other for other in self.active if other not in (sender, newcomer)]
        if hops == 0 or not others:
            if newcomer == self.own or newcomer in self.active:
                return ()
            return [*self._open(newcomer, dice), (newcomer, Neighbour(high=True))]
        if hops == self.settings.passive_walk:
            self._note((newcomer,), (), dice)
        return [(any_of(others, dice), ForwardJoin(newcomer, hops - 1))]

    def _walk(self, sender: int, message: Shuffle, dice: Dice) -> Sends:
        origin, hops, known = message
        others = [other for other in self.active if other not in (sender, origin)]
        if hops > 1 and others:
            return [(any_of(others, dice), Shuffle(origin, hops - 1, known))]
        if origin == self.own:
            return ()
        reply = tuple(sample(self.passive, len(known) + 1, dice))
        self._note((origin, *known), reply, dice)
        return [(origin, ShuffleReply(reply, known))]

    def _mend(self, dice: Dice) -> list[tuple[int, Any]]:
        """Ask a peer of the passive view to become a neighbour, if one is missing."""
        if len(self.active) >= self.settings.active or not self.passive:
            return []
        candidate = any_of(self.passive, dice)
        return [(candidate, Neighbour(high=not self.active))]

    def _open(self, other: int, dice: Dice) -> list[tuple[int, Any]]:
        """Add a neighbour; one that is removed for it is sent a `Disconnect`."""
        if other == self.own or other in self.active:
            return []
        dropped = []
        if len(self.active) >= self.settings.active:
            victim = any_of(self.active, dice)
            self._close(victim)
            self._note((victim,), (), dice)
            dropped = [(victim, Disconnect())]
        if other in self.passive:
            self.passive.remove(other)
        self.active.append(other)
        return dropped

    def _close(self, other: int) -> None:
        if other in self.active:
            self.active.remove(other)

    def _note(self, others: tuple[int, ...], sent: tuple[int, ...], dice: Dice) -> None:
        """Add peers to the passive view; they replace those that were sent, then random ones."""
        spare = [other for other in sent if other in self.passive]
        for other in others:
            if other == self.own or other in self.active or other in self.passive:
                continue
            if len(self.passive) >= self.settings.passive:
                victim = spare.pop() if spare else any_of(self.passive, dice)
                if victim in self.passive:
                    self.passive.remove(victim)
            self.passive.append(other)
