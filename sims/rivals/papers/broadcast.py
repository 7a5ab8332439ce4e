"""Gossip broadcast with filtering: every subscriber gets every event, and drops most of them.

Alternative (a) of CAMCAST, Section 4.2, after Kermarrec, Massoulié and Ganesh (TPDS 2003): a process that
receives an event for the first time sends it once to F random others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sims.config.entries import Kinds
from sims.config.interests import WorkloadSettings
from sims.observers import Connectivity, Degrees, LinkAges
from sims.observers.deliveries import Deliveries
from sims.rivals.base.accounts import keys_of
from sims.rivals.base.entrants import Compared, Knob, Look
from sims.rivals.base.sampled import Sampled
from sims.rivals.base.system import Integers, Publication
from sims.rivals.base.table_gossip import one_table, spread_tables
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.errors import require


@dataclass(frozen=True)
class Fanout:
    """Settings of gossip over one table.

    Attributes
    ----------
    fanout : int
        Entries of its table that a process sends an event to, once.
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    fanout: int = 8
    retries: int = 0

    def __post_init__(self) -> None:
        require(self, fanout=1, retries=0)


def fanouts(plain: Sequence[int]) -> tuple[Knob, ...]:
    """Fan-outs, and the smaller half of them with acknowledgements and two retransmissions."""
    again = tuple(Knob(fanout=f, retries=2) for f in plain[: (len(plain) + 1) // 2])
    return (*(Knob(fanout=f) for f in plain), *again)


class Broadcast(Compared):
    """One CYCLON view of the whole population."""

    open_to_others = True

    name = "broadcast"
    workload = WorkloadSettings
    dissemination = Fanout
    look = Look("black", "o", "-")
    probe = Knob(fanout=8)
    knobs = fanouts((2, 4, 5, 6, 8, 12, 20))
    layer_names = ("cyclon",)
    observers: ClassVar[Kinds] = {
        "delivery": Deliveries,
        "degrees": Degrees,
        "ages": LinkAges,
        "connectivity": Connectivity,
    }
    overlay: Sampled

    def build(self, layers: Any, spare: int) -> Sampled:
        """Build one group of all subscribers."""
        n = self.wanted.n
        everybody = np.arange(n), np.zeros(n, np.int64)
        return Sampled(self.wanted.lows, self.wanted.highs, *everybody, self.seed, spare)

    def links(self) -> dict[str, Integers]:
        """Entries of the view."""
        return {"random": self.by_subscriber(self.overlay.sizes())}

    def spread(self, asked: Publication, settings: Fanout) -> Outcome:
        """Gossip to F entries of the view."""
        return gossip(self, self.overlay.table(), asked, settings, asked.publishers)


def gossip(
    system: Compared, table: NDArray[np.int32], asked: Publication, settings: Fanout, starts: Integers
) -> Outcome:
    """Spread events from these members; each sends an event to F entries of its row of the table."""
    tables, keys = one_table(table, settings.fanout), keys_of(system.seed, asked.salt, asked.events)
    return spread_tables(tables, system.network, system.truth, asked, keys, settings.retries, starts)
