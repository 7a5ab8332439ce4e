"""True rings on Spark agree with Spark SQL's own range join, with the library, and with the definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import workloads
from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads.folder.layout import Workload
from workloads.generate.generate import generate
from workloads.generate.rows import BLOCK
from workloads.match.rings import Tiles, count_rings, list_rings, ring_sizes


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workload:
    """Two files of subscriptions, and rings listed in several runs."""
    for module in ("workloads.folder.layout", "workloads.generate.generate", "workloads.match.rings"):
        monkeypatch.setattr(f"{module}.ROWS_PER_FILE", BLOCK)
    monkeypatch.setattr("workloads.match.rings._MATCHES_PER_RUN", 2000)
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
    assert len(list((workload.folder / "rings").iterdir())) > 2
    for event, ring in rings.groupby("event"):
        members = found.of(event)
        expected = members[np.lexsort((members, ring_id[members]))]
        assert ring["subscriber"].tolist() == subscriber[expected].tolist()
        assert ring["ring_id"].tolist() == ring_id[expected].tolist()
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
