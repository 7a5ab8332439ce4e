"""Foreign tables become workload folders that match like any other."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import workloads
from sub2sub.errors import InputError
from workloads.folder.importing import import_topics, import_workload
from workloads.folder.tables import TextForm
from workloads.match.counts import count_matches
from workloads.match.tiles import count_rings, ring_sizes


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
    assert reasons["reason"][1:3] == ["supertopic of '.music.jazz' is unknown", "topic '.art' again"]
    assert csv.read_csv(tmp_path / "w/rejected/events.csv")["reason"].to_pylist() == [
        "unknown topic '.music'"
    ]
