"""What the columns of somebody's table are: ranges, exact values or topics, names.

A range is a pair of columns whose names say so (`min_price` and `max_price`, `x_low` and `x_high`, `south`
and `north`), or two neighbouring columns of numbers of which the first is never greater. Events have a column
of the same name or, failing that, the one of their numbers that lies within the range. Other columns that
events have as well are exact values, such as a topic. A column of texts that differ in all rows names the
subscribers; one whose texts differ in nearly all rows is no exact value, because hardly two would want it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.arrays import Floats
from workloads.cli.own_tables import OwnTable
from workloads.folder.tables import Rows

LOW = ("low", "min", "from", "lower", "start", "oldest")
HIGH = ("high", "max", "to", "upper", "end", "newest")
NAMES = 0.8  # share of different texts from which on they are names
AXES = {("south", "north"): ("latitude", "lat", "y"), ("west", "east"): ("longitude", "lon", "lng", "x")}


@dataclass(frozen=True)
class Inferred:
    """The columns of a table of subscriptions, and of one of events.

    Attributes
    ----------
    own : OwnTable
    lines : list of str
        What was inferred, in words.
    """

    own: OwnTable
    lines: list[str] = field(default_factory=list)


def infer(subscriptions: Path, events: Path | None = None) -> Inferred:
    """Find out what the columns are.

    Raises
    ------
    InputError
        If there is neither a range nor a topic.
    """
    table, published = _columns(subscriptions), _columns(events) if events else {}
    ranges = {pair: _attribute(pair, table, published) for pair in _pairs(table)}
    used = {column for pair in ranges for column in pair}
    columns: dict[str, str | tuple[str, str]] = {name: pair for pair, (name, _) in ranges.items()}
    event_columns = {name: column for name, column in ranges.values() if column and column != name}
    lines = [
        f"{name}: a range from {low} to {high}" + (f"; events have {column}" if column else "")
        for (low, high), (name, column) in ranges.items()
    ]
    key = None
    for column, values in table.items():
        if column in used:
            continue
        if _numbers(values) is None and len(set(values)) > NAMES * len(values):
            key = key or (column if len(set(values)) == len(values) else None)
        elif column in published or (events is None and _is_topic(column, values)):
            columns[column] = column
            lines.append(f"{column}: an exact value, {len(set(values))} different ones")
    if not columns:
        raise InputError(
            f"{subscriptions}: expected two columns with a range, such as min_price and max_price, or a "
            f"topic; got {', '.join(table)}. Name them with --column X=LOW,HIGH"
        )
    lines += [f"{key}: names of the subscribers"] if key else []
    ignored = [column for column in table if column not in used | {key} and column not in columns]
    lines += [f"not used: {', '.join(ignored)}"] if ignored else []
    return Inferred(OwnTable(str(events) if events else None, columns, event_columns, {}, key), lines)


def _columns(path: Path) -> dict[str, list[str]]:
    """The values of all columns of a table as texts, those that are missing as ''."""
    table = Rows(path).table
    texts = {name: table.column(name).cast(pa.string()).to_pylist() for name in table.column_names}
    return {name: [text or "" for text in column] for name, column in texts.items()}


def _pairs(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Columns that are the ends of ranges."""
    named = {}
    for low, high in zip(LOW, HIGH, strict=True):
        for column in table:
            other = re.sub(rf"(?<![a-z]){low}(?![a-z])", high, column, flags=re.IGNORECASE)
            if other != column and other in table:
                named[column] = other
    named |= {low: high for low, high in AXES if low in table and high in table}
    used = {*named, *named.values()}
    rest = [column for column in table if column not in used]
    for first, second in pairwise(rest):
        lows, highs = _numbers(table[first]), _numbers(table[second])
        if lows is not None and highs is not None and _are_ends(lows, highs) and first not in named.values():
            named[first] = second
    return list(named.items())


def _are_ends(lows: Floats, highs: Floats) -> bool:
    return bool((lows < highs).any() and not (lows > highs).any())


def _attribute(
    pair: tuple[str, str], table: dict[str, list[str]], published: dict[str, list[str]]
) -> tuple[str, str]:
    """The name of a range's attribute, and the column of events that has it; '' for none."""
    words = "|".join((*LOW, *HIGH))
    name = re.sub(rf"(?<![a-z])({words})(?![a-z])", "", pair[0], flags=re.IGNORECASE).strip("_-. ")
    names = (*AXES.get(pair, ()), *([name] if name and name != pair[0] else []))
    for each in names:
        if each in published or (not published and names):
            return each, each if published else ""
    low, high = _numbers(table[pair[0]]), _numbers(table[pair[1]])
    if low is None or high is None:
        return names[0] if names else "_".join(pair), ""
    inside = {}
    for column, values in published.items():
        numbers = _numbers(values)
        if numbers is not None and column not in table:
            inside[column] = float(((numbers >= np.nanmin(low)) & (numbers <= np.nanmax(high))).mean())
    best = max(inside, key=lambda column: inside[column], default="")
    return best or (names[0] if names else "_".join(pair)), best


def _numbers(values: list[str]) -> Floats | None:
    """A column as numbers, NaN where it is empty; None if it has other texts."""
    try:
        return np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        return None


def _is_topic(column: str, values: list[str]) -> bool:
    """Whether a column of subscriptions looks like a topic: the same few texts again and again."""
    return _numbers(values) is None and 1 < len(set(values)) <= len(values) / 3
