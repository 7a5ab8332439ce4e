"""Settings of the ring layer (`sub2sub.ring.layer`)."""

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
        LEAST_RECENT converges a little faster than RANDOM; with NEAREST, convergence stalls.
    exchanges : int
        Exchanges that a peer begins in one cycle. The paper has one; with two, rings need half the cycles.
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
        Greatest number of copies: a peer whose own messages are lost sends more (`sub2sub.ring.persistence`).
        A value up to `tries` turns that off; with 15 % loss, rings then lose links now and then.
    verify : bool
        Whether a candidate is probed before it is accepted, unless a peer heard from it in this cycle.
        Without it, a dead candidate hides the live ones behind it until it is found to be dead.
    join : bool
        Whether a newcomer asks for its neighbours at once (`sub2sub.ring.joining`) instead of waiting for
        gossip to find them.
    tell_changes : bool
        Whether a host informs the neighbours of a peer that has changed (`sub2sub.ring.changing`).
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
        """The protocol as published, without all additions."""
        off = {
            "hello": False, "max_age": 0, "drop_failed": False, "tries": 1, "most_tries": 1, "verify": False,
            "join": False, "tell_changes": False,
        }  # fmt: skip
        return cls(**{**off, **changes})


@by_reference
class StepSettings(NamedTuple):
    """The settings as numbers for kernels, and the values for one cycle."""

    partner: int
    exchanges: int
    two_sided: int
    drop_failed: int
    verify: int
    cap: int
    max_steps: int
    aged: int  # whether links have an age
    oldest: int  # least stamp to keep or accept
    hello_at_once: int  # whether a neighbour gets a hello in the cycle in which it is accepted
    hello_cycle: int  # neighbours accepted in this cycle and not met since get a hello now; -1 for none
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
        hello_cycle = max(cycle - settings.hello_after, -1) if settings.hello and settings.hello_after else -1
        return cls(
            int(settings.partner), settings.exchanges, int(settings.two_sided), int(settings.drop_failed),
            int(settings.verify), settings.cap, settings.max_steps,
            int(settings.max_age > 0), oldest, int(not settings.hello_after), hello_cycle, cycle,
        )  # fmt: skip
