"""Topics or ranges for some interests: one sentence, from a comparison of rings, topics and a broker.

Topics are tried in every encoding (one enclosing topic, an exact cover, a flat grid, a topic column of one's
own) on every topic engine. What counts are all bytes a second at a rate of events: the events with 5 % of the
messages lost, and upkeep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from sims.compare.findings import break_even
from sims.compare.summary import cost, ends, number, rule_of, systems_in, working_point
from sims.rivals.base.catalogue import entrant

RINGS, BROKER = "sub2sub", "broker"
ENCODINGS = ("enclosing topic", "exact cover", "flat grid", "own topic")
ENGINES = ("", ", gossipsub", ", gossipsub D 3", ", plumtree")  # CAMCAST if none is named
SYSTEMS = (RINGS, BROKER, *(f"{encoding}{engine}" for encoding in ENCODINGS for engine in ENGINES))


class Total(NamedTuple):
    """Bytes a second of all peers together at some rate of events, with the ends of its interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """In kilobytes."""
        half = (self.high - self.low) / 2000
        return f"{number(self.mean / 1000)} ± {number(half) if half >= 100 else f'{half:.2g}'} kB/s"


def total(table: pd.DataFrame, world: str, system: str, rate: float) -> Total | None:
    """What a system sends at its working point at a rate of events per second; None if it has none."""
    point = working_point(table, world, system)
    upkeep, event, each, seconds = (
        ends(cost(table, world, system, metric))
        for metric in ("upkeep_bytes.total", "bytes_per_event", "bytes_per_delivery", "upkeep_seconds")
    )
    if point is None or not point.reached or not np.isfinite([upkeep[0], event[0]]).all():
        return None
    reach = np.nan_to_num((each[2] - each[1]) / 2 / each[0]) * rate * event[0]
    mean = upkeep[0] / seconds[0] + rate * event[0]
    return Total(mean, mean - reach, mean + reach)


def advice(table: pd.DataFrame, world: str, rate: float) -> str:
    """Say what costs least at a rate of events, what else would cost, and where that turns."""
    found = {system: total(table, world, system, rate) for system in systems_in(table, world)}
    known = {system: each for system, each in found.items() if each is not None}
    topics = {system: each for system, each in known.items() if system.partition(",")[0] in ENCODINGS}
    peers = {system: each for system, each in known.items() if system == RINGS or system in topics}
    if not peers:
        return f"Neither rings nor topics are shown to deliver {rule_of(table)}."
    best = min(peers, key=lambda system: peers[system].mean)
    others = [RINGS] if best != RINGS else sorted(topics, key=lambda system: topics[system].mean)[:1]
    text = (
        f"At {rate:g} events per second {words(best)} cost{'s' * (best != RINGS)} least, {known[best]} in all"
    )
    for other in others:
        text += _beside(table, world, best, other, known)
    if BROKER in known:
        text += f"; a broker that never fails would send {known[BROKER]}"
    if not topics:
        text += f"; no encoding as topics is shown to deliver {rule_of(table)}"
    return text + "."


def _beside(table: pd.DataFrame, world: str, best: str, other: str, known: dict[str, Total]) -> str:
    its = known.get(other)
    if its is None:
        return f"; {words(other)} are not shown to deliver {rule_of(table)}"
    turn = break_even(table, world, best, other)
    text = f"; {words(other)} would take {its}"
    if its.low <= known[best].high:
        text += ", which these runs cannot tell apart"
    if turn is not None and np.isfinite(turn[0]):
        text += f", and less {'below' if turn[1] else 'above'} {turn[0]:.2g} events per second"
    return text


def words(system: str) -> str:
    """A system in words.

    Examples
    --------
    >>> words("sub2sub"), words("exact cover, gossipsub D 3"), words("flat grid")
    ('ranges on rings', 'topics by exact cover on gossipsub D 3', 'topics by flat grid on camcast')
    """
    if system == RINGS:
        return "ranges on rings"
    encoding, _, engine = system.partition(", ")
    return f"topics by {encoding} on {engine or 'camcast'}"


def able(world: str) -> tuple[str, ...]:
    """Return the systems that advice on a world is about."""
    kind = world.partition(" ")[0]
    return tuple(name for name in SYSTEMS if kind in entrant(name).able)
