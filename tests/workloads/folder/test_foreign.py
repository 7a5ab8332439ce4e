"""Foreign tables: every format reads alike, and no row disappears without a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet

from sub2sub.errors import InputError
from workloads.folder.foreign import range_tables, read_events, read_subscriptions
from workloads.folder.pieces import EventTable
from workloads.folder.tables import Rows
from workloads.folder.topic_tables import read_tree
from workloads.spec.types import FLOAT

GOOD = pa.table(
    {"x_low": [0.0, 0.5, 2.0], "x_high": [1.0, 0.5, 3.0], "y_low": [1, 2, 3], "y_high": [4, 5, 6]}
)


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "folder", "table", "pandas"])
def test_all_formats_read_alike(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"s.{form}"
    source: object = path
    if form == "csv":
        csv.write_csv(GOOD, path)
    elif form == "parquet":
        parquet.write_table(GOOD, path)
    elif form == "arrow":
        feather.write_feather(GOOD, path)
    elif form == "folder":
        path.mkdir()
        parquet.write_table(GOOD.slice(0, 2), path / "part-0.parquet")
        parquet.write_table(GOOD.slice(2), path / "part-1.parquet")
    else:
        source = GOOD if form == "table" else GOOD.to_pandas()
    names, lows, highs = read_subscriptions(source)  # type: ignore[arg-type]
    assert names == ["x", "y"]
    assert lows.tolist() == [[0.0, 1.0], [0.5, 2.0], [2.0, 3.0]]
    assert highs.tolist() == [[1.0, 4.0], [0.5, 5.0], [3.0, 6.0]]


Ends = list[float]


def set_aside(source: Any, *given: Any, **axes: Any) -> tuple[list[Ends], list[Ends], dict[int, str]]:
    """Lows and highs of the valid rows, and the reasons against the others."""
    table, _ = range_tables(Rows(source), None, *given, **axes)
    ends, against = table.gather()
    return np.stack(ends[::2], axis=1).tolist(), np.stack(ends[1::2], axis=1).tolist(), against


def valid_events(source: Any, columns: list[str]) -> tuple[list[Ends], dict[int, str]]:
    """Points of the valid rows, and the reasons against the others."""
    points, against = EventTable(
        Rows(source), {name: name for name in columns}, dict.fromkeys(columns, FLOAT)
    ).gather()
    return np.stack(points, axis=1).tolist(), against


BAD = pd.DataFrame(
    {
        "min": ["1", "nan", "x", "3", None, "5"],
        "max": ["2", "2", "2", "1", "7", None],
        "city": ["10", "10", "10", "10", "10", "ten"],
    }
)
MAPPING = {"price": ("min", "max"), "city": "city"}


def test_bad_rows_are_set_aside_with_their_number_and_reason() -> None:
    lows, highs, against = set_aside(BAD, MAPPING, axes={"price": (0.0, 99.0)})
    assert lows == [[1.0, 10.0], [0.0, 10.0]]
    assert highs == [[2.0, 10.0], [7.0, 10.0]]
    assert against == {
        1: "price low: expected a finite number, got 'nan'",
        2: "price low: expected a finite number, got 'x'",
        3: "price: low 3.0 > high 1.0",
        5: "city: expected a finite number, got 'ten'",
    }


def test_bad_rows_are_refused_by_default_naming_the_first() -> None:
    with pytest.raises(InputError, match=r"row 1: price low: .*'nan' \(3 more rows"):
        read_subscriptions(BAD, MAPPING)


@given(
    st.lists(
        st.tuples(*[st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))] * 2),
        min_size=1,
        max_size=30,
    )
)
def test_every_row_is_either_used_or_set_aside(pairs: list[tuple[float | None, float | None]]) -> None:
    low, high = (pa.array(ends, pa.float64()) for ends in zip(*pairs, strict=True))
    table = pa.table({"x_low": low, "x_high": high})
    lows, highs, against = set_aside(table)
    assert len(lows) + len(against) == len(pairs)
    assert (np.array(lows) <= np.array(highs)).all()
    assert not np.isnan(lows).any()


def test_events_need_finite_numbers() -> None:
    table = pa.table({"x": [1.0, float("inf"), None, 2.0], "y": [1, 2, 3, 4]})
    points, against = valid_events(table, ["x", "y"])
    assert points == [[1.0, 1.0], [2.0, 4.0]]
    assert list(against) == [1, 2]


def test_missing_columns_and_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'z', expected one of x_low"):
        read_events(GOOD, ["z"])
    with pytest.raises(InputError, match="X_low and X_high"):
        read_subscriptions(pa.table({"a": [1]}))
    with pytest.raises(InputError, match=r"absent\.csv"):
        read_subscriptions(tmp_path / "absent.csv")
    with pytest.raises(InputError, match=r"expected a \.csv"):
        read_subscriptions(tmp_path / "table.xls")


@pytest.mark.parametrize("path", ["a", ".a..b", None])
def test_malformed_topics_are_refused(path: str | None) -> None:
    topics, against = read_tree(pa.table({"topic": [".a", path]}))
    assert topics == [".", ".a"]
    assert against[1].startswith("topic: expected a path such as .a.b, got ")


def test_lines_of_csv_with_too_few_or_too_many_values_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("lo,hi\n1,2\n5\n4,3\n3,4,5\nnan,9\n,9\n1,x\n")
    columns = {"price": ("lo", "hi")}
    with pytest.raises(InputError, match=r"row 1: expected 2 values, got 1 \(4 more rows"):
        read_subscriptions(path, columns)
    lows, highs, against = set_aside(path, columns)
    assert (lows, highs) == ([[1.0], [-np.inf]], [[2.0], [9.0]])
    assert against == {
        1: "expected 2 values, got 1",
        2: "price: low 4.0 > high 3.0",
        3: "expected 2 values, got 3",
        4: "price low: expected a finite number, got 'nan'",
        6: "price high: expected a finite number, got 'x'",
    }


def test_nan_of_a_frame_is_no_open_end_and_none_is() -> None:
    frame = pd.DataFrame({"x_low": [0.0, float("nan"), 1.0], "x_high": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="row 1: x low: expected a finite number, got nan"):
        read_subscriptions(frame)
    mixed = pd.DataFrame({"x_low": pd.array([0.0, None], "Float64"), "x_high": [5.0, 6.0]})
    assert read_subscriptions(mixed)[1].ravel().tolist() == [0.0, -np.inf]
    objects = pd.DataFrame({"x_low": [None, float("nan"), 2], "x_high": [1.0, 2.0, 3.0]}, dtype=object)
    lows, _, against = set_aside(objects)
    assert lows == [[-np.inf], [2.0]]
    assert list(against) == [1]


@pytest.mark.parametrize("form", ["int64", "uint64", "string", "decimal", "csv"])
def test_integers_without_a_float_of_their_own_are_refused(tmp_path: Path, form: str) -> None:
    values = [5, 2**53, 2**53 + 1]
    column = pa.array(values, pa.int64())
    if form == "string":
        column = pa.array([str(value) for value in values])
    elif form == "decimal":
        column = column.cast(pa.decimal128(25, 0))
    elif form == "uint64":
        column = column.cast(pa.uint64())
    source: object = pa.table({"x": column})
    if form == "csv":
        csv.write_csv(source, tmp_path / "t.csv")
        source = tmp_path / "t.csv"
    points, against = valid_events(source, ["x"])
    assert points == [[5.0], [2.0**53]]
    assert against == {2: "x: expected an integer within ±2^53, got 9007199254740993"}


def test_floats_may_be_as_large_as_they_are() -> None:
    assert read_events(pa.table({"x": [1e300, 2.0**60]}), ["x"]).ravel().tolist() == [1e300, 2.0**60]
