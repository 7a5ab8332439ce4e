"""True rings on Spark agree with Spark SQL's own range join, with the library, and with the definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import workloads
from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads.folder.importing import import_workload
from workloads.folder.layout import Workload
from workloads.folder.steps import completed, require
from workloads.generate.generate import generate
from workloads.generate.rows import BLOCK
from workloads.match.rings import list_rings
from workloads.match.tiles import Tiles, count_rings, ring_sizes


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workload:
    """Two files of subscriptions, and rings listed in several arcs."""
    monkeypatch.setattr("workloads.folder.layout.ROWS_PER_FILE", BLOCK)
    monkeypatch.setattr("workloads.match.rings._MATCHES_PER_ARC", 2000)
    spec = workloads.named("uniform-3")
    return generate(spec, BLOCK + 1000, 60, seed=2, out=tmp_path / "w", at_least=1)


@given(st.integers(0, 5_000_000), st.integers(0, 200), st.integers(1, 64))
def test_tiles_cover_every_pair_of_an_event_and_a_file_once(events: int, files: int, cores: int) -> None:
    tiles = Tiles.plan(events, files, cores)
    area = 0
    for number in range(tiles.event_ranges * tiles.file_groups):
        rows, group = tiles.of(number)
        area += len(rows) * len(group)
        assert 0 <= rows.start <= rows.stop <= events
        assert 0 <= group.start <= group.stop <= files
    assert area == events * files
    if files and events:
        assert tiles.event_ranges * tiles.file_groups >= min(cores, events)


def test_rings_are_the_matches_of_the_library_in_the_order_of_their_ids(workload: Workload) -> None:
    count_rings(workload)
    subscriber, ring_id, lows, highs = (
        np.concatenate(columns) for columns in zip(*workload.subscriptions(), strict=True)
    )
    found = match(lows, highs, workload.event_range(0, 60))
    assert np.array_equal(ring_sizes(workload), found.sizes())
    rings = parquet.read_table(list_rings(workload)).to_pandas()
    assert not (workload.folder / ".arcs").exists()
    assert len(list((workload.folder / "rings").iterdir())) > 2
    for event, ring in rings.groupby("event"):
        members = found.of(event)
        expected = members[np.lexsort((members, ring_id[members]))]
        assert ring["subscriber"].tolist() == subscriber[expected].tolist()
        assert ring["successor"].tolist() == np.roll(subscriber[expected], -1).tolist()
    assert len(rings) == found.sizes().sum()


def test_spark_counts_agree_with_its_own_range_join(workload: Workload, spark: Any) -> None:
    count_rings(workload, spark)
    for name in ("subscriptions", "events", "matches"):
        spark.read.parquet(str(workload.folder / name)).createOrReplaceTempView(name)
    inside = " and ".join(f"e.{x} between s.{x}_low and s.{x}_high" for x in workload.names)
    different = spark.sql(
        f"""with joined as (
              select e.event, count(*) as n from events e join subscriptions s on {inside} group by e.event)
            select m.event from matches m left join joined j using (event)
            where m.matches != coalesce(j.n, 0)"""
    )
    assert different.count() == 0
    assert spark.table("matches").count() == 60


def test_ring_sizes_before_matching_say_what_to_do(workload: Workload) -> None:
    with pytest.raises(InputError, match="workload match"):
        ring_sizes(workload)


def brute_force(workload: Workload) -> set[tuple[int, int, int]]:
    """Event, subscriber and successor of every member of every ring, by the definition."""
    subscriber, ring_id, lows, highs = (
        np.concatenate(c) for c in zip(*workload.subscriptions(), strict=True)
    )
    rows = set()
    for event, point in enumerate(workload.event_range(0, workload.events)):
        inside = ((lows <= point) & (point <= highs)).all(axis=1)
        ring = sorted(zip(ring_id[inside].tolist(), subscriber[inside].tolist(), strict=True))
        for (_, own), (_, following) in zip(ring, ring[1:] + ring[:1], strict=True):
            rows.add((event, own, following))
    return rows


def rows_of(folder: Path) -> list[tuple[int, int, int]]:
    table = parquet.read_table(folder).to_pydict()
    return list(zip(*(table[name] for name in ("event", "subscriber", "successor")), strict=True))


@pytest.mark.parametrize(("per_arc", "ids"), [(1, 2**62), (7, 2**62), (300, 2**62), (10**6, 2**62), (300, 5)])
def test_rings_do_not_depend_on_how_they_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, per_arc: int, ids: int
) -> None:
    """Rings of one and of many members, empty parts, events without matches, subscribers with equal IDs."""
    draw = workloads.generate.rows.ring_ids
    monkeypatch.setattr("workloads.folder.importing.ring_ids", lambda *row: draw(*row) % ids)
    monkeypatch.setattr("workloads.folder.layout.ROWS_PER_FILE", 100)
    monkeypatch.setattr("workloads.match.rings._MATCHES_PER_ARC", per_arc)
    rng = np.random.default_rng(5)
    lows = rng.random((230, 2))
    boxes = {
        "x_low": lows[:, 0],
        "x_high": lows[:, 0] + 0.3,
        "y_low": lows[:, 1],
        "y_high": lows[:, 1] + 0.05,
    }
    points = pa.table({"x": rng.random(130) * 1.5, "y": rng.random(130)})
    workload = import_workload(pa.table(boxes), points, tmp_path / "w")
    count_rings(workload)
    sizes = ring_sizes(workload)
    assert sizes.min() == 0
    assert (sizes == 1).any()
    rows = rows_of(list_rings(workload))
    assert set(rows) == brute_force(workload)
    assert len(rows) == sizes.sum()


def test_spark_lists_the_rings_of_its_own_join_and_window(workload: Workload, spark: Any) -> None:
    count_rings(workload)
    rings = list_rings(workload, spark)
    for name in ("subscriptions", "events"):
        spark.read.parquet(str(workload.folder / name)).createOrReplaceTempView(name)
    inside = " and ".join(f"e.{x} between s.{x}_low and s.{x}_high" for x in workload.names)
    joined = spark.sql(
        f"""select event, subscriber,
                   coalesce(lead(subscriber) over w, first(subscriber) over w) as successor
            from (select e.event, s.subscriber, s.ring_id from events e join subscriptions s on {inside})
            window w as (partition by event order by ring_id, subscriber)"""
    )
    listed = spark.read.parquet(str(rings)).select("event", "subscriber", "successor")
    assert joined.exceptAll(listed).count() == listed.exceptAll(joined).count() == 0


def test_rings_that_were_not_listed_to_the_end_are_not_there(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_rings(workload)
    files = len(list(list_rings(workload).glob("*.parquet")))
    assert files > 1
    assert len(require(workload.folder / "rings", "rings", "match --rings")) == files
    with monkeypatch.context() as patch:
        patch.setattr("workloads.match.rings._next_first", interrupt)
        with pytest.raises(KeyboardInterrupt):
            list_rings(workload)
    with pytest.raises(InputError, match=r"no rings yet, expected `match --rings` first"):
        require(workload.folder / "rings", "rings", "match --rings")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_counting_again_does_away_with_what_was_listed(workload: Workload) -> None:
    count_rings(workload)
    list_rings(workload)
    count_rings(workload)
    assert completed(workload.folder / "rings") is None
    (workload.folder / "matches" / "_complete.json").unlink()
    with pytest.raises(InputError, match="workload match"):
        ring_sizes(workload)
