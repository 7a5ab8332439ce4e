"""Newcomers with given subscriptions, at a cycle of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sims.engine import Simulation
from sims.engine.faults import enter


def joining(lows: ArrayLike, highs: ArrayLike, hosts: Any = None) -> Callable[[Simulation], None]:
    """A control: they join, each on a new host unless hosts are given."""

    def join(simulation: Simulation) -> None:
        given = None if hosts is None else np.asarray(hosts, np.int64)
        enter(simulation, "join", np.asarray(lows, float), np.asarray(highs, float), given)

    return join
