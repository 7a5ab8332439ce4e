"""Foreign tables become workload folders that match like any other."""

from __future__ import annotations

import gzip
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import workloads
from sub2sub.errors import InputError
from workloads.folder import tables
from workloads.folder.importing import import_topics, import_workload
from workloads.folder.tables import TextForm
from workloads.match.counts import count_matches
from workloads.match.tiles import count_rings, ring_sizes
from workloads.spec.types import ValueType


def test_an_imported_workload_matches_like_a_generated_one(tmp_path: Path) -> None:
    spec = workloads.named("uniform-2")
    lows, highs = spec.subscriptions(500, seed=1)
    points = spec.candidates(1, 0, 50)
    boxes = {"from_x": lows[:, 0], "to_x": highs[:, 0], "from_y": lows[:, 1], "to_y": highs[:, 1]}
    workload = import_workload(
        pa.table(boxes),
        pa.table({"x": points[:, 0], "why": points[:, 1]}),
        tmp_path / "w",
        columns={"x": ("from_x", "to_x"), "y": ("from_y", "to_y")},
        event_columns={"y": "why"},
    )
    count_rings(workload)
    assert np.array_equal(ring_sizes(workload), count_matches(lows, highs, points))
    assert workload.spec is None


def test_an_import_leaves_no_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    temporary = tempfile.TemporaryFile
    monkeypatch.setattr(
        tempfile, "TemporaryFile", lambda *a, **k: opened.append(temporary(*a, **k)) or opened[-1]
    )
    import_workload(pa.table({"x_low": [0.0], "x_high": [1.0]}), None, tmp_path / "w")
    with pytest.raises(InputError):
        import_workload(pa.table({"x_low": [2.0], "x_high": [1.0]}), None, tmp_path / "bad")
    assert opened
    assert all(file.closed for file in opened)


def test_rejected_rows_are_counted_in_the_manifest_and_written_aside(tmp_path: Path) -> None:
    boxes = pa.table({"x_low": [0.0, 2.0, 0.5], "x_high": [1.0, 1.0, 0.6]})
    events = pa.table({"x": [0.1, None, None]})
    workload = import_workload(boxes, events, tmp_path / "w", on_bad="set aside")
    assert (workload.subscribers, workload.events) == (2, 1)
    assert workload.manifest["rejected"] == {"subscriptions": 1, "events": 2}
    assert csv.read_csv(tmp_path / "w/rejected/events.csv")["row"].to_pylist() == [1, 2]


def test_text_as_people_have_it_is_read(tmp_path: Path) -> None:
    """A decimal comma, dots for thousands, another delimiter and encoding, compressed, with customers."""
    text = "kunde;von;bis;größe\nMüller;1.234,5;2.000;1\nWeiß;;3,25;2\nOtto;4;3;3\n"
    path = tmp_path / "abos.csv.gz"
    path.write_bytes(gzip.compress(text.encode("latin-1")))
    form = TextForm(";", ",", ".", "latin-1")
    columns = {"preis": ("von", "bis"), "menge": "größe"}
    workload = import_workload(
        path, None, tmp_path / "w", columns=columns, on_bad="set aside", form=form, key="kunde"
    )
    ((_, _, lows, highs),) = workload.subscriptions()
    assert lows.tolist() == [[1234.5, 1.0], [-np.inf, 2.0]]
    assert highs.tolist() == [[2000.0, 1.0], [3.25, 2.0]]
    table = parquet.read_table(tmp_path / "w" / "subscriptions")
    assert table["key"].to_pylist() == ["Müller", "Weiß"]
    source = workload.manifest["sources"]["subscriptions"]
    assert (source["file"], source["bytes"]) == ("abos.csv.gz", path.stat().st_size)
    count_rings(workload)  # another column is in nobody's way
    with pytest.raises(InputError, match="unknown encoding"):
        import_workload(path, None, tmp_path / "v", columns=columns, form=TextForm(encoding="klingon"))


