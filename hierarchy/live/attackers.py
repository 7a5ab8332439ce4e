"""Attackers of CAMCAST processes: false messages that anybody may send."""

from __future__ import annotations

from typing import Any

from hierarchy.live import messages as m
from hierarchy.live.wire import MAX_CYCLES, PROTOCOL
from hierarchy.membership.pgrid.peer import Posting
from sub2sub.live.virtual.attackers import Attacker, visit
from sub2sub.live.virtual.history import History


async def forged_goodbyes(history: History) -> None:
    """Send every member goodbyes in the names of all others, each with a replacement that does not exist."""

    async def attack(attacker: Attacker, victim: Any) -> None:
        found = await attacker.ask(m.Find(1, (victim.topic,)), m.Found)
        joined = (each for each in history.participants if each.joined)
        members = {member.own.id for each in joined for member in each.members}
        replacement = m.Contact(5, "10.9.9.9", 9, victim.topic)
        for own in found.contacts[:1]:
            for other in sorted(members - {own.id}):  # more than it could have found out
                attacker.say(m.Replace((replacement,), MAX_CYCLES), own.id, other)
                attacker.say(m.Dropped(), own.id, other)

    await visit(history, attack, PROTOCOL)


async def invented_members(history: History) -> None:
    """Subscribe members that do not exist, with the longest lease that a message can state."""

    async def attack(attacker: Attacker, victim: Any) -> None:
        found = await attacker.ask(m.Find(1, (victim.topic,)), m.Found)
        for own in found.contacts[:1]:
            for k in range(8):
                nobody = m.Contact(1000 + k, "10.9.9.9", 9, own.topic)
                attacker.say(m.Subscribe(nobody, MAX_CYCLES, 1, 0), own.id, nobody.id)
                attacker.say(m.Copy(nobody, MAX_CYCLES, 9), own.id, nobody.id)
            attacker.say(m.Supers((m.Contact(2000, "10.9.9.9", 9, "."),)), own.id)

    await visit(history, attack, PROTOCOL)


async def invented_announcements(history: History) -> None:
    """Announce members that do not exist to the peers of a P-Grid."""

    async def attack(attacker: Attacker, victim: Any) -> None:
        found = await attacker.ask(m.Find(1, (victim.topic,)), m.Found)
        for own in found.contacts[:1]:
            nobody = (m.Contact(3000 + k, "10.9.9.9", 9, own.topic) for k in range(8))
            attacker.say(m.Post(tuple(Posting(each, MAX_CYCLES) for each in nobody)), own.id)

    await visit(history, attack, PROTOCOL)


ATTACKS = [forged_goodbyes, invented_members]
