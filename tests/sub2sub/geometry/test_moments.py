"""Timestamps and dates: order and equality of coordinates are those of the moments; nothing is rounded."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sub2sub import AttributeSpace, Date, InputError, Timestamp

MOMENTS = st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1))


def places(kind: Timestamp | Date, *values: Any) -> tuple[list[float], list[bool]]:
    found, valid = kind.coordinates(np.array(values, object), named=True)
    return found.tolist(), valid.tolist()


@given(MOMENTS, MOMENTS)
def test_coordinates_compare_as_the_moments_do(one: datetime, other: datetime) -> None:
    (a, b), valid = places(Timestamp(), one, other.isoformat())
    assert all(valid)
    assert (a < b, a == b) == (one < other, one == other)
    (a, b), valid = places(Date(), one.date(), other.date().isoformat())
    assert all(valid)
    assert (a < b, a == b) == (one.date() < other.date(), one.date() == other.date())


@given(MOMENTS)
def test_numpy_pandas_text_and_objects_have_one_coordinate(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    elsewhere = aware.astimezone(timezone(timedelta(hours=5)))
    forms = [moment, aware, elsewhere, moment.isoformat(), np.datetime64(moment, "us"), pd.Timestamp(moment)]
    found, valid = places(Timestamp(), *forms)
    assert all(valid)
    assert len(set(found)) == 1
    assert Timestamp().coordinates(np.array([moment], "datetime64[us]"), named=False)[0][0] == found[0]


def test_what_would_be_rounded_or_is_no_moment_has_no_coordinate() -> None:
    finer = pd.Timestamp("2026-01-01T00:00:00.000000001")
    assert places(Timestamp(), finer, pd.NaT, date(2026, 1, 1), 5, "today")[1] == [False] * 5
    assert places(Date(), datetime(2026, 1, 1), pd.NaT, 5, "2026-02-30")[1] == [False] * 4
    column = np.array(["2026-01-01", "NaT", "2026-01-01T00:00:00.000000001"], "datetime64[ns]")
    assert Timestamp().coordinates(column, named=False)[1].tolist() == [True, False, False]
    assert Date().coordinates(column, named=False)[1].tolist() == [True, False, False]


def test_a_space_takes_them_with_bounds() -> None:
    space = AttributeSpace({"when": Timestamp("2026-01-01", "2026-12-31"), "due": date})
    lows, highs = space.subscriptions([{"when": ("2026-06-01", None)}, {"due": date(2026, 5, 1)}])
    event = space.events([{"when": datetime(2026, 7, 1), "due": date(2026, 5, 1)}])
    assert ((lows <= event) & (event <= highs)).all()
    with pytest.raises(InputError, match=r"row 0, attribute 'when': expected a moment .* from 2026-01-01"):
        space.events([{"when": datetime(2027, 7, 1), "due": date(2026, 5, 1)}])
    with pytest.raises(InputError, match="Date: expected low <= high"):
        Date("2026-05-02", "2026-05-01")
