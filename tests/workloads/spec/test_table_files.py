"""Tables that a TOML file describes: columns, types, keys, topics; and the real ones of the examples."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads.folder.tables import TextForm
from workloads.frames import checked
from workloads.frames.saved import Saved
from workloads.frames.sources import opened
from workloads.spec.table_files import is_stored, open_stored, stored_files

DEBIAN = Path(__file__).parents[3] / "sims" / "examples" / "debian"
PLACES = DEBIAN.parent / "places"


def rows_of(name: str, folder: Path = DEBIAN) -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_real_ranges_match_as_their_text_says() -> None:
    stored = open_stored(DEBIAN / "ranges.toml")
    wanted, updates = rows_of("dependencies.csv"), rows_of("updates.csv")
    assert len(stored) == len(wanted) == 2000
    assert stored.keys == [row["package"] for row in wanted]
    assert {name: kind.kind for name, kind in stored.types.items()} == {"package": "string", "version": "int"}
    found = match(stored.lows, stored.highs, stored.points)
    for event, update in enumerate(updates):
        version = int(update["place"])
        expected = [
            row for row, each in enumerate(wanted)
            if each["on"] == update["package"]
            and int(each["oldest"] or 0) <= version <= int(each["newest"] or 10**9)
        ]  # fmt: skip
        assert found.of(event).tolist() == expected
    assert found.sizes().max() > 100


def test_real_topics_reach_those_who_want_the_topic_or_one_above() -> None:
    stored = open_stored(DEBIAN / "topics.toml")
    assert stored.topics is not None
    wanted, updates = rows_of("dependencies.csv"), rows_of("updates.csv")
    assert len(stored.topics) == 1 + len(rows_of("topics.csv"))
    found = match(stored.lows, stored.highs, stored.points)
    for event in range(0, len(updates), 7):
        expected = [row for row, each in enumerate(wanted) if each["topic"] == updates[event]["topic"]]
        assert found.of(event).tolist() == expected


def test_real_places_are_wanted_by_the_airports_around_them_or_by_topic() -> None:
    wanted, reports = rows_of("airports.csv", PLACES), rows_of("reports.csv", PLACES)
    near, by_topic = (open_stored(PLACES / f"{name}.toml") for name in ("ranges", "topics"))
    around = match(near.lows, near.highs, near.points)
    subscribed = match(by_topic.lows, by_topic.highs, by_topic.points)
    for event in range(0, len(reports), 50):
        report = reports[event]
        latitude, longitude = float(report["latitude"]), float(report["longitude"])
        assert around.of(event).tolist() == [
            row for row, each in enumerate(wanted)
            if float(each["south"]) <= latitude <= float(each["north"])
            and float(each["west"]) <= longitude <= float(each["east"])
        ]  # fmt: skip
        same = [row for row, each in enumerate(wanted) if each["topic"] == report["topic"]]
        assert subscribed.of(event).tolist() == same


def test_a_folder_keeps_sequence_ids_and_keys(tmp_path: Path, spark: Any) -> None:
    saved = Saved(spark, str(tmp_path / "w"))
    source = opened(spark, str(DEBIAN / "dependencies.csv"), TextForm())
    saved.keep(checked(source, columns={"package": "on"}, key="package"), set_aside=False)
    stored = open_stored(tmp_path / "w")
    assert stored.keys == [row["package"] for row in rows_of("dependencies.csv")]
    assert stored.ring_ids is not None
    assert len(np.unique(stored.ring_ids)) == 2000
    assert stored.own_follow == "interest"
    assert {file.suffix for file in stored_files(tmp_path / "w")} == {".parquet"}


def test_events_follow_the_table_its_interests_or_nothing() -> None:
    stored = open_stored(DEBIAN / "ranges.toml")
    own = stored.candidates(500, 1, "table")
    assert np.array_equal(own[: len(stored.points)], stored.points)
    for follow in ("interest", "uniform"):
        points = stored.candidates(500, 1, follow)  # type: ignore[arg-type]
        assert (points % 1 == 0).all()
        assert (points[:, 0] % 2 == 1).all()  # strings that somebody names
        assert np.array_equal(points, stored.candidates(500, 1, follow))  # type: ignore[arg-type]
    assert match(stored.lows, stored.highs, stored.candidates(500, 1, "interest")).sizes().min() >= 1


def test_rows_are_used_once_and_drawn_by_the_seed() -> None:
    stored = open_stored(DEBIAN / "ranges.toml")
    assert stored.order(1, 2000).tolist() == list(range(2000))
    first, again, other = (stored.order(seed, 50)[:50].tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == 50
    with pytest.raises(InputError, match="has 2000 subscriptions: expected at most so many"):
        stored.order(1, 2001)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('columns = { price = ["lo"] }', "columns.price: expected a column or a list of two"),
        ('types = { price = "number" }', "types.price: expected one of float, int"),
        ('column = "lo"', "column: .*did you mean 'columns'"),
        ('columns = { price = ["lo", "top"] }', "no column 'top', expected one of lo, hi"),
        ("", "expected columns X_low and X_high"),
    ],
)
def test_mistakes_in_a_description_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t.csv").write_text("lo,hi\n1,2\n2,3\n")
    (tmp_path / "t.toml").write_text(f'[table]\nfile = "t.csv"\n{text}\n')
    assert is_stored(tmp_path / "t.toml")
    with pytest.raises(InputError, match=message):
        open_stored(tmp_path / "t.toml")


def test_all_files_of_a_description_count() -> None:
    names = {file.name for file in stored_files(DEBIAN / "topics.toml")}
    assert names == {"topics.toml", "dependencies.csv", "updates.csv", "topics.csv"}
