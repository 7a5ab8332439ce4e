"""The messages of live peers. What they look like on the wire: `sub2sub.live.wire.format` and docs/live.md.

A request and its reply carry the same exchange number; a reply to a number nobody waits for is ignored.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

from sub2sub.overlay.descriptors import Descriptor


class Mention(NamedTuple):
    """A peer as a message mentions it.

    `age` is the time since it was last heard from by anybody, `held` (ring links only) since the sender took
    it up: what was offered before need not be considered again.
    """

    peer: Descriptor
    age: int
    held: int = 0


@dataclass(frozen=True, slots=True)
class Mentions:
    """The peers that a message mentions, as columns: nearly all that peers tell one another.

    Attributes
    ----------
    peers : tuple of Descriptor
    ages, held : tuple of int
        As of `Mention`; `held` is empty where all are 0.

    Examples
    --------
    >>> peer = Descriptor.of(7, [0.25], [0.5])
    >>> mentions = Mentions.of(Mention(peer, 3))
    >>> mentions.ages, len(mentions), [mention.peer.id for mention in mentions]
    ((3,), 1, [7])
    """

    peers: tuple[Descriptor, ...] = ()
    ages: tuple[int, ...] = ()
    held: tuple[int, ...] = ()

    @classmethod
    def of(cls, *mentions: Mention) -> Mentions:
        """Some mentions."""
        peers, ages, held = zip(*mentions, strict=True) if mentions else ((), (), ())
        return cls(peers, ages, held if any(held) else ())

    def __len__(self) -> int:
        return len(self.peers)

    def __iter__(self) -> Iterator[Mention]:
        return map(Mention, self.peers, self.ages, self.held or repeat(0))

    def __getitem__(self, part: slice) -> Mentions:
        return Mentions(self.peers[part], self.ages[part], self.held[part])


def packed_numbers(numbers: Sequence[float]) -> bytes:
    """Some numbers as bytes, with how many they are in front."""
    return struct.pack(f">B{len(numbers)}d", len(numbers), *numbers)


MAX_HOPS = 1 << 16
MAX_NAMES = 256  # of events, in one digest


@dataclass(frozen=True)
class Shuffle:
    """CYCLON's request: a few random links; the last mention is the sender itself, of age 0."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class Shuffled:
    """CYCLON's reply: as many of the partner's."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class Near:
    """VICINITY's request: the links nearest to the receiver; the last mention is the sender itself."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class NearBack:
    """VICINITY's reply, of the same form."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class Ring:
    """The ring layer's request: everything the sender knows."""

    exchange: int
    sender: Descriptor
    fed: Mentions
    ring: Mentions


@dataclass(frozen=True)
class RingBack:
    """The ring layer's reply: everything the partner knows."""

    exchange: int
    fed: Mentions
    ring: Mentions


@dataclass(frozen=True)
class Seek:
    """A newcomer asks for everybody the receiver knows, which answers like a partner and may take it up."""

    exchange: int
    sender: Descriptor


@dataclass(frozen=True)
class Hello:
    """The sender has taken the receiver up as a ring neighbour."""

    sender: Descriptor


@dataclass(frozen=True)
class Probe:
    """Are you there?"""

    exchange: int


@dataclass(frozen=True)
class Probed:
    """Yes."""

    exchange: int


@dataclass(frozen=True)
class Changed:
    """In place of a reply: the peer that was asked is `sender` from now on, another one of the same host."""

    exchange: int
    sender: Descriptor


@dataclass(frozen=True)
class Event:
    """An event on its way: its name (16 bytes), where it is, how many hops it has made, what it says.

    After `MAX_HOPS` hops it goes no further. It may be signed (`sub2sub.live.net.signatures`).
    """

    name: bytes
    point: tuple[float, ...]
    hops: int
    data: bytes
    signer: bytes = b""
    signature: bytes = b""

    @property
    def signed(self) -> bytes:
        """What a signature is of: the kind, and all but the number of hops, which changes on the way."""
        return b"event along rings" + self.name + packed_numbers(self.point) + self.data


@dataclass(frozen=True)
class Taken:
    """Whether the receiver of an event matches it, and so has it now."""

    name: bytes
    took: bool


@dataclass(frozen=True)
class Digest:
    """Names of recent events that the receiver may have missed, and how old they are."""

    exchange: int
    names: tuple[bytes, ...]
    ages: tuple[int, ...]


@dataclass(frozen=True)
class Lacking:
    """Those of them that it lacks: it asks for them."""

    exchange: int
    names: tuple[bytes, ...]


@dataclass(frozen=True)
class Join:
    """A newcomer, or a publisher, asks an address for peers to begin with."""

    exchange: int


@dataclass(frozen=True)
class Welcome:
    """Some peers to begin with."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class Ask:
    """A publisher asks for peers near a point."""

    exchange: int
    point: tuple[float, ...]


@dataclass(frozen=True)
class Answer:
    """The nearest it knows; the first mention is the receiver of the question itself."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class Leave:
    """A peer says that it leaves. It is probed before it is believed."""


@dataclass(frozen=True)
class Extension:
    """What a message of a protocol is that builds on this one (`hierarchy.shared.live`)."""


Message = (
    Shuffle | Shuffled | Near | NearBack | Ring | RingBack | Hello | Probe | Probed | Event | Taken
    | Join | Welcome | Ask | Answer | Leave | Seek | Digest | Lacking | Changed | Extension
)  # fmt: skip

Reply = Shuffled | NearBack | RingBack | Probed | Lacking


@dataclass(frozen=True)
class Send:
    """What a core wants sent: to a peer, or, with `to` None, back to the sender of the last message.

    `teller` is the host that told of the peer, "" if it was found by the core's own turns; None stands for
    the host whose message is being handled.
    """

    to: Descriptor | None
    message: Message
    teller: str | None = None
