"""CAMCAST's measurements (CAMCAST, Section 6.2) on live processes, in the form of the simulated ones.

Setting as in `sims.reproduce.camcast.measured`: 84, 27 and 7 processes (79, 28 and 7), c = 0, a = 2, z = 4,
TCP on one machine, nobody crashes; an event of g for every p_sel, which travels with the event (Section
5.3.2.1). The paper ran 10 times; here every membership carries several events for each p_sel at once.

Readings
--------
- A round is a hop: nothing makes processes forward in step, so an event may come first by a longer way, and
  latencies are those of a real network.
- In the quick form members share operating system processes, sixteen to one, and only the unstructured
  membership is measured: tables from a P-Grid need dozens of cycles until all are announced and found.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sims.reproduce.camcast.measured import KINDS, METRICS, P_SEL, SETTINGS
from sims.reproduce.registry import Progress

if TYPE_CHECKING:
    from sims.live.communities import Communities

__all__ = ["LIVE", "measure_live"]

LIVE = ("unstructured", "semi-structured", "structured")
QUICK = ("unstructured",)
PERIOD = 1.5  # seconds
Curves = NDArray[np.float64]
_measured: dict[tuple[bool, int], dict[str, Curves]] = {}  # ten figures share one measurement


def measure_live(quick: bool, seed: int, progress: Progress) -> dict[str, Curves]:
    """Means of live runs by membership, (p_sel, topics a and d, metrics); once for each quick and seed."""
    if (quick, seed) not in _measured:
        runs, events, per_process = (1, 3, 16) if quick else (5, 10, 1)
        outcomes: dict[str, list[Curves]] = {kind: [] for kind in (QUICK if quick else LIVE)}
        for run in range(runs):
            for kind in outcomes:
                outcomes[kind].append(_run(kind, events, seed + run, per_process))
            progress(run + 1, runs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of what never arrives there is no mean latency
            means = {kind: np.nanmean(np.concatenate(found), axis=0) for kind, found in outcomes.items()}
        _measured[quick, seed] = means
    return _measured[quick, seed]


def _run(kind: str, events: int, seed: int, per_process: int) -> Curves:
    """Outcomes of several events for every p_sel on one membership."""
    from hierarchy.live import MemberSettings
    from hierarchy.membership import ScampSettings
    from sims.live.communities import Communities

    settings = MemberSettings(SETTINGS, ScampSettings(c=0))
    sizes = KINDS[kind][1]
    with Communities(sizes, settings, PERIOD, per_process, seed, membership=kind) as swarm:
        swarm.found()
        swarm.enter()
        swarm.settle(most=60.0)
        return _outcomes(swarm, sizes, events)


def _outcomes(swarm: Communities, sizes: Sequence[int], events: int) -> Curves:
    outcomes = np.full((events, len(P_SEL), 2, len(METRICS)), np.nan)
    fates_of = swarm.publish(P_SEL.tolist() * events)
    for number, fates in enumerate(fates_of):
        event, i = divmod(number, len(P_SEL))
        for t in (0, 1):
            fate = fates[swarm.topics[t]]
            outcomes[event, i, t] = (
                fate.reached / sizes[t],
                fate.reached == sizes[t],
                fate.reached / fate.arrived if fate.reached else 0.0,
                fate.last if fate.reached else np.nan,
                fates[swarm.topics[t + 1]].upward,
            )
    return outcomes
