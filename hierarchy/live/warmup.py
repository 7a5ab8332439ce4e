"""Compiling, or loading, every kernel a live member needs before anybody waits for it."""

from __future__ import annotations

from functools import cache

import numpy as np

from hierarchy.live.dice import Dice
from hierarchy.live.member import Member
from hierarchy.live.messages import Contact, Copy, Event, Meet, Stand, Supers
from hierarchy.live.structured import GridMember

__all__ = ["warm_up"]


@cache
def warm_up() -> None:
    """Let a member take a subscription, a super-topic table and an event, without sockets; once."""
    member = Member(Contact(1, "h", 1, ".a"), lambda event: None)
    member.receive(Copy(Contact(2, "h", 2, ".a"), 9, 9), 0, Dice(np.uint64(1)))
    member.receive(Supers((Contact(3, "h", 3, "."),)), 0, Dice(np.uint64(2)))
    member.receive(Event(bytes(16), ".a", 0, 0, 1.0, b""), 0, Dice(np.uint64(3)))
    placed = GridMember(Contact(4, "h", 4, ".a"), lambda event: None)
    placed.join(None, Dice(np.uint64(4)))
    placed.receive(Meet(1, Stand(Contact(5, "h", 5, ".a"), 0, 0, (), ()), ()), 0, Dice(np.uint64(5)))
    for cycle in range(5):
        member.tick(Dice(np.uint64(cycle)))
        placed.tick(Dice(np.uint64(cycle)))
