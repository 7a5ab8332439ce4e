"""A user's first program: subscriptions, an overlay, events, and which subscriptions received them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sub2sub import AttributeSpace, Float, InputError, Int, Overlay, OverlaySettings, Population, match
from sub2sub.tables import Table


def _ranges(n: int = 150, d: int = 2, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    low = np.random.default_rng(seed).random((n, d)) * 0.7
    return low, low + 0.3


def test_who_received_what_are_the_rows_that_were_given() -> None:
    lows, highs = _ranges()
    events = np.random.default_rng(2).random((40, 2))
    published = Overlay.of(lows, highs, seed=1).run(30).publish(events)
    members = match(lows, highs, events)
    wanted = {(e, int(row)) for e in range(40) for row in members.of(e)}
    received = published.received.to_pandas()
    assert set(zip(received.event, received.subscription, strict=True)) == wanted
    assert published.missed.rows == 0
    assert published.events.to_pandas().matches.sum() == len(wanted)


def test_what_crashed_peers_keep_from_others_is_missed_and_named() -> None:
    lows, highs = _ranges()
    overlay = Overlay.of(lows, highs, seed=1, settings=OverlaySettings.paper()).run(30)
    overlay.network.alive[np.random.default_rng(1).permutation(150)[:75]] = 0
    published = overlay.publish(np.random.default_rng(2).random((60, 2)))
    per_event = published.events.to_pandas()
    missed = published.missed.to_pandas().groupby("event").size().reindex(per_event.event, fill_value=0)
    assert missed.sum() > 0
    assert (missed.to_numpy() == (per_event.matches - per_event.delivered).to_numpy()).all()


@pytest.mark.parametrize("table", [pd.DataFrame, pa.table])
def test_named_and_typed_columns_come_back_by_their_names(table: Any) -> None:
    space = AttributeSpace({"price": Float(0, 100), "lots": Int(1, 10), "side": ["buy", "sell"]})
    rng = np.random.default_rng(1)
    low = rng.random(60) * 50
    wanted = table({"price_low": low, "price_high": low + 50.0, "side": ["buy", "sell"] * 30})
    events = table({"price": rng.random(20) * 100, "lots": rng.integers(1, 11, 20), "side": ["sell"] * 20})
    published = Overlay.of(wanted, space=space, seed=1).run(25).publish(events)
    found = published.events.to_pandas()
    assert list(found.columns[:4]) == ["event", "price", "lots", "side"]
    assert set(found.side) == {"sell"}
    assert published.missed.rows == 0
    assert (published.received["subscription"] % 2 == 1).all()  # every other one sells


def test_running_in_pieces_and_stepping_by_hand_are_the_same_run() -> None:
    lows, highs = _ranges()
    pieces = Overlay.of(lows, highs, seed=3).run(4).run(5)
    by_hand = Overlay(Population.of(lows, highs, seed=3), seed=3)
    by_hand.bootstrap()
    for cycle in range(1, 10):
        by_hand.step(cycle)
    assert pieces.cycle == by_hand.cycle == 9
    for mine, other in zip(pieces.layers, by_hand.layers, strict=True):
        for one, two in zip(mine.links(), other.links(), strict=True):
            assert np.array_equal(one, two)


def test_events_enter_where_they_are_told_to() -> None:
    lows, highs = _ranges()
    overlay = Overlay.of(lows, highs, seed=1).run(20)
    event = (lows[17] + highs[17]) / 2
    assert overlay.publish([event], at=[17]).events["entered"].tolist() == [17]
    with pytest.raises(InputError, match=r"at row 0: expected a subscription, got 150"):
        overlay.publish([event], at=[150])


WRONG: Mapping[str, tuple[Any, str]] = {
    "arrays in place of a population": (
        lambda lows, highs: Overlay(lows, highs),
        "expected .*Overlay.of",
    ),
    "one end only": (lambda lows, highs: Overlay.of(lows), "highs: expected the upper ends"),
    "unequal ends": (lambda lows, highs: Overlay.of(lows, highs[:9]), "highs"),
    "upside down": (lambda lows, highs: Overlay.of(highs, lows), "row 0"),
    "text": (lambda lows, highs: Overlay.of(lows.astype(str), highs), "lows: expected floats"),
    "a list in place of a space": (
        lambda lows, highs: Overlay.of(lows, space=["a", "b"]),
        "space: expected an AttributeSpace, got list",
    ),
    "a space and both ends": (
        lambda lows, highs: Overlay.of(lows, highs, space=AttributeSpace({"a": float, "b": float})),
        "highs: expected none with `space`",
    ),
    "a seed that is none": (
        lambda lows, highs: Overlay.of(lows, highs, seed="one"),
        "seed: expected a whole",
    ),
    "a seed below 0": (lambda lows, highs: Overlay.of(lows, highs, seed=-1), "seed: expected a whole"),
    "settings as a dict": (
        lambda lows, highs: Overlay.of(lows, highs, settings={}),
        "expected OverlaySettings",
    ),
    "cycles as a float": (lambda lows, highs: Overlay.of(lows, highs).run(2.5), "cycles: expected a whole"),
    "events of other attributes": (
        lambda lows, highs: Overlay.of(lows, highs).publish([[0.5]]),
        "events: expected 2 attributes, got 1",
    ),
    "entries that do not fit the events": (
        lambda lows, highs: Overlay.of(lows, highs).publish([[0.5, 0.5]], at=[1, 2]),
        r"at: expected a subscription for each event \(1\), got int64 of shape \(2,\)",
    ),
    "threads as text": (
        lambda lows, highs: Overlay.of(lows, highs).publish([[0.5, 0.5]], threads="2"),
        "threads: expected a whole number from 1 on, got '2'",
    ),
    "settings of something else": (
        lambda lows, highs: Overlay.of(lows, highs).publish([[0.5, 0.5]], settings=OverlaySettings()),
        "settings: expected DisseminationSettings, got OverlaySettings",
    ),
    "half a spare peer": (lambda lows, highs: Overlay.of(lows, highs, spare=1.5), "spare: expected a whole"),
    "one layer in place of a list": (
        lambda lows, highs: Overlay.of(lows, highs, above=3),
        "above: expected a list of layers, got int",
    ),
    "a space of names alone": (
        lambda lows, highs: AttributeSpace(["price"]),
        "attributes: expected a mapping of names to types, got list",
    ),
    "a peer that is not there": (
        lambda lows, highs: Overlay.of(lows, highs).neighbours("ring", 20),
        "peer: expected 0 to 19, got 20",
    ),
    "one subscription": (lambda lows, highs: Overlay.of(lows[:1], highs[:1]), "at least 2 live peers"),
}


@pytest.mark.parametrize("case", WRONG, ids=WRONG)
def test_a_wrong_argument_says_what_was_expected(case: str) -> None:
    call, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        call(*_ranges(20))


def test_a_table_without_its_library_says_which_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("sub2sub.tables.import_module", refuse)
    with pytest.raises(InputError, match=r"pandas: not installed here; pip install"):
        Table({"event": np.arange(2)}).to_pandas()
