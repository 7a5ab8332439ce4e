"""Latencies between regions, read from a CSV file.

    region,share,Frankfurt,Tokyo
    Frankfurt,3,1.0,115.0
    Tokyo,1,115.0,1.0

Values are milliseconds one way, from the region of the row to the region of the column. Rows are in the order
of the columns. Hosts are distributed over the regions in proportion to `share`; without this column, all
regions have equal shares.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError


class NetworkRegions(NamedTuple):
    """Regions, the share of hosts in each, and milliseconds from one to another."""

    names: tuple[str, ...]
    share: NDArray[np.float64]
    ms: NDArray[np.float64]


def read_regions(path: str | Path) -> NetworkRegions:
    """Read a file of regions.

    Raises
    ------
    InputError
        If the file cannot be used; with the row and what was expected.

    Examples
    --------
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "regions.csv")
    ...     _ = open(path, "w").write("region,east,west\\neast,1,40\\nwest,40,2\\n")
    ...     found = read_regions(path)
    >>> found.names, found.ms[0].tolist(), found.share.tolist()
    (('east', 'west'), [1.0, 40.0], [0.5, 0.5])
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"network.regions: expected a CSV file, {path}: {error}") from None
    if not lines:
        raise InputError(f"network.regions: expected a line with the names of regions, {path} is empty")
    shares = [name.strip() for name in lines[0][1:2]] == ["share"]
    names = tuple(name.strip() for name in lines[0][1 + shares :])
    if not names or len(set(names)) < len(names):
        raise InputError(f"network.regions: expected names of regions, all different, got {lines[0]}")
    if [row[0].strip() for row in lines[1:]] != list(names):
        raise InputError(f"network.regions: expected rows {', '.join(names)} in this order in {path}")
    values = np.array([_numbers(row, len(names) + shares, names[k]) for k, row in enumerate(lines[1:])])
    share = values[:, 0] if shares else np.ones(len(names))
    if not share.sum() > 0:
        raise InputError("network.regions: expected a share above 0 for at least one region")
    return NetworkRegions(names, share / share.sum(), np.ascontiguousarray(values[:, int(shares) :]))


def _numbers(row: list[str], count: int, name: str) -> list[float]:
    try:
        found = [float(text) for text in row[1:]]
    except ValueError:
        found = []
    if len(found) != count or not all(0 <= value < float("inf") for value in found):
        raise InputError(
            f"network.regions row {name}: expected {count} numbers of at least 0, got {', '.join(row[1:])}"
        )
    return found
