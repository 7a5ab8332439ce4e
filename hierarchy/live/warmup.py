"""Compiling, or loading, every kernel a live member needs before anybody waits for it."""

from __future__ import annotations

from functools import cache

from hierarchy.live.grid_member import GridMember
from hierarchy.live.member import Member
from hierarchy.live.messages import Contact, Event
from sub2sub.kernels.dice import Dice


@cache
def warm_up() -> None:
    """Let a member take an event, without sockets; once. Nothing else that it does is compiled."""
    for kind in (Member, GridMember):
        member = kind(Contact(1, "h", 1, ".a"), lambda event: None)
        list(member.receive(Event(bytes(16), ".a", 0, 0, 1.0, b""), 0, Dice(3)))
