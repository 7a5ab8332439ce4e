"""Foreign tables become workload folders that match like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import workloads
from sub2sub.errors import InputError
from workloads.folder.importing import import_topics, import_workload
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
