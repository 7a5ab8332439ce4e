"""CAMCAST's measurements (003, Section 6.2) on live processes, in the form of the simulated ones.

Setting as in `sims.experiments.camcast.measured`: 84, 27 and 7 processes, c = 0, a = 2, z = 4, TCP on one
machine, nobody crashes; an event of g for every p_sel, which travels with the event (Section 5.3.2.1).
The paper ran 10 times; here every membership carries several events for each p_sel at once.

Readings
--------
- A round is a hop: nothing makes processes forward in step, so an event may come first by a longer way, and
  latencies are those of a real network.
- In the quick form members share operating system processes, sixteen to one.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from sims.experiments.camcast.measured import KINDS, METRICS, P_SEL, SETTINGS
from sims.experiments.registry import Progress

__all__ = ["LIVE", "measure_live"]

LIVE = ("unstructured", "semi-structured", "structured")
PERIOD = 2.0  # seconds
Curves = NDArray[np.float64]
_measured: dict[tuple[bool, int], dict[str, Curves]] = {}  # ten figures share one measurement


def measure_live(quick: bool, seed: int, progress: Progress) -> dict[str, Curves]:
    """Means of live runs by membership, (p_sel, topics a and d, metrics); once for each quick and seed."""
    if (quick, seed) not in _measured:
        runs, events = (1, 3) if quick else (5, 10)
        found = {}
        for place, kind in enumerate(LIVE):
            outcomes = []
            for run in range(runs):
                outcomes.append(_run(kind, events, seed + run, 16 if quick else 1))
                progress(place * runs + run + 1, len(LIVE) * runs)
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", RuntimeWarning
                )  # of what never arrives there is no mean latency
                found[kind] = np.nanmean(np.concatenate(outcomes), axis=0)
        _measured[quick, seed] = found
    return _measured[quick, seed]


def _run(kind: str, events: int, seed: int, per_process: int) -> Curves:
    """Outcomes of several events for every p_sel on one membership: (events, p_sel, a and d, metrics)."""
    from hierarchy.live import MemberSettings
    from hierarchy.membership import ScampSettings
    from sims.live.communities import Communities

    sizes = KINDS[kind][1]
    settings = MemberSettings(SETTINGS, ScampSettings(c=0))
    outcomes = np.full((events, len(P_SEL), 2, len(METRICS)), np.nan)
    with Communities(sizes, settings, PERIOD, per_process, seed, kind) as swarm:
        swarm.enter()
        swarm.settle(most=60.0)
        for event in range(events):
            for i, fates in enumerate(swarm.publish(P_SEL.tolist())):
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
