"""pmcast: hpmcast with one level, so every participant knows all others and their interests (hpmcast)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sims.rivals.base.entrants import Knob, Look, Variant
from sims.rivals.below.addressed import FlatSettings
from sims.rivals.papers.hpmcast import Hpmcast, audiences, fanouts


class Pmcast(Hpmcast):
    """Every participant knows all others and their interests."""

    name = "pmcast"
    layers = FlatSettings
    look = Look("sky", "D", "--")
    variants: ClassVar[Mapping[str, Variant]] = {}
    levels = 1
    probe = Knob(fanout=32, constant=10.0)
    knobs = (
        *fanouts((4, 3), (8, 3), (32, 3), (32, 10), (32, 20)),
        *audiences((0, 6), (0, 12), (3, 12)),
        *fanouts((8, 3), (32, 3), retries=2),
    )
