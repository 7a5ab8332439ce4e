"""Cycle-driven and event-driven runs of one experiment, side by side.

Not in the paper (Sub-2-Sub), whose evaluation is cycle-driven, as is usual with PeerSim. The same subscribers
and test events are run by the cycle-driven engine, and as whole live nodes under virtual time, on networks
with latencies of up to a tenth of a cycle and up to half a cycle. Event-driven peers need messages to join;
no ring counts as complete before all have joined. The quick form has 100 peers.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from sims.reproduce.claims import Claims, claim
from sims.reproduce.reproduction import Tables

LATENCIES = {"events, up to 0.1 cycles": (0.01, 0.1), "events, up to 0.5 cycles": (0.05, 0.5)}


def unit(curve: str, n: int, cycles: int, events: int, seed: int) -> dict[str, pd.DataFrame]:
    """Rings by cycle, and the last deliveries."""
    from sims.config.experiment import experiment_from
    from sims.live.event_driven import EventDriven
    from sims.runs.runner import simulation_of

    data = {"cycles": cycles, "population": {"size": n}, "workload": {"events": events}}
    if curve in LATENCIES:
        experiment = experiment_from({**data, "engine": "events", "latency": list(LATENCIES[curve])})
        tables = EventDriven(experiment, seed).run()
    else:
        with TemporaryDirectory() as folder:  # for tables that an engine writes as it goes
            simulation = simulation_of(experiment_from(data), seed, Path(folder))
            simulation.overlay.bootstrap()
            simulation.run(cycles)
        tables = dict[str, Any](simulation.tables)
    columns = ["hit_ratio", "spam", "messages_per_delivery", "duplicates_per_delivery", "hops_mean"]
    rings = pd.DataFrame(tables["rings"])[["cycle", "links", "complete"]]
    return {"rings": rings, "deliveries": pd.DataFrame(tables["delivery"][-1:])[columns]}


def judge(tables: Tables) -> Claims:
    """Both ways, all rings are complete in the end, and events reach all their subscribers."""
    hits = tables["deliveries"].set_index("curve").hit_ratio
    for name, curve in tables["rings"].groupby("curve", sort=False):
        complete = float(curve.complete.iloc[-1])
        when = curve.cycle[curve.complete >= 0.99]
        yield claim("rings", complete, complete == 1.0, name=name)
        yield claim("hits", float(hits[name]), float(hits[name]) == 1.0, name=name)
        yield claim("cycles", int(when.iloc[0]) if len(when) else -1, name=name)
