"""Statistics of workloads and of runs agree with what NumPy, SciPy and the definitions say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import stats

import workloads
from sub2sub import select_ring
from sub2sub.errors import InputError
from workloads.generate import generate
from workloads.layout import Workload
from workloads.rings import count_rings, list_rings, ring_sizes
from workloads.runs import summarise
from workloads.statistics import describe, peer_sample, ring_lengths, ring_loads, write_statistics


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    workload = generate(workloads.named("power-law-2"), 1500, 200, seed=6, out=tmp_path / "w")
    count_rings(workload)
    return workload


def test_ring_lengths_count_every_event_once(workload: Workload) -> None:
    table = ring_lengths(workload)
    lengths = np.repeat(table["length"].to_numpy(), table["events"].to_numpy())
    assert np.array_equal(lengths, np.sort(ring_sizes(workload)))


def test_a_peers_links_are_those_ring_selection_keeps_of_everybody(workload: Workload) -> None:
    ((subscriber, ring_id, lows, highs),) = workload.subscriptions()
    for row in peer_sample(workload, peers=8).to_pylist():
        own = row["subscriber"]
        rest = subscriber != own
        kept = select_ring(
            lows[own], highs[own], int(ring_id[own]), lows[rest], highs[rest], ring_id[rest].astype("u8")
        )
        assert row["links"] == len(set(kept.successors) | set(kept.predecessors))
        overlapping = ((lows <= highs[own]) & (highs >= lows[own])).all(axis=1)
        assert row["overlaps"] == np.count_nonzero(overlapping) - 1


def test_the_description_has_a_row_per_quantity(workload: Workload) -> None:
    summary, _ = describe(workload, peers=5)
    rows = {row["quantity"]: row for row in summary.to_pylist()}
    assert list(rows) == ["ring length", "width of a1", "width of a2", "overlaps per peer", "links per peer"]
    sizes = ring_sizes(workload)
    assert rows["ring length"]["max"] == sizes.max()
    assert rows["ring length"]["mean"] == pytest.approx(sizes.mean())
    assert rows["width of a1"]["count"] == 1500


def test_everything_is_written(workload: Workload, tmp_path: Path) -> None:
    out = write_statistics(workload, tmp_path / "stats", peers=3)
    written = {
        "peers.parquet",
        "ring-lengths.parquet",
        "summary.parquet",
        "statistics.md",
        "ring-lengths.png",
    }
    assert {path.name for path in out.iterdir()} == written
    assert "| ring length | 200 |" in (out / "statistics.md").read_text()
    list_rings(workload)
    write_statistics(workload, out, peers=3)
    assert {path.name for path in out.iterdir()} == written | {"loads.parquet"}
    assert "| rings per subscriber |" in (out / "statistics.md").read_text()


def test_loads_are_those_of_the_rings_with_and_without_spark(workload: Workload, spark: Any) -> None:
    list_rings(workload)
    rings = parquet.read_table(workload.folder / "rings").to_pandas()
    expected = rings.groupby("subscriber")["successor"].agg(["size", "nunique"])
    for session in (None, spark):
        loads = ring_loads(workload, session).to_pandas().set_index("subscriber")
        assert loads.index.tolist() == expected.index.tolist()
        assert loads["rings"].tolist() == expected["size"].tolist()
        assert loads["successors"].tolist() == expected["nunique"].tolist()


def test_runs_are_averaged_with_students_interval(tmp_path: Path, spark: Any) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(10, 2, (6, 2))
    files = []
    for run, (first, second) in enumerate(values):
        files.append(tmp_path / f"run-{run}.parquet")
        # Two rows of cycle 1 in each run count as one observation.
        rows = {"cycle": [0, 1, 1], "hits": [first, second - 1, second + 1], "spam": [0, 0, None]}
        parquet.write_table(pa.table(rows), files[-1])
    table = summarise(spark, files, ["cycle"], ["hits", "spam"]).to_pylist()
    assert [(row["cycle"], row["metric"], row["runs"]) for row in table] == [
        (0, "hits", 6), (0, "spam", 6), (1, "hits", 6), (1, "spam", 6),
    ]  # fmt: skip
    for row, sample in zip((table[0], table[2]), values.T, strict=True):
        low, high = stats.t.interval(0.95, 5, sample.mean(), stats.sem(sample))
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((sample.mean(), low, high))
        assert (row["least"], row["greatest"]) == pytest.approx((sample.min(), sample.max()))
    single = summarise(spark, files[:1], [], ["hits"]).to_pylist()
    assert (single[0]["runs"], single[0]["low"], single[0]["high"]) == (1, None, None)
    with pytest.raises(InputError, match="no column 'hops': expected one of cycle, hits, spam"):
        summarise(spark, files, ["cycle"], ["hops"])
