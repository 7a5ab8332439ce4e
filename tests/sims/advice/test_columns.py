"""What the columns of a table are: by their names, by their numbers, and by the events."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.advice.columns import infer
from sub2sub.errors import InputError

EXAMPLES = Path("sims/examples")


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("folder", "data", "events", "columns", "event_columns", "key"),
    [
        ("orders", "orders", "trades", {"price": ("min_price", "max_price")}, {}, "customer"),
        (
            "places", "airports", "reports",
            {"latitude": ("south", "north"), "longitude": ("west", "east"), "topic": "topic"}, {}, "airport",
        ),
        ("debian", "dependencies", "updates", {"place": ("oldest", "newest"), "topic": "topic"}, {}, None),
    ],
)  # fmt: skip
def test_the_tables_that_are_shipped(
    folder: str, data: str, events: str, columns: dict, event_columns: dict, key: str | None
) -> None:
    found = infer(EXAMPLES / folder / f"{data}.csv", EXAMPLES / folder / f"{events}.csv").own
    assert (found.event_columns, found.key) == (event_columns, key)
    assert found.columns.keys() == columns.keys()
    assert {name: found.columns[name] for name in columns if name != "place"} == {
        name: column for name, column in columns.items() if name != "place"
    }


def test_columns_of_numbers_that_never_cross_are_a_range_and_events_are_matched_by_their_values(
    tmp_path: Path,
) -> None:
    data = write(tmp_path / "a.csv", "who,a,b,city\nx,1,5,Rome\ny,2,9,Rome\nz,3,3,Oslo\n")
    events = write(tmp_path / "e.csv", "far,value,city\n900,4,Rome\n901,2,Oslo\n")
    found = infer(data, events)
    assert found.own.columns == {"value": ("a", "b"), "city": "city"}
    assert found.lines == [
        "value: a range from a to b; events have value", "city: an exact value, 2 different ones",
        "who: names of the subscribers",
    ]  # fmt: skip


def test_without_events_a_text_that_comes_again_and_again_is_a_topic(tmp_path: Path) -> None:
    rows = "\n".join(f"n{k},{k},{k + 2},{'red' if k % 2 else 'blue'}" for k in range(9))
    found = infer(write(tmp_path / "a.csv", f"name,x_low,x_high,colour\n{rows}\n"))
    assert found.own.columns == {"x": ("x_low", "x_high"), "colour": "colour"}
    assert found.own.events is None


def test_what_nobody_can_tell_is_asked_for_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.csv: expected two columns with a range.*--column") as refused:
        infer(write(tmp_path / "a.csv", "a,b\n5,1\n1,5\n"))
    assert "\n" not in str(refused.value)
