"""The final numbers of a run: the last rows of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]

_DELIVERY = (
    "hit_ratio", "complete", "messages_per_event", "messages_per_delivery", "duplicates_per_delivery", "spam",
    "hops_mean", "hops_max", "ms_median", "ms_p99", "ms_max", "last_ms_median", "last_ms_p99", "last_ms_max",
)  # fmt: skip
# The columns of the last row of each table that are final numbers, and the names of these.
_LAST = {
    "rings": {"complete": "rings_complete", "links": "ring_links"},
    "delivery": {name: "deliveries_complete" if name == "complete" else name for name in _DELIVERY},
}


def final_numbers(tables: Mapping[str, Rows]) -> dict[str, float]:
    """Return the final numbers of a run from `Simulation.tables`; which ones depends on its observers.

    Examples
    --------
    >>> rings = [{"cycle": c, "complete": x, "links": 1.0} for c, x in enumerate([0.0, 1.0, 0.5, 1.0, 1.0])]
    >>> traffic = [{"cycle": 4, "layer": "ring", "peers": 9, "messages": 20, "bytes": 600}]
    >>> final_numbers({"rings": rings, "traffic": traffic})["complete_since_cycle"]
    3
    """
    found: dict[str, float] = {}
    for table, columns in _LAST.items():
        if tables.get(table):
            last = tables[table][-1]
            found |= {name: last[column] for column, name in columns.items() if column in last}
    if tables.get("rings"):
        found["complete_since_cycle"] = _complete_since(tables["rings"])
    for table, rows in tables.items():
        if table.endswith("-degrees") and rows:
            found[f"{table.removesuffix('-degrees')}_links_per_peer"] = rows[-1]["mean"]
    traffic = tables.get("traffic") or ()
    last_cycle = [row for row in traffic if row["cycle"] == traffic[-1]["cycle"]]
    for column in ("messages", "bytes") if traffic else ():
        found[f"{column}_per_peer_and_cycle"] = sum(row[column] / max(row["peers"], 1) for row in last_cycle)
    return found


def _complete_since(rows: Rows) -> int:
    """Return the first observed cycle from which on all rings are complete; -1 if they are not at the end."""
    first = -1
    for row in reversed(rows):
        if row["complete"] < 1.0:
            break
        first = row["cycle"]
    return int(first)