def test_tabs_separate_in_tsv_and_polars_frames_are_tables(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("x_low\tx_high\n1\t2\n")
    assert import_workload(tmp_path / "t.tsv", None, tmp_path / "w").subscribers == 1

    class Frame:  # what Polars' has
        def to_arrow(self) -> pa.Table:
            return pa.table({"x_low": [1.0, float("nan")], "x_high": [2.0, 3.0]})

    with pytest.raises(InputError, match="row 1: x low: expected a finite number, got nan"):
        import_workload(Frame(), None, tmp_path / "v")  # type: ignore[arg-type]


def test_a_table_of_which_no_row_can_be_used_is_refused(tmp_path: Path) -> None:
    boxes = pa.table({"x_low": [2.0, 3.0], "x_high": [1.0, 1.0]})
    with pytest.raises(InputError, match=r"none of 2 rows can be used, row 0: x: low 2\.0 > high 1\.0"):
        import_workload(boxes, None, tmp_path / "w", on_bad="set aside")
    assert not (tmp_path / "w").exists()


def test_topics_with_another_separator_dots_in_names_and_implied_supertopics(tmp_path: Path) -> None:
    tree = pa.table({"path": ["Sport :: Soccer 2.0", "Art", "::Sport::Tennis"]})
    wanted = pa.table({"topic": ["Sport::Soccer 2.0", "Sport", "Art"]})
    events = pa.table({"topic": ["Sport :: Soccer 2.0", "Sport :: Tennis"]})
    with pytest.raises(InputError, match=r"supertopic of '\.Sport\.Soccer 2%2E0' is unknown"):
        import_topics(tree, wanted, events, tmp_path / "v", separator="::")
    workload = import_topics(tree, wanted, events, tmp_path / "w", separator="::", implied=True)
    paths = parquet.read_table(tmp_path / "w" / "topics.parquet")["path"].to_pylist()
    assert paths == [".", ".Art", ".Sport", ".Sport.Soccer 2%2E0", ".Sport.Tennis"]
    count_rings(workload)
    assert ring_sizes(workload).tolist() == [2, 1]
    bare = pa.table({"path": ["a", "a.b"]})
    assert (
        import_topics(bare, bare.rename_columns(["topic"]), None, tmp_path / "x", separator=".").subscribers
        == 2
    )


def test_nothing_is_written_when_rows_are_refused(tmp_path: Path) -> None:
    boxes = pa.table({"x_low": [2.0], "x_high": [1.0]})
    with pytest.raises(InputError, match=r"row 0: x: low 2.0 > high 1.0"):
        import_workload(boxes, None, tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_topics_from_elsewhere_match_their_supertopics_and_bad_rows_are_set_aside(tmp_path: Path) -> None:
    tree = pa.table({"name": [".sport", ".sport.soccer", ".art", "art", ".music.jazz", ".art", None]})
    wanted = pa.table({"section": [".sport", ".sport.soccer", ".", ".tennis", ".art", 7 * "."]})
    events = pa.table({"topic": [".sport.soccer", ".sport", ".art", ".music"]})
    with pytest.raises(InputError, match="topics, row 3: name: expected a path"):
        import_topics(tree, wanted, events, tmp_path / "v", tree_column="name")
    workload = import_topics(
        tree, wanted, events, tmp_path / "w", tree_column="name", column="section", on_bad="set aside"
    )
    count_rings(workload)
    assert ring_sizes(workload).tolist() == [3, 2, 2]
    assert workload.manifest["rejected"] == {"topics": 4, "subscriptions": 2, "events": 1}
    reasons = csv.read_csv(tmp_path / "w/rejected/topics.csv").to_pydict()
    assert reasons["row"] == [3, 4, 5, 6]
    assert reasons["reason"][1].startswith("supertopic of '.music.jazz' is unknown: list it, ")
    assert reasons["reason"][2] == "topic '.art' again"
    assert csv.read_csv(tmp_path / "w/rejected/events.csv")["reason"].to_pylist() == [
        "unknown topic '.music'"
    ]


def test_types_reach_the_folder_and_values_keep_their_order(tmp_path: Path) -> None:
    orders = "city,min,level,since,till,paid\nRome,1,info,2026-01-01,2026-02-01,true\nBern,,error,,,false\n"
    events = "city,price,level,day,paid\nRome,2,info,2026-01-15,true\nOslo,2.5,error,2026-01-15,false\n"
    (tmp_path / "o.csv").write_text(orders)
    (tmp_path / "e.csv").write_text(events)
    workload = import_workload(
        tmp_path / "o.csv",
        tmp_path / "e.csv",
        tmp_path / "w",
        columns={
            "city": "city", "price": ("min", "min"), "level": "level", "day": ("since", "till"),
            "paid": "paid",
        },
        types={"level": ValueType("enum", ("info", "warning", "error"))},
    )  # fmt: skip
    kinds = {name: kind.kind for name, kind in workload.types.items()}
    assert kinds == {"city": "string", "price": "float", "level": "enum", "day": "date", "paid": "bool"}
    ((_, _, lows, highs),) = workload.subscriptions()
    assert [kind.text(x) for kind, x in zip(workload.types.values(), lows[0], strict=True)] == [
        "Rome", "1", "info", "2026-01-01", "true",
    ]  # fmt: skip
    assert lows[1].tolist() == [1.0, -np.inf, 2.0, -np.inf, 0.0]
    assert highs[1].tolist() == [1.0, np.inf, 2.0, np.inf, 0.0]
    points = workload.event_range(0, 2)
    assert points[1, 0] == 2.0  # Oslo: between Bern and Rome, equal to neither
    assert workload.manifest["sources"]["events"]["columns"]["day"] == "day"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"city": "int"}, r"row 0: city: expected an integer within ±2\^53, got 'Rome'"),
        ({"level": ValueType("enum", ("low",))}, "row 0: level: expected one of 'low', got 'info'"),
        ({"town": "int"}, "type of 'town': expected one of the attributes city, level"),
    ],
)
def test_values_of_another_type_are_refused(tmp_path: Path, given: Any, message: str) -> None:
    table = pa.table({"city": ["Rome"], "level": ["info"]})
    with pytest.raises(InputError, match=message):
        import_workload(table, None, tmp_path / "w", columns={"city": "city", "level": "level"}, types=given)


