"""Attributes of every type keep their order on the axis, and predicates become the right ranges."""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sub2sub import AttributeSpace, Bool, Enum, Float, InputError, Int, String, match
from sub2sub.geometry.boxes import EXACT, LARGEST, TOP


class Level(enum.Enum):
    LOW = "l"
    HIGH = "h"


def matches(attribute: Any, predicate: Any, value: Any) -> bool:
    """Whether an event's value satisfies a predicate, computed by `AttributeSpace` and `match`."""
    space = AttributeSpace({"x": attribute})
    lows, highs = space.subscriptions([{"x": predicate}])
    return bool(len(match(lows, highs, space.events([{"x": value}])).members))


numbers = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != TOP)
whole = st.one_of(st.integers(-3, 3), st.integers(-EXACT, EXACT), st.sampled_from([-EXACT, EXACT, EXACT - 1]))
short = st.text(st.characters(codec="utf-8"), max_size=2).filter(lambda text: len(text.encode()) <= 6)
texts = st.one_of(short, st.text("ab\0é\U0001f600", max_size=9))
words = ["ape", "b", "ba", "bab", "zoo", "zoologist", "é"]


@pytest.mark.parametrize(
    ("attribute", "named", "values"),
    [
        (Float(), numbers, numbers),
        (Int(), whole, whole),
        (Bool(), st.booleans(), st.booleans()),
        (Enum([3, 1, 2]), st.sampled_from([3, 1, 2]), st.sampled_from([3, 1, 2])),
        (String(), short, texts),
        (String(words), st.sampled_from(words), st.one_of(st.sampled_from(words), texts)),
    ],
    ids=["float", "int", "bool", "enum", "string", "vocabulary"],
)
@given(data=st.data())
def test_predicates_mean_on_the_axis_what_they_mean_on_values(
    attribute: Any, named: st.SearchStrategy[Any], values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    order = attribute.values.index if isinstance(attribute, Enum) else lambda value: value
    low, high = sorted((data.draw(named), data.draw(named)), key=order)
    value = data.draw(st.one_of(values, st.sampled_from([low, high])))
    assert matches(attribute, low, value) == (order(low) == order(value))
    assert matches(attribute, (low, high), value) == (order(low) <= order(value) <= order(high))
    assert matches(attribute, (low, None), value) == (order(low) <= order(value))
    assert matches(attribute, (-math.inf, high), value) == (order(value) <= order(high))
    assert matches(attribute, None, value)


def test_strings_that_share_six_bytes_stay_apart_from_the_string_of_six() -> None:
    assert not matches(String(), "abcdef", "abcdefg")
    assert matches(String(), ("abcdef", "abcdeg"), "abcdefg")
    assert not matches(String(), ("abcde", "abcdef"), "abcdefg")


def test_all_types_at_once_in_the_order_of_the_axes() -> None:
    space = AttributeSpace(
        {"price": Float(0, 100), "size": int, "live": bool, "level": Level, "tag": String(["a", "b"])}
    )
    assert space.names == ("price", "size", "live", "level", "tag")
    lows, highs = space.subscriptions(
        [{"price": (10, 20), "level": Level.HIGH}, {"size": 7, "live": True, "tag": ("a", "b")}, {}]
    )
    assert lows.tolist() == [[10, -EXACT, 0, 1, 0], [0, 7, 1, 0, 1], space.bounds.lows.tolist()]
    assert highs.tolist() == [[20, EXACT, 1, 1, 4], [100, 7, 1, 1, 3], space.bounds.highs.tolist()]
    event = {"price": 15.5, "size": 7, "live": True, "level": Level.HIGH, "tag": "aa"}
    assert space.events([event]).tolist() == [[15.5, 7, 1, 1, 2]]


def test_wildcards_are_finite_on_every_type() -> None:
    space = AttributeSpace({"a": float, "b": int, "c": bool, "d": ["x"], "e": str})
    lows, highs = space.subscriptions([{}])
    assert np.isfinite(lows).all()
    assert np.isfinite(highs).all()
    assert (lows[0, 0], highs[0, 0]) == (-LARGEST, LARGEST)


def test_ranges_are_cut_off_at_declared_bounds() -> None:
    lows, highs = AttributeSpace({"x": Float(0, 1)}).subscriptions([{"x": (-5, 0.5)}, {"x": (0.5, math.inf)}])
    assert (lows.ravel().tolist(), highs.ravel().tolist()) == ([0, 0.5], [0.5, 1])


TABLE = {
    "price_low": np.array([1.0, -np.inf]),
    "price_high": np.array([2.0, 5.0]),
    "size_low": np.array([3, 4]),
    "live": np.array([True, False]),
    "tag": np.array(["a", "b"]),
}
ROWS = [
    {"price": (1.0, 2.0), "size": (3, None), "live": True, "tag": "a"},
    {"price": (None, 5.0), "size": (4, None), "live": False, "tag": "b"},
]


@pytest.mark.parametrize(
    "table", [TABLE, pd.DataFrame(TABLE), pa.table(TABLE)], ids=["arrays", "pandas", "arrow"]
)
def test_a_table_says_the_same_as_rows(table: Any) -> None:
    space = AttributeSpace({"price": float, "size": int, "live": bool, "tag": str, "other": ["x", "y"]})
    by_row, by_column = space.subscriptions(ROWS), space.subscriptions(table)
    assert by_row.lows.tolist() == by_column.lows.tolist()
    assert by_row.highs.tolist() == by_column.highs.tolist()


def test_events_come_as_rows_or_columns() -> None:
    space = AttributeSpace({"x": int, "on": bool})
    rows = space.events([{"on": True, "x": 4}, {"x": 5.0, "on": False}])
    columns = space.events({"on": np.array([True, False]), "x": np.array([4, 5])})
    assert rows.tolist() == columns.tolist() == [[4, 1], [5, 0]]
    assert space.events([]).shape == (0, 2)
    assert space.subscriptions([]).lows.shape == (0, 2)


SPACE = AttributeSpace(
    {
        "price": Float(0, 10),
        "size": int,
        "live": bool,
        "level": ["lo", "hi"],
        "tag": str,
        "word": String(words),
    }
)


@pytest.mark.parametrize(
    ("predicates", "message"),
    [
        (
            {"price": math.nan},
            r"row 1, attribute 'price': expected a finite number from 0 to 10 .*, got nan$",
        ),
        ({"price": (2, 1)}, r"row 1, attribute 'price': expected low <= high, got \(2, 1\)$"),
        ({"price": (11, 12)}, r"row 1, attribute 'price': .* from 0 to 10 .*, got \(11, 12\)$"),
        ({"price": (math.inf, None)}, r"row 1, attribute 'price': .*, got inf$"),
        ({"price": "1"}, r"row 1, attribute 'price': .*, got '1'$"),
        ({"price": True}, r"row 1, attribute 'price': .*, got True$"),
        ({"price": (1, 2, 3)}, r"row 1, attribute 'price': expected a pair \(low, high\), got \(1, 2, 3\)$"),
        (
            {"size": 2**53 + 1},
            r"row 1, attribute 'size': expected an integer within ±2\^53, got 9007199254740993$",
        ),
        ({"size": (0, 2**70)}, r"row 1, attribute 'size': expected an integer within ±2\^53, got 1180591"),
        ({"size": 2.5}, r"row 1, attribute 'size': expected an integer within ±2\^53, got 2.5$"),
        ({"live": 1}, r"row 1, attribute 'live': expected True or False, got 1$"),
        ({"level": "mid"}, r"row 1, attribute 'level': expected one of 'lo', 'hi', got 'mid'$"),
        ({"level": ("hi", "lo")}, r"row 1, attribute 'level': expected low <= high, got \('hi', 'lo'\)$"),
        ({"level": {}}, r"row 1, attribute 'level': expected one of 'lo', 'hi', got \{\}$"),
        ({"tag": "seven b"}, r"row 1, attribute 'tag': .* at most 6 bytes .*, got 'seven b'$"),
        ({"word": "bee"}, r"row 1, attribute 'word': .* vocabulary of 7, got 'bee'$"),
        ({"prize": 1}, r"row 1: attribute 'prize' is not in the space: did you mean 'price'\?$"),
        (7, r"row 1: expected a mapping of attributes, got int$"),
    ],
)
def test_predicates_that_make_no_sense_are_refused_with_their_row(predicates: Any, message: str) -> None:
    with pytest.raises(InputError, match="^subscriptions " + message):
        SPACE.subscriptions([{}, predicates])


EVENT = {"price": 1.0, "size": 1, "live": True, "level": "lo", "tag": "t", "word": "w"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"price": 10.5}, r"row 1, attribute 'price': expected a finite number from 0 to 10 .*, got 10.5$"),
        ({"price": math.inf}, r"row 1, attribute 'price': .*, got inf$"),
        ({"size": None}, r"row 1, attribute 'size': expected an integer within ±2\^53, got None$"),
        ({"level": "mid"}, r"row 1, attribute 'level': expected one of 'lo', 'hi', got 'mid'$"),
        ({"tag": 5}, r"row 1, attribute 'tag': expected a string.*, got 5$"),
        ({"colour": "red"}, r"row 1: attribute 'colour' is not in the space: known are price, size,"),
    ],
)
def test_events_need_a_value_of_the_right_type_for_every_attribute(change: Any, message: str) -> None:
    with pytest.raises(InputError, match="^events " + message):
        SPACE.events([EVENT, {**EVENT, **change}])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"price": (1, 2)}, r"expected a list of rows or columns that are arrays, 'price' is a tuple$"),
        (
            {"price": np.zeros(2), "size": np.zeros(3)},
            r"expected columns of one length, 'size' has shape \(3,\)$",
        ),
        (
            {"price": np.zeros(2), "price_low": np.zeros(2)},
            r"expected a column 'price' or columns .*, got both$",
        ),
        ({"prices": np.zeros(2)}, r"column 'prices' is not in the space: did you mean 'price'\?$"),
        ({"price": np.array([1.0, np.nan])}, None),
        ({}, r"expected at least one column$"),
    ],
)
def test_tables_that_make_no_sense_are_refused(table: Any, message: str | None) -> None:
    wanted = (
        f"^subscriptions: {message}" if message else r"^subscriptions row 1, attribute 'price': .*, got nan$"
    )
    with pytest.raises(InputError, match=wanted):
        SPACE.subscriptions(table)


