"""Hostile machines among CAMCAST processes: what a stranger that speaks the protocol may say."""

from __future__ import annotations

from typing import Any

from hierarchy.live import messages as m
from hierarchy.live.wire import MAX_CYCLES, PROTOCOL
from sub2sub.live.virtual.history import History
from sub2sub.live.virtual.liars import Liar, visit


async def forger_of_goodbyes(history: History) -> None:
    """Says goodbye to every member in the name of all others, each with an heir that does not exist."""

    async def lie(liar: Liar, victim: Any) -> None:
        found = await liar.ask(m.Find(1, (victim.topic,)), m.Found)
        members = {each.member.own.id for each in history.participants if each.joined}
        heir = m.Contact(5, "10.9.9.9", 9, victim.topic)
        for own in found.contacts[:1]:
            for other in sorted(members - {own.id}):  # more than it could have found out
                liar.say(m.Replace((heir,), MAX_CYCLES), own.id, other)
                liar.say(m.Dropped(), own.id, other)

    await visit(history, lie, PROTOCOL)


async def inventor(history: History) -> None:
    """Subscribes members that do not exist, for as long as there are numbers for."""

    async def lie(liar: Liar, victim: Any) -> None:
        found = await liar.ask(m.Find(1, (victim.topic,)), m.Found)
        for own in found.contacts[:1]:
            for k in range(8):
                nobody = m.Contact(1000 + k, "10.9.9.9", 9, own.topic)
                liar.say(m.Subscribe(nobody, MAX_CYCLES, 1, 0), own.id, nobody.id)
                liar.say(m.Copy(nobody, MAX_CYCLES, 9), own.id, nobody.id)
            liar.say(m.Supers((m.Contact(2000, "10.9.9.9", 9, "."),)), own.id)

    await visit(history, lie, PROTOCOL)


LIARS = [forger_of_goodbyes, inventor]
