"""CAMCAST's measurements (CAMCAST, Section 6.2) on live processes, in the form of the simulated ones.

Setting as in `sims.reproduce.camcast.measured`: 84, 27 and 7 members (79, 28 and 7), c = 0, a = 2, z = 4,
TCP on one machine, nobody crashes; an event of g for every p_sel, which travels with the event (Section
5.3.2.1). The paper ran 10 times; here every membership carries several events for each p_sel at once.

Readings
--------
- A round is a hop: nothing makes processes forward in step, so an event may come first by a longer way, and
  latencies are those of a real network.
- Members share operating system processes, sixteen to one; they talk over TCP all the same.
- In the quick form only the unstructured membership is measured: tables from a P-Grid need dozens of cycles
  until all are announced and found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sims.reproduce.camcast.measured import KINDS, METRICS, P_SEL, SETTINGS, measure
from sims.reproduce.reproduction import Measured, Progress

if TYPE_CHECKING:
    from sims.live.communities import Communities

LIVE = ("unstructured", "semi-structured", "structured")
QUICK = ("unstructured",)
PERIOD = 1.5  # seconds
PER_PROCESS = 16  # members: one each would be 118 event loops, which two cores do not serve in time


def measure_live(quick: bool, seed: int, progress: Progress) -> Measured:
    """Live and simulated runs: a row per event, p_sel and community, marked with what carried it."""
    runs, events = (1, 3) if quick else (2, 10)
    kinds = QUICK if quick else LIVE
    frames = []
    for run in range(runs):
        for kind in kinds:
            frames.append(_run(kind, events, seed + run).assign(membership=kind, run=run, how="live"))
        progress(run + 1, runs + 1)
    simulated = measure(quick, seed, lambda done, total: None).tables["events"]
    frames.append(simulated[simulated.membership.isin(kinds)].assign(how="simulated"))
    progress(runs + 1, runs + 1)
    scale = f"118 and 114 live members, {runs} memberships of each kind, {events} events for each p_sel"
    return Measured({"events": pd.concat(frames, ignore_index=True)}, scale)


def _run(kind: str, events: int, seed: int) -> pd.DataFrame:
    """Outcomes of several events for every p_sel on one membership."""
    from hierarchy.live import MemberSettings
    from hierarchy.membership import ScampSettings
    from sims.live.communities import Communities

    settings = MemberSettings(SETTINGS, ScampSettings(c=0))
    sizes = KINDS[kind][1]
    with Communities(sizes, settings, PERIOD, PER_PROCESS, seed, membership=kind) as swarm:
        swarm.found()
        swarm.enter()
        swarm.wait_for_tables(most=60.0)
        return _outcomes(swarm, sizes, events)


def _outcomes(swarm: Communities, sizes: Sequence[int], events: int) -> pd.DataFrame:
    rows = []
    for number, fates in enumerate(swarm.publish(list(P_SEL) * events)):
        event, i = divmod(number, len(P_SEL))
        for t, level in enumerate("ad"):
            fate = fates[swarm.topics[t]]
            useful = fate.reached / fate.arrived if fate.reached else 0.0
            last = float(fate.last) if fate.reached else np.nan
            upward = fates[swarm.topics[t + 1]].upward
            values = (fate.reached / sizes[t], float(fate.reached == sizes[t]), useful, last, upward)
            rows.append((event, P_SEL[i], level, *values))
    return pd.DataFrame(rows, columns=["event", "p_sel", "community", *METRICS])
