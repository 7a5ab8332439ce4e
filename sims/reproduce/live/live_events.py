"""Cycle-driven and event-driven runs of one experiment, side by side.

Not in the paper (Sub-2-Sub), whose evaluation is cycle-driven, as is usual with PeerSim. The same subscribers
and test events are run by the cycle-driven engine, and as whole live nodes under virtual time, on networks
with latencies of up to a tenth of a cycle and up to half a cycle. Event-driven peers need messages to join;
no ring counts as complete before all have joined. The quick form has 100 peers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from sims.figures.style import figure, legend_above, line
from sims.reproduce.claims import OURS, Claims, observed, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked

CYCLES = "cycles"
LATENCIES = {"events, up to 0.1 cycles": (0.01, 0.1), "events, up to 0.5 cycles": (0.05, 0.5)}


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Run the experiment by cycles, then by events."""
    from sims.config.experiment import experiment_from
    from sims.live.event_driven import EventDriven
    from sims.runs.runner import simulation_of

    n, cycles, events = (100, 20, 50) if quick else (1000, 30, 100)
    data = {"cycles": cycles, "population": {"size": n}, "workload": {"events": events}}
    with TemporaryDirectory() as folder:  # for tables that an engine writes as it goes
        simulation = simulation_of(experiment_from(data), seed, Path(folder))
        simulation.overlay.bootstrap()
        simulation.run(cycles)
    found: dict[str, Mapping[str, list[dict[str, Any]]]] = {CYCLES: simulation.tables}
    for name, latency in tracked(LATENCIES.items(), progress):
        experiment = experiment_from({**data, "engine": "events", "latency": list(latency)})
        found[name] = EventDriven(experiment, seed).run()
    rings = [{"curve": name, **row} for name, tables in found.items() for row in tables["rings"]]
    last = [{"curve": name, **tables["delivery"][-1]} for name, tables in found.items()]
    columns = ["curve", "hit_ratio", "spam", "messages_per_delivery", "duplicates_per_delivery", "hops_mean"]
    links = pd.DataFrame(rings)[["curve", "cycle", "links", "complete"]]
    scale = f"{n} peers, {events} events, 1 seed"
    return measurement(scale, rings=links, deliveries=pd.DataFrame(last)[columns])


def judge(tables: Tables) -> Claims:
    """Both ways, all rings are complete in the end, and events reach all their subscribers."""
    hits = tables["deliveries"].set_index("curve").hit_ratio
    for name, curve in tables["rings"].groupby("curve", sort=False):
        complete = float(curve.complete.iloc[-1])
        when = curve.cycle[curve.complete >= 0.99]
        yield stated(f"{name}: share of complete rings in the end", OURS, 1.0, complete, complete == 1.0)
        yield stated(f"{name}: hit ratio in the end", OURS, 1.0, float(hits[name]), float(hits[name]) == 1.0)
        yield observed(
            f"{name}: cycles until 99 % of the rings are complete", int(when.iloc[0]) if len(when) else -1
        )


def draw(tables: Tables) -> Figures:
    """Complete rings by cycle."""
    fig, axes = figure()
    for number, (name, curve) in enumerate(tables["rings"].groupby("curve", sort=False)):
        line(axes, number, curve.cycle, 100 * curve.complete, str(name))
    axes.set(xlabel="cycles", ylabel="complete rings (%)", ylim=(0, 103))
    return {"": legend_above(fig, axes, 3)}


register("live-events", "One experiment driven by cycles and by events", measure, judge, draw)
