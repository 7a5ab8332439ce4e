"""The messages of live peers of the shared overlay, in addition to `sub2sub.live.core.messages`.

As there, a reply carries the number of its request, and peers are mentioned with ages.
"""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.live.core.messages import (
    Answer,
    Ask,
    Extension,
    Mentions,
    Numbered,
    WithLinks,
    WithSender,
)


class Alike(WithLinks, Extension):
    """VICINITY's request over the points (low, high); the last mention is the sender itself."""


class AlikeBack(WithLinks, Extension):
    """VICINITY's reply over points, of the same form."""


class Greet(WithSender, Extension):
    """The sender has accepted the receiver into one of its tables."""


class Greeted(Numbered, Extension):
    """The answer to a greeting."""


class Inquire(WithSender, Extension):
    """A question to a peer of a supertopic or subtopic: some equals, and ways to the sender's topic."""


class Ways(WithLinks, Extension):
    """The answer to `Inquire`."""


@dataclass(frozen=True)
class Tables(WithSender, Extension):
    """All tables of the sender, to an equal."""

    equals: Mentions
    above: Mentions
    below: Mentions


@dataclass(frozen=True)
class TablesBack(Numbered, Extension):
    """All tables of the equal, in reply."""

    equals: Mentions
    above: Mentions
    below: Mentions


class Count(Ask):
    """A publisher that chooses a route asks for the size of the receiver's community."""


@dataclass(frozen=True)
class Counted(Answer):
    """The answer: `hierarchy.peers.route_choice.Known`, and the tightest super-topic entries after itself."""

    size: float
    ranges: int
    matching: int


@dataclass(frozen=True)
class Routed(Extension):
    """An event that is forwarded by CAMCAST's routing, with its publisher's settings (`CamcastRoute`)."""

    name: bytes
    point: tuple[float, ...]
    hops: int
    c: float
    g: float
    a: float
    data: bytes
