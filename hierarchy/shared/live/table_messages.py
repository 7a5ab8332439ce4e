"""The messages that live peers of the shared overlay have besides those of `sub2sub.live.core.messages`.

As there, a reply carries the number of its request, and peers are mentioned with the age of the news.
"""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.live.core.messages import Extension, Mentions, packed_numbers
from sub2sub.overlay.descriptors import Descriptor


@dataclass(frozen=True)
class Alike(Extension):
    """VICINITY's request over the points (low, high); the last mention is the sender itself."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class AlikeBack(Extension):
    """Its reply, of the same form."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class Greet(Extension):
    """The sender has the receiver in one of its tables from now on."""

    exchange: int
    sender: Descriptor


@dataclass(frozen=True)
class Greeted(Extension):
    """The receiver is there."""

    exchange: int


@dataclass(frozen=True)
class Inquire(Extension):
    """A peer asks another, above it or below, for its community and for ways to the sender's own."""

    exchange: int
    sender: Descriptor


@dataclass(frozen=True)
class Ways(Extension):
    """The answer."""

    exchange: int
    links: Mentions


@dataclass(frozen=True)
class Tables(Extension):
    """Everything a peer tells an equal."""

    exchange: int
    sender: Descriptor
    equals: Mentions
    above: Mentions
    below: Mentions


@dataclass(frozen=True)
class TablesBack(Extension):
    """What the equal tells in turn."""

    exchange: int
    equals: Mentions
    above: Mentions
    below: Mentions


@dataclass(frozen=True)
class Routed(Extension):
    """An event on its way by CAMCAST's routing, with what its publisher chose (`CamcastRoute`).

    It may be signed (`sub2sub.live.net.signatures`).
    """

    name: bytes
    point: tuple[float, ...]
    hops: int
    c: float
    g: float
    a: float
    data: bytes
    signer: bytes = b""
    signature: bytes = b""

    @property
    def signed(self) -> bytes:
        """What a signature is of: the kind, and all but the number of hops, which changes on the way."""
        numbers = packed_numbers(self.point) + packed_numbers((self.c, self.g, self.a))
        return b"event by tables" + self.name + numbers + self.data
