"""A comparison from its plan to its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import tomlkit

from sims.advice.advise import RINGS, advice
from sims.compare.figures import figures
from sims.compare.findings import findings
from sims.compare.markdown import headline
from sims.compare.plan import Plan
from sims.compare.run import run_units
from sims.compare.summary import facts, systems_in
from sims.compare.table import cells, gather
from sims.compare.worlds import Rule, world_options
from sims.compare.worlds.ranges import BITS, rounding_effect
from sims.runs.folder import RunWriter
from workloads.spark.tasks import Spark
from workloads.spec.table_files import is_stored


def _on_own_tables(plan: Plan, table: pd.DataFrame, rate: float) -> list[str]:
    """The effect of rounding on the ranges of tables, then what to choose for them."""
    roundings, answers = [], []
    for world in plan.worlds:
        workload, options = world_options(world.partition(" ")[2])
        if world.startswith("ranges ") and is_stored(Path(workload)):
            n = 0 if options.get("rows") == "all" else plan.subscribers
            roundings.append(rounding_effect(workload, n, plan.seed, int(options.get("bits", BITS))))
            systems = systems_in(table, world)
            if plan.network and RINGS in systems and len(systems) > 1:  # hops take no seconds
                answers.append(advice(table, world, rate))
    return [*roundings, *answers]


def compare(
    plan: Plan,
    writer: RunWriter,
    processes: int,
    spark: Spark,
    progress: Callable[[int, int], None],
    rate: float = 1.0,
) -> tuple[list[str], list[dict[str, Any]]]:
    """Run the missing units of a plan; write tables and figures; return findings and numbers.

    Those on tables end with what costs least at a rate of events per second.
    """
    units = plan.units()
    writer.write_settings(
        tomlkit.dumps(
            {
                "title": "What a topic costs, what a range costs",
                "compare": {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(plan).items()},
            }
        )
    )
    folder = writer.path / "units"
    reasons = run_units(units, folder, processes, spark, progress)
    table = cells(gather(units, folder, reasons))
    table.attrs["rule"] = Rule.of(plan.rule)
    writer.write_table("compare", {name: table[name].to_numpy() for name in table})
    sentences = [*findings(table), *_on_own_tables(plan, table, rate)]
    writer.write_text("headline.md", headline(table, plan) + "\n")
    writer.write_text("finding.txt", "\n".join(sentences) + "\n")
    for name, figure in figures(table):
        writer.write_figure(name, figure)
    return sentences, facts(table)
