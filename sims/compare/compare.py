"""A comparison from its plan to its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import tomlkit

from sims.compare.figures import figures
from sims.compare.findings import findings
from sims.compare.markdown import headline
from sims.compare.plan import Plan
from sims.compare.run import run_units
from sims.compare.summary import facts
from sims.compare.table import cells, gather
from sims.compare.worlds import Rule, world_options
from sims.compare.worlds.ranges import BITS, rounding_effect
from sims.runs.folder import RunWriter
from workloads.spark.tasks import Spark
from workloads.spec.table_files import is_stored


def _roundings(plan: Plan) -> list[str]:
    """The effect of rounding on the ranges of tables; generated worlds are not mentioned."""
    found = []
    for world in plan.worlds:
        workload, options = world_options(world.partition(" ")[2])
        if world.startswith("ranges ") and is_stored(Path(workload)):
            n = 0 if options.get("rows") == "all" else plan.subscribers
            found.append(rounding_effect(workload, n, plan.seed, int(options.get("bits", BITS))))
    return found


def compare(
    plan: Plan,
    writer: RunWriter,
    processes: int,
    spark: Spark,
    progress: Callable[[int, int], None],
    first: Callable[[pd.DataFrame], str] | None = None,
) -> tuple[list[str], list[dict[str, Any]]]:
    """Run the missing units of a plan; write tables and figures; return findings and numbers.

    `first` says in a sentence what stands before the findings.
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
    sentences = [*([first(table)] if first else []), *findings(table), *_roundings(plan)]
    writer.write_text("headline.md", headline(table, plan) + "\n")
    writer.write_text("finding.txt", "\n".join(sentences) + "\n")
    for name, figure in figures(table):
        writer.write_figure(name, figure)
    return sentences, facts(table)
