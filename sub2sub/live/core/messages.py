"""The messages of live peers; `sub2sub.live.wire.format` and docs/live-wire.md define them as bytes.

A request and its reply carry the same exchange number. A reply to an exchange that is not open is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.peers.descriptors import Descriptor


@dataclass(frozen=True, slots=True)
class Mentions:
    """The peers that a message mentions, as columns: most of what messages contain.

    Attributes
    ----------
    peers : tuple of Descriptor
    ages : tuple of int
        The time since anybody heard from each peer.
    held : tuple of int
        For ring links only, the time since the sender accepted each: the receiver need not consider again
        what was offered to it before. Empty where all are 0.
    """

    peers: tuple[Descriptor, ...] = ()
    ages: tuple[int, ...] = ()
    held: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.peers)

    def __getitem__(self, part: slice) -> Mentions:
        return Mentions(self.peers[part], self.ages[part], self.held[part])


MAX_HOPS = 1 << 16
MAX_NAMES = 256  # of events, in one digest


@dataclass(frozen=True)
class Numbered:
    """A message of an exchange, with nothing but its number."""

    exchange: int


@dataclass(frozen=True)
class WithLinks(Numbered):
    """A message of an exchange that mentions peers."""

    links: Mentions


@dataclass(frozen=True)
class WithSender(Numbered):
    """A message of an exchange that describes its sender."""

    sender: Descriptor


class Shuffle(WithLinks):
    """CYCLON's request: some random links; the last mention is the sender itself, of age 0."""


class Shuffled(WithLinks):
    """CYCLON's reply: as many links of the partner."""


class Near(WithLinks):
    """VICINITY's request: the links nearest to the receiver; the last mention is the sender itself."""


class NearBack(WithLinks):
    """VICINITY's reply, of the same form."""


@dataclass(frozen=True)
class Ring(WithSender):
    """The ring layer's request: all links of the sender."""

    fed: Mentions
    ring: Mentions


@dataclass(frozen=True)
class RingBack(Numbered):
    """The ring layer's reply: all links of the partner."""

    fed: Mentions
    ring: Mentions


class Seek(WithSender):
    """A newcomer asks for all links of the receiver, which answers as to a partner and may accept it."""


@dataclass(frozen=True)
class Hello:
    """The sender has accepted the receiver as a ring neighbour."""

    sender: Descriptor


class Probe(Numbered):
    """A question whether the receiver is there."""


class Probed(Numbered):
    """The answer: it is."""


class Changed(WithSender):
    """In place of a reply: the peer that was asked has changed to `sender`, a peer of the same host."""


@dataclass(frozen=True)
class Event:
    """An event that is being forwarded: its name (16 bytes), its point, the hops it has made, and its data.

    After `MAX_HOPS` hops it is not forwarded.
    """

    name: bytes
    point: tuple[float, ...]
    hops: int
    data: bytes


@dataclass(frozen=True)
class Taken:
    """Whether the receiver of an event took it: it did if the event matches its subscription."""

    name: bytes
    took: bool


@dataclass(frozen=True)
class Digest(Numbered):
    """Names and ages of recent events that the receiver may have missed."""

    names: tuple[bytes, ...]
    ages: tuple[int, ...]


@dataclass(frozen=True)
class Lacking(Numbered):
    """The events of a digest that the receiver lacks and asks for."""

    names: tuple[bytes, ...]


class Join(Numbered):
    """A newcomer, or a publisher, asks an address for its first peers."""


class Welcome(WithLinks):
    """First peers for a newcomer or a publisher."""


@dataclass(frozen=True)
class Ask(Numbered):
    """A publisher asks for peers near a point."""

    point: tuple[float, ...]


class Answer(WithLinks):
    """The peers nearest to the point that the receiver of `Ask` knows; the first mention is itself."""


@dataclass(frozen=True)
class Leave:
    """The sender leaves. Receivers probe it before they believe that."""


@dataclass(frozen=True)
class Extension:
    """Base of the messages of a protocol that builds on this one (`hierarchy.shared.live`)."""


Message = (
    Shuffle | Shuffled | Near | NearBack | Ring | RingBack | Hello | Probe | Probed | Event | Taken
    | Join | Welcome | Ask | Answer | Leave | Seek | Digest | Lacking | Changed | Extension
)  # fmt: skip

Reply = Shuffled | NearBack | RingBack | Probed | Lacking


@dataclass(frozen=True)
class Send:
    """A message that a core wants sent: to a peer, or, with `to` None, to the sender of the last message."""

    to: Descriptor | None
    message: Message
