"""The notebook runs from the first cell to the chart, and its numbers are those of the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd

ROOT = Path(__file__).parents[3]


def test_the_notebook_goes_from_two_frames_to_a_chart(spark: Any) -> None:
    mpl.use("Agg")
    cells = json.loads((ROOT / "examples" / "rings_of_two_tables.ipynb").read_text())["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    orders = pd.read_csv(ROOT / "sims" / "examples" / "orders" / "orders.csv")
    trades = pd.read_csv(ROOT / "sims" / "examples" / "orders" / "trades.csv")
    matches = [((orders["min_price"] <= x) & (x <= orders["max_price"])).sum() for x in trades["price"]]
    statistics = names["statistics"].set_index("quantity")
    assert statistics.loc["ring length", "count"] == len(trades)
    assert statistics.loc["ring length", "max"] == max(matches)
    assert sum(bar.get_height() for bar in names["axes"].patches) == len(trades)
