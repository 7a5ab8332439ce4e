"""rfpbcast: gossip for the expected number of rounds, to anybody: interests are not known (hpmcast)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sims.rivals.base.entrants import Knob, Look, Variant
from sims.rivals.below.addressed import FlatSettings
from sims.rivals.papers.hpmcast import Hpmcast, fanouts


class Rfpbcast(Hpmcast):
    """Every participant knows all others, but not their interests."""

    name = "rfpbcast"
    layers = FlatSettings
    worlds = ("topics",)
    look = Look("black", "x", ":")
    variants: ClassVar[Mapping[str, Variant]] = {}
    levels = 1
    filters = False
    probe = Knob(fanout=2, constant=0.0)
    knobs = (
        *fanouts((2, -2), (2, -1), (2, 2), (3, 3)),
        *fanouts((2, -3), (2, -2), (2, -1), retries=2),
    )
