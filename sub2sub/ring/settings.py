"""How the ring layer is run: the settings of `sub2sub.ring.layer`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from sub2sub.errors import require
from sub2sub.kernels.references import by_reference


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
        LEAST_RECENT converges a little faster than RANDOM; NEAREST stalls.
    exchanges : int
        Exchanges a peer starts in one cycle. The paper has one; two need half the cycles.
    two_sided : bool
        Whether the partner answers. Without answers rings never complete.
    cap : int
        Most neighbours to keep, 0 for no limit. Any cap that is reached leaves rings open for ever.
    hello : bool
        Whether a peer tells a new neighbour so.
    hello_after : int
        Cycles that a new neighbour must last, without an exchange between the two, before it is told; 0 for
        at once. While rings form, most neighbours are soon replaced: with 6, building a million peers' rings
        costs no more than without hellos, and takes fewer cycles.
    max_age : int
        Oldest link to keep or accept, in cycles; 0 for no limit. Too short a limit drops live neighbours.
    drop_failed : bool
        Whether a neighbour that does not answer a request or a probe is dropped at once.
    tries : int
        Times a request, a probe, or an answer is sent while it is lost, at least. With one, every lost
        message looks like a dead peer. Each further try costs a message more where peers are dead.
    most_tries : int
        Times at most: a peer whose own messages get lost sends more of them (`sub2sub.ring.persistence`).
        No more than `tries` turns that off; then 15 % loss tears links out of rings now and then.
    verify : bool
        Whether a candidate that nobody has heard from in this cycle is probed before it is accepted. Taken
        up unseen, a dead one hides live ones behind it until it is found out.
    join : bool
        Whether a newcomer asks for its neighbours at once (`sub2sub.ring.joining`) instead of waiting for
        gossip to find them.
    tell_changes : bool
        Whether a host tells the neighbours of a peer what it has changed to (`sub2sub.ring.changing`).
    max_steps : int
        Cuts after which the question whether a neighbour is superfluous is given up and it is kept, 0 for
        never. How often that happens is reported with every step as `given_up`.

    Examples
    --------
    >>> RingSettings.paper(exchanges=2).hello
    False
    """

    partner: Partner = Partner.LEAST_RECENT
    exchanges: int = 1
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
        require(self, "ring", exchanges=0, cap=0, hello_after=0, max_age=0, max_steps=0, **tries)

    @classmethod
    def paper(cls, **changes: Any) -> RingSettings:
        """The protocol as published: no hello, no ages, nothing dropped, sent twice, verified or told."""
        off = {
            "hello": False, "max_age": 0, "drop_failed": False, "tries": 1, "most_tries": 1, "verify": False,
            "join": False, "tell_changes": False,
        }  # fmt: skip
        return cls(**{**off, **changes})


@by_reference
class StepSettings(NamedTuple):
    """The settings as numbers for kernels, and what follows from them in one cycle."""

    partner: int
    exchanges: int
    two_sided: int
    drop_failed: int
    verify: int
    cap: int
    max_steps: int
    aged: int  # whether links have an age
    oldest: int  # least stamp to keep or accept
    hello_at_once: int  # whether a neighbour is told in the cycle in which it is accepted
    told: int  # a neighbour accepted in this cycle and not met since is told now; -1 for none
    cycle: int

    @classmethod
    def of(cls, settings: RingSettings, cycle: int) -> StepSettings:
        """The settings in one cycle.

        Examples
        --------
        >>> StepSettings.of(RingSettings(max_age=10), cycle=30).oldest
        20
        """
        oldest = cycle - settings.max_age if settings.max_age else 0
        told = max(cycle - settings.hello_after, -1) if settings.hello and settings.hello_after else -1
        return cls(
            int(settings.partner), settings.exchanges, int(settings.two_sided), int(settings.drop_failed),
            int(settings.verify), settings.cap, settings.max_steps,
            int(settings.max_age > 0), oldest, int(not settings.hello_after), told, cycle,
        )  # fmt: skip