def test_a_table_of_events_needs_every_column() -> None:
    with pytest.raises(InputError, match=r"^events: expected a column 'size', got price$"):
        SPACE.events({"price": np.zeros(1)})


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, r"^attributes: expected 1 to 16, got 0$"),
        ({str(i): float for i in range(17)}, r"^attributes: expected 1 to 16, got 17$"),
        (
            {"a": "float"},
            r"^attribute 'a': expected Float, Int, Bool, Enum, String, Timestamp or Date, got 'float'$",
        ),
        ({"": float}, r"^attribute '': expected a name$"),
        ({"a": float, "a_low": int}, r"^attribute 'a': expected no attribute named a_low or a_high"),
        ({"a": []}, r"^Enum: expected at least one value and no two equal, got \[\]$"),
        ({"a": ["x", "x"]}, r"^Enum: expected at least one value and no two equal"),
        ({"a": [None]}, r"^Enum: expected values other than None"),
    ],
)
def test_spaces_that_make_no_sense_are_refused(attributes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        AttributeSpace(attributes)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: Float(1, 0),
        lambda: Float(0, math.inf),
        lambda: Float(math.nan, 1),
        lambda: Int(0, 2**53 + 1),
        lambda: String("word"),
        lambda: String(["a", 1]),
    ],
)
def test_attributes_that_make_no_sense_are_refused(declare: Any) -> None:
    with pytest.raises(InputError, match=r"^(Float|Int|String): expected "):
        declare()
