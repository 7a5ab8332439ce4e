"""What a comparison adds to a system: what it costs to keep, what it is tuned by, and its variants.

A variant is data: settings of the overlay, settings of dissemination, and the knobs among which its working
point is searched. Those that are shipped are in the system's file, a user's own in a TOML file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sims.config.interests import Subscriptions
from sims.rivals.base.system import Floats, Integers, System, Truth
from sub2sub.geometry.matching import Members, match
from sub2sub.peers.descriptors import LINK


class Unable(Exception):
    """A system cannot run here; its empty cells show the reason."""


class Traffic(NamedTuple):
    """Messages and bytes, of all peers together."""

    messages: int
    bytes: int


class Knob(dict[str, Any]):
    """Settings of dissemination, to trade messages for reliability; none for the system's defaults.

    Examples
    --------
    >>> str(Knob(fanout=4, g=10)), str(Knob())
    ('fanout 4, g 10', 'default')
    """

    def __str__(self) -> str:
        """Return the settings in words."""
        return ", ".join(f"{name} {value:g}" for name, value in self.items()) or "default"


class Look(NamedTuple):
    """Colour, marker and dash of a system in all figures; related systems share a colour."""

    colour: str = "black"
    marker: str = "."
    dash: str = "-"


@dataclass(frozen=True)
class Variant:
    """A system with some settings; what is not given is as in the system itself.

    Attributes
    ----------
    layers : object
        Settings of the overlay.
    base : object
        Settings of dissemination that knobs change.
    knobs : tuple of Knob
        Among which the working point is searched.
    worlds : tuple of str
        Kinds of worlds it enters.
    look : Look
    probe : Knob
        With which its convergence and healing are followed.
    """

    layers: Any = None
    base: Any = None
    knobs: tuple[Knob, ...] | None = None
    worlds: tuple[str, ...] | None = None
    look: Look | None = None
    probe: Knob | None = None


@runtime_checkable
class CountsPeers(Protocol):
    """A layer that counts what each peer sends."""

    def spent(self) -> tuple[Integers, Integers]:
        """Messages and bytes of the last cycle, by peer."""


class Compared(System):
    """A system that can be compared.

    Attributes
    ----------
    worlds : tuple of str
        Kinds of worlds it enters: topics, ranges, between.
    knobs : tuple of Knob
        Settings it is compared with, besides its defaults.
    probe : Knob
        The one with which its convergence and healing are followed.
    base : object
        Settings of dissemination that knobs change, if not those of an experiment that gives none.
    variants : mapping
        By what stands behind the comma in their names.
    look : Look
    open_to_others : bool
        Whether a peer that does not match an event can publish it.
    streams : bool
        Whether its events can share uplinks (`sims.rivals.base.streams`).
    static : str
        Why its overlay cannot be stepped, if only events can be published.
    """

    worlds: ClassVar[tuple[str, ...]] = ("topics", "ranges")
    knobs: ClassVar[tuple[Knob, ...]] = ()
    probe: ClassVar[Knob]
    base: ClassVar[Any] = None
    variants: ClassVar[Mapping[str, Variant]] = {}
    look: ClassVar[Look] = Look()
    open_to_others: ClassVar[bool] = False
    streams: ClassVar[bool] = False
    static: str = ""
    owner: SeveralMemberships | None = None  # whose topic engine it is, if it is one

    @property
    def truth(self) -> Truth:
        """What accounting knows; of subscribers, if this is the engine of several memberships."""
        return super().truth if self.owner is None else self.owner.truth

    @classmethod
    def for_hosts(cls) -> type[Compared]:
        """Return its form for hosts with several ranges each; refused by a system of single ones."""
        raise Unable("not run: hosts have several subscriptions")

    @property
    def matches(self) -> Members:
        """Which peers want each event; hosts, if these have several ranges."""
        if not isinstance(self.wanted, Holdings):
            return super().matches
        if self._matched is None:
            found = self.wanted.matched
            peers = Members(found.offsets, self.peer_of[found.members])
            self._matched = self.wanted.lows, self.wanted.points, peers
        return self._matched[2]

    def links(self) -> dict[str, Integers]:
        """Links that each subscriber's host keeps, by kind."""
        raise NotImplementedError

    def entry_bytes(self, kind: str) -> int:
        """Bytes that a link of a kind takes where it is kept, counted as in a message."""
        return LINK

    def memory(self) -> Integers:
        """Bytes that each subscriber's host stores about other peers."""
        total: Integers = sum(
            (count * self.entry_bytes(kind) for kind, count in self.links().items()),
            start=np.zeros(self.wanted.n, np.int64),
        )
        return total

    def spent(self) -> tuple[Integers, Integers] | None:
        """Messages and bytes of each subscriber for upkeep in the last cycle, if all layers count them."""
        counted = [layer.spent() for layer in self.overlay.layers if isinstance(layer, CountsPeers)]
        if not counted or len(counted) < len(self.overlay.layers):
            return None
        messages, size = (np.asarray(sum(own[k] for own in counted)) for k in (0, 1))
        return self.by_subscriber(messages), self.by_subscriber(size)

    def by_subscriber(self, of_members: Integers) -> Integers:
        """Values of the members of the overlay, by the subscribers of the start."""
        return of_members[self.peer_of] if self.owner is None else self.owner.by_subscriber(of_members)

    def step(self, cycle: int) -> Traffic:
        """Step the overlay by a cycle; return what it cost."""
        self.forget()
        return self.traffic(self.overlay.step(cycle))

    def traffic(self, costs: Mapping[str, Mapping[str, int]]) -> Traffic:
        """The cost of a cycle, summed over layers."""
        return Traffic(*(sum(cost[name] for cost in costs.values()) for name in Traffic._fields))

    def fail(self, alive: NDArray[np.uint8], loss: float) -> None:
        """Crash subscribers, and set the probability of loss."""
        self.network.alive[:] = alive[self.overlay.population.host]
        self.network.loss = loss


