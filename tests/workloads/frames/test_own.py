"""Own tables: typed columns become coordinates, and a row that cannot be used is kept with the reason."""

from __future__ import annotations

import datetime
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

from sub2sub.errors import InputError
from workloads import frames
from workloads.folder.tables import TextForm
from workloads.frames.covers import covering_boxes
from workloads.frames.sources import checked_fences, geofences, opened
from workloads.spec.table_files import open_stored


def test_every_bad_row_is_rejected_with_its_reason(spark: Any) -> None:
    wanted = pa.table(
        {
            "id": [1, 2, 3, 4, 4, 6, None],
            "low": [0.0, float("nan"), 2.0, 0.0, 0.1, None, 0.0],
            "high": [1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 1.0],
            "since": [datetime.date(2026, 1, 2)] * 7,
            "level": ["info", "info", "info", "error", "info", "info", "info"],
        }
    )
    events = pa.table({"x": [0.5, None], "since": [datetime.date(2026, 1, 2)] * 2, "level": ["info", "info"]})
    mapping = {"x": ("low", "high"), "since": "since", "level": "level"}
    found = frames.checked(
        spark.createDataFrame(wanted),
        spark.createDataFrame(events),
        mapping,
        id="id",
        types={"level": "enum"},
    )
    good = found.subscriptions.toArrow().sort_by("subscriber")
    assert good["subscriber"].to_pylist() == [1, 6]
    assert good["x_low"].to_pylist() == [0.0, -np.inf]  # a missing end is open
    assert good["since_low"].to_pylist() == [20455.0] * 2
    assert found.subscriptions.schema["level_low"].metadata == {"type": "enum", "values": ["error", "info"]}
    assert found.events is not None
    assert found.events.count() == 1
    reasons = sorted(row["reason"] for row in found.rejected.collect())
    assert [reason.partition(":")[0] for reason in reasons] == ["id", "id", "id", "x low", "x", "x"]
    assert any("low 2.0 > high 1.0" in reason for reason in reasons)
    assert sum("4 again, expected each ID once" in reason for reason in reasons) == 2
    assert json.loads(found.rejected.where("table = 'events'").first()["row"])["level"] == "info"
    assert frames.match_counts(found.subscriptions, found.events).first()["matches"] == 2


def test_text_as_people_have_it_is_read(spark: Any, tmp_path: Path) -> None:
    """A decimal comma, dots for thousands, another delimiter and encoding, gzip, damaged lines, names."""
    text = "kunde;von;bis;größe\nMüller;1.234,5;2.000;1\nWeiß;;3,25;2\nOtto;4;3;3\nUte;1\n"
    (tmp_path / "abos.csv.gz").write_bytes(gzip.compress(text.encode("latin-1")))
    form = TextForm(";", ",", ".", "latin-1")
    frame = opened(spark, str(tmp_path / "abos.csv.gz"), form)
    found = frames.checked(frame, columns={"preis": ("von", "bis"), "menge": "größe"}, key="kunde", form=form)
    good = found.subscriptions.toArrow().sort_by("subscriber")
    assert good["subscriber"].to_pylist() == [0, 1]
    assert good["key"].to_pylist() == ["Müller", "Weiß"]
    assert good["preis_low"].to_pylist() == [1234.5, -np.inf]
    assert good["preis_high"].to_pylist() == [2000.0, 3.25]
    reasons = sorted(row["reason"] for row in found.rejected.collect())
    assert reasons == ["damaged line 'Ute;1'", "preis: low 4.0 > high 3.0"]
    with pytest.raises(InputError, match="no column 'groesse'"):
        frames.checked(frame, columns={"menge": "groesse"})
    with pytest.raises(InputError, match="nowhere"):
        opened(spark, str(tmp_path / "nowhere.parquet"), form)


def star(points: int, at: float) -> shapely.Polygon:
    angle = np.linspace(0, 2 * np.pi, 2 * points, endpoint=False)
    reach = np.where(np.arange(2 * points) % 2, 1.0, 3.0)
    return shapely.Polygon(np.stack([at + reach * np.cos(angle), reach * np.sin(angle)], axis=1))


@pytest.mark.parametrize("at_most", [1, 5, 40])
def test_boxes_cover_a_polygon_without_a_gap_and_without_a_common_point(at_most: int) -> None:
    polygon = star(5, 0.0)
    boxes = np.array(covering_boxes(polygon, 0.05, at_most))
    assert len(boxes) <= at_most
    points = np.random.default_rng(1).uniform(-3, 3, (20_000, 2))
    corners = np.array([[x, y] for x in {*boxes[:, 0], *boxes[:, 2]} for y in {*boxes[:, 1], *boxes[:, 3]}])
    points = np.concatenate([points, corners, shapely.get_coordinates(polygon)])
    inside = (boxes[:, None, :2] <= points).all(axis=2) & (points <= boxes[:, None, 2:]).all(axis=2)
    assert inside.sum(axis=0).max() == 1
    assert (inside.any(axis=0) >= shapely.covers(polygon, shapely.points(points))).all()
    area = (boxes[:, 2] - boxes[:, 0]) @ (boxes[:, 3] - boxes[:, 1])
    assert at_most < 40 or area < 1.6 * polygon.area < 0.7 * np.prod(np.ptp(points, axis=0))


def test_geofences_match_by_boxes_and_exactly(spark: Any, tmp_path: Path) -> None:
    shapes = {
        "north": star(5, 0.0),
        "east": star(7, 4.0),
        "bow": shapely.from_wkt("POLYGON((0 0,1 1,1 0,0 1,0 0))"),
    }
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": json.loads(shapely.to_geojson(shape))}
        for name, shape in shapes.items()
    ]
    (tmp_path / "z.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    fences = geofences(spark, str(tmp_path / "z.geojson"), "name")
    points = np.random.default_rng(2).uniform(-3, 7, (300, 2))
    events = spark.createDataFrame(pa.table({"lon": points[:, 0], "lat": points[:, 1]}))
    found, sentence = checked_fences(fences, events, {}, 0.2, 12)
    assert sentence.startswith("2 polygons, 24 boxes, which cover ")
    assert "expected a valid polygon: Self-intersection" in found.rejected.first()["reason"]
    assert found.events is not None
    rings = frames.rings(found.subscriptions, found.events)
    exact = frames.exact_rings(rings, found.subscriptions, found.events, fences).toArrow()
    names = dict(found.subscriptions.select("subscriber", "key").collect())
    got = {
        (event, names[member])
        for event, ring in zip(exact["event"].to_pylist(), exact["ring"].to_pylist(), strict=True)
        for member in ring
    }
    at = shapely.points(points)
    assert got == {
        (event, name)
        for name in ("north", "east")
        for event in np.flatnonzero(shapely.covers(shapes[name], at)).tolist()
    }


def test_a_simulation_reads_a_table_without_spark(tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("x_low,x_high\n1,2\n2,3\n5,4\n")
    with pytest.raises(InputError, match=r"o\.csv, line 4: x: low 5.0 > high 4.0"):
        open_stored(tmp_path / "o.csv")