def test_a_table_of_many_batches_keeps_order_numbers_and_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a hundred rows and a CSV file of several blocks, with bad rows in each."""
    monkeypatch.setattr("workloads.folder.layout.ROWS_PER_FILE", 100)
    lines = [f"{row},{row},{row + 1}" for row in range(1000)]
    lines[7] = "7,7"
    lines[300] = "300,9,1"
    lines[999] = "999,1,2,3"
    text = "\n".join(["who,x_low,x_high", *lines]) + "\n"
    (tmp_path / "t.csv").write_text(text)
    monkeypatch.setattr(tables, "_BLOCK", 512)
    workload = import_workload(tmp_path / "t.csv", None, tmp_path / "w", on_bad="set aside", key="who")
    assert workload.subscribers == 997
    rejected = csv.read_csv(tmp_path / "w/rejected/subscriptions.csv").to_pydict()
    assert sorted(rejected["row"]) == [7, 300, 999]
    files = sorted((tmp_path / "w" / "subscriptions").iterdir())
    assert [parquet.read_metadata(file).num_rows for file in files] == [100] * 9 + [97]
    table = pa.concat_tables([parquet.read_table(file) for file in files])
    assert table["subscriber"].to_pylist() == list(range(997))
    assert table["key"].to_pylist() == [str(row) for row in range(1000) if row not in (7, 300, 999)]
    assert table["x_low"].to_pylist() == [float(key) for key in table["key"].to_pylist()]


def test_a_name_with_the_separator_is_quoted_or_refused(tmp_path: Path) -> None:
    tree = pa.table({"path": [".sport", ".sport.Soccer 2.0"]})
    wanted = pa.table({"topic": [".sport"]})
    with pytest.raises(InputError, match=r"supertopic of '\.sport\.Soccer 2\.0' is unknown.*quote a name"):
        import_topics(tree, wanted, None, tmp_path / "v")
    quoted = pa.table({"path": [".sport", '.sport."Soccer 2.0"', '.sport."%2E"']})
    wanted = pa.table({"topic": ['."sport"."Soccer 2.0"']})
    import_topics(quoted, wanted, None, tmp_path / "w")
    paths = parquet.read_table(tmp_path / "w" / "topics.parquet")["path"].to_pylist()
    assert paths == [".", ".sport", ".sport.%252E", ".sport.Soccer 2%2E0"]


def test_memory_does_not_grow_with_the_rows_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Peaks of NumPy and Python, and of Arrow, for a file of four parts and for one of sixteen."""
    monkeypatch.setattr("workloads.folder.layout.ROWS_PER_FILE", 5000)
    monkeypatch.setattr("workloads.folder.tables._BLOCK", 2**13)  # Arrow reads a number of blocks ahead
    before = pa.default_memory_pool()
    peaks = []
    for rows in (20_000, 80_000):
        lines = [f"{row % 97},{row % 97 + 3},city{row % 50},user{row}" for row in range(rows)]
        source = tmp_path / f"{rows}.csv"
        source.write_text("\n".join(["low,high,city,who", *lines]))
        del lines
        pool = pa.proxy_memory_pool(before)
        pa.set_memory_pool(pool)
        tracemalloc.start()
        try:
            columns = {"x": ("low", "high"), "city": "city"}
            import_workload(source, None, tmp_path / str(rows), columns=columns, key="who")
            peaks.append((tracemalloc.get_traced_memory()[1], pool.max_memory()))
        finally:
            tracemalloc.stop()
            pa.set_memory_pool(before)
    assert all(more < 1.5 * fewer for fewer, more in zip(*peaks, strict=True)), peaks