class SeveralMemberships(Compared):
    """A system whose peers are the subscribers; the host of each member of its overlay is its subscriber."""

    @property
    def peer_of(self) -> Integers:
        """Peers are the subscribers."""
        return np.arange(self.wanted.n)

    def by_subscriber(self, of_members: Integers) -> Integers:
        """Summed over the memberships of each subscriber."""
        host = self.overlay.population.host
        mine = host < self.wanted.n
        total: Integers = np.bincount(host[mine], of_members[mine], self.wanted.n).astype(np.int64)
        return total

    @property
    def truth(self) -> Truth:
        """Hosts are subscribers; those with a live membership are up."""
        host = self.overlay.population.host
        up = np.zeros(self.wanted.n, np.uint8)
        up[host[self.network.alive == 1]] = 1
        return Truth(host, host, up, self.matches)

    @property
    def matches(self) -> Members:
        """Which subscribers want each event."""
        wanted = self.wanted
        if isinstance(wanted, Holdings):
            return wanted.matched
        if self._matched is None:
            self._matched = wanted.lows, wanted.points, match(wanted.lows, wanted.highs, wanted.points)
        return self._matched[2]

    def on_topic(self, peers: Integers, event: int) -> NDArray[np.bool_]:
        """Which of these subscribers subscribe to an event's own topic."""
        return np.asarray(self.wanted.tree.of[peers] == self.wanted.tree.of_event[event])


@dataclass(frozen=True)
class Holdings(Subscriptions):
    """Hosts with several ranges each, of which `lows` and `highs` are the boxes around all of them.

    Attributes
    ----------
    parts : lows, highs, host
        Closed ranges, and whose each is.
    """

    parts: tuple[Floats, Floats, Integers] | None = None

    @cached_property
    def matched(self) -> Members:
        """The hosts that match each event, each once.

        Examples
        --------
        >>> lows, highs = np.array([[0.0], [4.0], [1.0]]), np.array([[2.0], [6.0], [5.0]])
        >>> parts = lows, highs, np.array([0, 0, 1])
        >>> wanted = Holdings(lows[[0, 2]], highs[[1, 2]], np.array([[1.0], [3.0]]), parts=parts)
        >>> wanted.matched.of(0), wanted.matched.of(1)
        (array([0, 1]), array([1]))
        """
        assert self.parts is not None
        lows, highs, host = self.parts
        found, events = match(lows, highs, self.points), np.arange(len(self.points) + 1)
        pairs = np.unique(np.repeat(events[:-1], found.sizes()) * self.n + host[found.members])
        return Members(np.searchsorted(pairs, events * self.n), pairs % self.n)


@dataclass(frozen=True)
class Entrant:
    """A system or a variant of one under the name that tables show.

    Attributes
    ----------
    name : str
    system : type
    variant : Variant

    Examples
    --------
    >>> from sims.rivals.base.catalogue import entrant
    >>> found = entrant("gossipsub, D 8")
    >>> found.variant.layers.D, found.at(Knob(D_lazy=3)).D_lazy
    (8, 3)
    """

    name: str
    system: type[Compared]
    variant: Variant

    def make(self, wanted: Any, seed: int) -> Compared:
        """Build the system for some subscriptions, or for hosts with several."""
        system = self.system.for_hosts() if isinstance(wanted, Holdings) else self.system
        return system(wanted, seed, self.variant.layers)

    def at(self, knob: Mapping[str, Any]) -> Any:
        """Settings of dissemination with a knob's."""
        base = self.variant.base or self.system.base or self.system.dissemination()
        return replace(base, **knob)

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """The settings to search among, the defaults first."""
        own = self.variant.knobs if self.variant.knobs is not None else self.system.knobs
        return (Knob(), *(knob for knob in own if self.at(knob) != self.at({})))

    @property
    def worlds(self) -> tuple[str, ...]:
        """Kinds of worlds it enters."""
        return self.variant.worlds if self.variant.worlds is not None else self.system.worlds

    @property
    def able(self) -> tuple[str, ...]:
        """Kinds of worlds that it can enter when it is asked for."""
        return self.worlds or self.system.worlds or ("ranges",)

    @property
    def probe(self) -> Knob:
        """The knob with which convergence and healing are followed."""
        return self.variant.probe or self.system.probe

    @property
    def look(self) -> Look:
        """How figures show it."""
        return self.variant.look or self.system.look
