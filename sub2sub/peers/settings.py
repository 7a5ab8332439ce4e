"""The settings of all protocols of Sub-2-Sub. Defaults repair what breaks; `paper()` is as published.

Every field says what it does, and what a greater or lesser value costs. Files, `--set`, `sub2sub run --keys`
and the JSON Schema read these classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from sub2sub.errors import require


@dataclass(frozen=True)
class CyclonSettings:
    """Settings of CYCLON.

    Attributes
    ----------
    view : int
        Links that a peer keeps, at most 63. More survive larger crashes; the CYCLON paper mostly uses 20.
    shuffle : int
        Links sent in one exchange, at most `view`. More links cost more traffic and mix views faster.
    retry : int
        A peer shuffles with a partner that did not answer, instead of with its oldest link, in every
        `retry`-th cycle; 0 for never, as published.
    tries : int
        Copies of a request, or of a reply, that are sent while they are lost; 1 as published.
    """

    view: int = 20
    shuffle: int = 8
    retry: int = 0
    tries: int = 1

    def __post_init__(self) -> None:
        require(self, "cyclon", view=(1, 63), shuffle=(1, self.view), tries=1, retry=0)


class Tie(IntEnum):
    """Which of several overlapping peers VICINITY keeps."""

    RANDOM = 0
    KEEP = 1
    SEQUENCE = 2


@dataclass(frozen=True)
class VicinitySettings:
    """Settings of VICINITY.

    Attributes
    ----------
    view : int
        Links that a peer keeps, at most 63. Rings form about as fast with 10 to 40; 16 fill two cache lines.
    shuffle : int
        Links sent in one exchange, including the one to the sender; at most 63.
    tie : Tie
        Which of several overlapping peers to keep.
    max_age : int
        Greatest age of a link, in cycles, 0 for no limit; older ones are dropped and refused.
    """

    view: int = 16
    shuffle: int = 8
    tie: Tie = Tie.RANDOM
    max_age: int = 0

    def __post_init__(self) -> None:
        require(self, "vicinity", view=(1, 63), shuffle=(1, 63), max_age=0)


class Partner(IntEnum):
    """Which ring neighbour to exchange with."""

    LEAST_RECENT = 0
    RANDOM = 1
    NEAREST = 2


@dataclass(frozen=True)
class RingSettings:
    """Settings of the ring layer.

    Attributes
    ----------
    partner : Partner
        LEAST_RECENT converges a little faster than RANDOM; with NEAREST, convergence stalls.
    exchanges : int
        Exchanges that a peer begins in one cycle. The paper has one; with two, rings need half the cycles.
    searches : int
        Further exchanges in a cycle, at most, of a peer with few neighbours that has lost one lately, with
        those that it has not met. With 0, a gap in a long ring closes by one peer a cycle.
    two_sided : bool
        Whether the partner answers. Without answers, rings never become complete.
    cap : int
        Greatest number of neighbours, 0 for no limit. A peer that needs more leaves rings incomplete.
    hello : bool
        Whether a peer informs a new neighbour by a hello.
    hello_after : int
        Cycles that a new neighbour must last, without an exchange between the two, before it gets a hello; 0
        for at once. While rings form, most neighbours are soon replaced: with 6, the rings of a million peers
        cost no more than without hellos, and take fewer cycles.
    max_age : int
        Greatest age of a link, in cycles, 0 for no limit; older ones are dropped and refused. If it is too
        small, live neighbours are dropped.
    drop_failed : bool
        Whether a neighbour that does not answer a request or a probe is dropped at once.
    tries : int
        Copies of a request, a probe or an answer that are sent while they are lost, at least. With one, every
        lost message looks like a dead peer. Each further one costs a message for each dead peer.
    most_tries : int
        Greatest number of copies: a peer whose own messages are lost sends more
        (`sub2sub.compiled.ring.probes`). A value up to `tries` turns that off; with 15 % loss, rings
        then lose links now and then.
    verify : bool
        Whether a candidate is probed before it is accepted, unless a peer heard from it in this cycle.
        Without it, a dead candidate hides the live ones behind it until it is found to be dead.
    join : bool
        Whether a newcomer asks for its neighbours at once (`sub2sub.compiled.ring.joining`) instead of
        waiting for gossip to find them.
    tell_changes : bool
        Whether a host informs the neighbours of a peer that has changed (`sub2sub.compiled.ring.joining`).
    max_steps : int
        Cuts after which the test whether a neighbour is superfluous is given up and it is kept; 0 for no
        limit. Every step reports how often that happened as `given_up`.

    Examples
    --------
    >>> RingSettings.paper(exchanges=2).hello
    False
    """

    partner: Partner = Partner.LEAST_RECENT
    exchanges: int = 1
    searches: int = 8
    two_sided: bool = True
    cap: int = 0
    hello: bool = True
    hello_after: int = 0
    max_age: int = 40
    drop_failed: bool = True
    tries: int = 5
    most_tries: int = 24
    verify: bool = True
    join: bool = True
    tell_changes: bool = True
    max_steps: int = 10_000

    def __post_init__(self) -> None:
        tries = {"tries": (1, 255), "most_tries": (0, 255)}
        require(self, "ring", exchanges=0, searches=0, cap=0, hello_after=0, max_age=0, max_steps=0, **tries)

    @classmethod
    def paper(cls, **changes: Any) -> RingSettings:
        """The protocol as published, without all additions."""
        off = {
            "hello": False, "max_age": 0, "drop_failed": False, "tries": 1, "most_tries": 1, "verify": False,
            "join": False, "tell_changes": False, "searches": 0,
        }  # fmt: skip
        return cls(**{**off, **changes})


@dataclass(frozen=True)
class PublisherSettings:
    """Settings of publishers.

    Attributes
    ----------
    view : int
        How many peers a publisher keeps, and how many links a contacted peer offers.
    ring_offers : bool
        Whether a contacted peer offers ring links as well.
    max_steps : int
        After this many steps a publisher assumes that no peer matches. The paper suggests 10 or 20, within
        which 1 in 200 finds nobody where few subscriptions overlap. Only those that find nobody pay for more.
    tries : int
        How often an event is handed over to the same match that does not acknowledge it.
    """

    view: int = 20
    ring_offers: bool = True
    max_steps: int = 40
    tries: int = 3

    def __post_init__(self) -> None:
        require(self, "publisher", view=1, max_steps=1, tries=(1, 255))


@dataclass(frozen=True)
class DisseminationSettings:
    """Settings of dissemination.

    Attributes
    ----------
    shortcuts : int
        k: the number of random matching links to which a peer forwards an event. Each costs about one message
        per delivery; with none, an event needs as many hops as half the length of its ring.
    ring_shortcuts : bool
        Whether ring links may serve as shortcuts, too. In small rings they are often the only shortcuts, and
        while rings are incomplete more events arrive. They do not reduce the hops: they lead to near peers.
    max_age : int
        The largest age, in cycles, of a proximity or random link that serves as a shortcut, 0 for no limit.
        Old links lead to peers that have left (failed messages) or changed their subscription (spam). With 4,
        events take about 6 % more hops than without a limit.
    tries : int
        How often an event is sent to the same adjacent neighbour that does not acknowledge it. With 1, a lost
        message looks like a dead peer; with more, a dead peer costs that many messages.
    retries : int
        How many neighbours further on are tried, in each direction, if the adjacent one does not answer. With
        `tries` 1 and `retries` 0 nothing is acknowledged.

    Examples
    --------
    >>> DisseminationSettings.paper().acknowledged, DisseminationSettings().acknowledged
    (False, True)
    """

    shortcuts: int = 1
    ring_shortcuts: bool = True
    max_age: int = 4
    tries: int = 3
    retries: int = 3

    def __post_init__(self) -> None:
        require(self, "dissemination", tries=(1, 63), max_age=0, shortcuts=(0, 63), retries=(0, 63))

    @classmethod
    def paper(cls, **changes: Any) -> DisseminationSettings:
        """As published: shortcuts are proximity and random links; failed messages are not repeated."""
        return cls(**{"ring_shortcuts": False, "max_age": 0, "tries": 1, "retries": 0, **changes})

    @property
    def acknowledged(self) -> bool:
        """Whether adjacent neighbours acknowledge events."""
        return self.tries > 1 or self.retries > 0


@dataclass(frozen=True)
class RecoverySettings:
    """Settings of recovery.

    Attributes
    ----------
    history : int
        For how many cycles after its publication an event is kept, 0 for no recovery. It should be longer
        than the time that rings need to heal.
    tries : int
        How often a lost digest, answer or event is sent at most.
    retries : int
        In how many rounds of a cycle the next neighbour is tried if one does not answer.
    """

    history: int = 10
    tries: int = 3
    retries: int = 3

    def __post_init__(self) -> None:
        require(self, "recovery", history=0, tries=1, retries=0)


@dataclass(frozen=True)
class OverlaySettings:
    """Settings of the layers. With the default, rings recover from crashes; `paper()` is as published.

    Attributes
    ----------
    cyclon, vicinity, ring
        Settings of each layer.
    suspect_age : int
        Ring links of this age, in cycles, are probed; of half this age if a peer has few. 0 for never. With a
        lower value fewer events are sent to dead peers, and there are more probes.
    patience : int
        Cycles after which a peer whose random view is incomplete asks for a contact again, 0 for never.
    recovery : RecoverySettings
        How missed events are recovered; by default (`history` 0) they are not.
    axes : tuple of float
        The unit of distance along each attribute, for VICINITY, newcomers and publishers. `typical_widths`
        computes widths of typical ranges: the best known choice if attributes are of different types.
        `AttributeSpace.axes` has the lengths of the axes, a bad choice if an attribute has exact values. By
        default coordinates are not scaled.
    calm : int
        If its ring links have not changed for this many cycles, a peer begins exchanges of random and
        proximity links only every so many cycles (`skips_turn`); 0 for never, as published.
    """

    cyclon: CyclonSettings = field(default_factory=lambda: CyclonSettings(retry=10, tries=3))
    vicinity: VicinitySettings = field(default_factory=lambda: VicinitySettings(max_age=14))
    ring: RingSettings = field(default_factory=lambda: RingSettings(max_age=9))
    suspect_age: int = 4
    patience: int = 10
    recovery: RecoverySettings = field(default_factory=lambda: RecoverySettings(history=0))
    axes: tuple[float, ...] = ()
    calm: int = 0

    def __post_init__(self) -> None:
        require(self, "overlay", calm=0)

    @classmethod
    def paper(cls) -> OverlaySettings:
        """As published: no hello messages, no ages, no probes; no link is dropped, no request is repeated."""
        near = replace(cls().vicinity, max_age=0)
        return cls(CyclonSettings(), near, RingSettings.paper(), suspect_age=0, patience=0)
