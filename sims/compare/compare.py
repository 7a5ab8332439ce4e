"""A comparison from its plan to its folder."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from sims.compare.markdown import markdown
from sims.compare.plan import Plan
from sims.compare.run import run_units
from sims.compare.table import cells, gather
from sims.runs.folder import RunWriter

__all__ = ["compare"]


def compare(
    plan: Plan, writer: RunWriter, processes: int, master: str | None, progress: Callable[[int, int], None]
) -> pd.DataFrame:
    """Run what is missing of a plan, and write tables, figures, page and findings."""
    units = plan.units()
    folder = writer.path / "units"
    run_units(units, folder, processes, master, progress)
    table = cells(gather(units, folder))
    writer.write_table("compare", {name: table[name].to_numpy() for name in table})
    writer.write_text("compare.csv", table.to_csv(index=False, float_format="%.6g"))
    writer.write_text("compare.md", markdown(table, plan))
    return table
