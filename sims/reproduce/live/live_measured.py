"""CAMCAST's measurements (CAMCAST, Section 6.2) on live processes, in the form of the simulated ones.

Setting as in `sims.reproduce.camcast.measured`: 84, 27 and 7 members (79, 28 and 7), c = 0, a = 2, z = 4,
TCP on one machine, no crashes; an event of g for every p_sel, which is part of the event (Section
5.3.2.1). The paper ran 10 times; here every membership carries several events for each p_sel at once.

Readings
--------
- A round is a hop: processes are not synchronised, so an event may arrive first along a longer path, and
  latencies are those of a real network.
- Sixteen members share an operating system process; they communicate over TCP.
- In the quick form only the unstructured membership is measured: with a P-Grid it takes dozens of cycles
  until all tables are filled.
"""

from __future__ import annotations

import pandas as pd

from sims.reproduce.camcast.measured import COLUMNS, KINDS, P_SEL, SETTINGS, metrics
from sims.reproduce.camcast.measured import unit as simulated

PERIOD = 1.5  # seconds
PER_PROCESS = 16  # members: one each would be 118 event loops, which two cores do not serve in time


def unit(how: str, run: int, membership: str, events: int, seed: int) -> pd.DataFrame:
    """A row per event, p_sel and community."""
    if how == "live":
        return _run(membership, events, seed + run)
    return simulated(membership, run, seed)["events"]


def _run(kind: str, events: int, seed: int) -> pd.DataFrame:
    """Outcomes of several events for every p_sel on one membership."""
    from hierarchy.live import MemberSettings
    from hierarchy.membership import ScampSettings
    from sims.live.communities import Communities

    settings = MemberSettings(SETTINGS, ScampSettings(c=0))
    sizes = KINDS[kind][1]
    with Communities(sizes, settings, PERIOD, PER_PROCESS, seed, membership=kind) as swarm:
        swarm.enter()
        swarm.wait_for_tables(most=60.0)
        outcomes = swarm.publish(list(P_SEL) * events)
    rows = []
    for number, counts in enumerate(outcomes):
        event, i = divmod(number, len(P_SEL))
        for t, level in enumerate("ad"):
            own, upward = counts[swarm.topics[t]], counts[swarm.topics[t + 1]].upward
            values = metrics(sizes[t], own.reached, own.arrived, own.last, upward)
            rows.append((event, P_SEL[i], level, *values))
    return pd.DataFrame(rows, columns=COLUMNS)
