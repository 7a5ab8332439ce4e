"""Cycle-driven and event-driven runs of one experiment, side by side.

Not in the paper (Sub-2-Sub), whose evaluation is cycle-driven, as PeerSim's usually are. The same subscribers
and test events, once stepped by the engine, once as whole live nodes under virtual time, on networks whose
messages take up to a tenth of a cycle and up to half a cycle. By events peers join one through another, which
takes messages, too: no ring counts as complete before all have joined. The quick form has 100 peers.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from sims.figures.style import figure, legend_above, line
from sims.reproduce.claims import OURS, Claim, observed, stated
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables

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
    found = {CYCLES: simulation.tables}
    progress(1, 3)
    for number, (name, latency) in enumerate(LATENCIES.items()):
        experiment = experiment_from({**data, "engine": "events", "latency": list(latency)})
        found[name] = EventDriven(experiment, seed).run()
        progress(2 + number, 3)
    rings = [{"curve": name, **row} for name, tables in found.items() for row in tables["rings"]]
    last = [{"curve": name, **tables["delivery"][-1]} for name, tables in found.items()]
    columns = ["curve", "hit_ratio", "spam", "messages_per_delivery", "duplicates_per_delivery", "hops_mean"]
    tables = {
        "rings": pd.DataFrame(rings)[["curve", "cycle", "links", "complete"]],
        "deliveries": pd.DataFrame(last)[columns],
    }
    return Measured(tables, f"{n} peers, {events} events, 1 seed")


def judge(tables: Tables) -> list[Claim]:
    """By events, too, rings are complete in the end and everybody is reached."""
    claims = []
    hits = tables["deliveries"].set_index("curve").hit_ratio
    for name, curve in tables["rings"].groupby("curve", sort=False):
        complete = float(curve.complete.iloc[-1])
        when = curve.cycle[curve.complete >= 0.99]
        claims += [
            stated(f"{name}: share of complete rings in the end", OURS, 1.0, complete, complete == 1.0),
            stated(f"{name}: hit ratio in the end", OURS, 1.0, float(hits[name]), float(hits[name]) == 1.0),
            observed(
                f"{name}: cycles until 99 % of the rings are complete", "not in the paper",
                int(when.iloc[0]) if len(when) else -1,
            ),
        ]  # fmt: skip
    return claims


def draw(tables: Tables) -> Figures:
    """Complete rings by cycle."""
    fig, axes = figure()
    for number, (name, curve) in enumerate(tables["rings"].groupby("curve", sort=False)):
        line(axes, number, curve.cycle, 100 * curve.complete, str(name))
    axes.set(xlabel="cycles", ylabel="complete rings (%)", ylim=(0, 103))
    legend_above(fig, axes, 3)
    return {"": fig}


register(
    "live-events", "One experiment driven by cycles and by events",
    measure=measure, judge=judge, draw=draw,
)  # fmt: skip
