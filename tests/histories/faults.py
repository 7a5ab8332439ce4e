"""Faults of machines and of the network between them: each begins, lasts some cycles, and ends."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from tests.histories.history import PERIOD, Fault, History

LONG = (20.0, 60.0)  # cycles


async def _a_while(history: History, least: float = 1.0, most: float = 8.0) -> None:
    await asyncio.sleep(history.dice.uniform(least, most) * PERIOD)


def _anybody(history: History) -> Any | None:
    live = [each for each in history.participants if each.is_live]
    return history.dice.choice(live) if len(live) > 2 else None


async def stopped_and_resumed(history: History, least: float = 1.0, most: float = 8.0) -> None:
    """A machine stops for some cycles."""
    victim = _anybody(history)
    if victim:
        machine = victim.machine
        machine.stop()
        await _a_while(history, least, most)
        machine.resume()


async def slow(history: History) -> None:
    """A machine stops again and again, for most of the time."""
    victim = _anybody(history)
    if victim:
        machine = victim.machine
        for _ in range(history.dice.randint(3, 12)):
            machine.stop()
            await _a_while(history, 0.1, 0.8)
            machine.resume()
            await _a_while(history, 0.01, 0.3)


async def crash_and_restart(history: History) -> None:
    """A node crashes, silently or not, and restarts at the same address with a new ID."""
    victim = _anybody(history)
    if victim:
        victim.crash(silent=history.dice.random() < 0.5)
        await _a_while(history)
        victim.start()


async def crash(history: History) -> None:
    """A node crashes and does not restart."""
    victim = _anybody(history)
    if victim and history.may_crash(victim):
        victim.crash(silent=history.dice.random() < 0.5)


async def leave_and_return(history: History) -> None:
    """A node leaves in good order, and comes back at the same address under a new ID."""
    victim = _anybody(history)
    if victim:
        await victim.leave()
        await _a_while(history)
        victim.start()


async def leave(history: History) -> None:
    """A node leaves in good order, for good."""
    victim = _anybody(history)
    if victim and history.may_crash(victim):
        await victim.leave()


async def stopped_for_long(history: History) -> None:
    """A machine stands still for longer than leases last, and is forgotten."""
    await stopped_and_resumed(history, *LONG)


async def partition(history: History, least: float = 1.0, most: float = 8.0) -> None:
    """Some machines cannot send to the others, in one direction or both."""
    hosts = [each.host for each in history.participants]
    some = set(history.dice.sample(hosts, history.dice.randint(1, len(hosts) - 1)))
    both = history.dice.random() < 0.5
    cut = {
        (a, b) for a in hosts for b in hosts if a != b and (a in some) != (b in some) and (both or a in some)
    }
    history.network.cut |= cut
    await _a_while(history, least, most)
    history.network.cut -= cut


async def long_partition(history: History) -> None:
    """Both sides of a partition give the other up, and have to find together again."""
    await partition(history, *LONG)


async def bad_network(history: History) -> None:
    """Messages are lost, duplicated and overtaken; connections are refused and reset."""
    network, dice = history.network, history.dice
    names = ("loss", "duplicated", "overtaking", "refused", "reset")
    chances: dict[str, Any] = {name: dice.choice([0.0, 0.05, 0.3]) for name in names}
    chances["reset"] /= 3
    network.conditions = replace(history.calm, **chances, jitter=dice.choice([history.calm.jitter, 0.3]))
    await _a_while(history)
    network.conditions = history.calm


FURTHER: list[Fault] = [leave_and_return, leave, stopped_for_long, long_partition]
FAULTS: list[Fault] = [stopped_and_resumed, slow, crash_and_restart, crash, partition, bad_network]
