"""Statistics of workloads agree with what NumPy and the definitions say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

import workloads
from sub2sub import select_ring
from sub2sub.errors import InputError
from sub2sub.geometry.regions import minimal_regions
from workloads.folder.layout import Workload
from workloads.generate.generate import generate
from workloads.match.rings import list_rings
from workloads.match.tiles import count_rings, ring_sizes
from workloads.statistics.workload import (
    describe,
    peer_sample,
    regions,
    ring_lengths,
    ring_loads,
    write_statistics,
)


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
    out = write_statistics(workload, tmp_path / "stats", peers=3, megabytes=0)
    written = {
        "peers.parquet",
        "ring-lengths.parquet",
        "summary.parquet",
        "statistics.md",
        "ring-lengths.png",
        "manifest.json",
    }
    assert {path.name for path in out.iterdir()} == written
    assert "| ring length | 200 |" in (out / "statistics.md").read_text()
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["kind"], manifest["state"]) == ("stats", "done")
    list_rings(workload)
    write_statistics(workload, out, peers=3, megabytes=0)
    assert {path.name for path in out.iterdir()} == written | {"loads.parquet"}
    assert "| rings per subscriber |" in (out / "statistics.md").read_text()


def test_regions_are_those_of_the_library_or_refused_with_the_reason(tmp_path: Path) -> None:
    workload = generate(workloads.named("uniform-2"), 60, 0, seed=2, out=tmp_path / "w")
    ((_, _, lows, highs),) = workload.subscriptions()
    expected = minimal_regions(lows, highs)
    table = regions(workload)
    assert table.num_rows == len(expected)
    assert table["members"].to_pylist() == expected.members.sizes().tolist()
    assert sum(table["boxes"].to_pylist()) == len(expected.lows)
    text = (write_statistics(workload, tmp_path / "yes", peers=3) / "statistics.md").read_text()
    assert f"| members per region | {len(expected)} |" in text
    large = generate(workloads.named("power-law-3"), 2000, 0, seed=2, out=tmp_path / "v")
    with pytest.raises(InputError, match="max_bytes"):
        regions(large, megabytes=1)
    text = (write_statistics(large, tmp_path / "no", peers=3, megabytes=1) / "statistics.md").read_text()
    assert "Regions were not found" in text


def test_nobody_and_somebody_alone_have_no_links(tmp_path: Path) -> None:
    for n in (0, 1):
        workload = generate(workloads.named("uniform-2"), n, 0, seed=6, out=tmp_path / f"{n}")
        rows = peer_sample(workload).to_pylist()
        assert rows == [{"subscriber": 0, "overlaps": 0, "links": 0}][:n]


def test_links_do_not_depend_on_how_subscribers_are_spread_over_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = workloads.named("power-law-3")
    whole = peer_sample(generate(spec, 2500, 0, seed=6, out=tmp_path / "one"), peers=12)
    for module in ("workloads.folder.layout", "workloads.generate.generate", "workloads.statistics.workload"):
        monkeypatch.setattr(f"{module}.ROWS_PER_FILE", 600)
    split = peer_sample(generate(spec, 2500, 0, seed=6, out=tmp_path / "five"), peers=12)
    assert len(list((tmp_path / "five" / "subscriptions").iterdir())) == 5
    assert split == whole


def test_a_sample_of_peers_is_the_same_on_spark(workload: Workload, spark: Any) -> None:
    assert peer_sample(workload, 5, spark) == peer_sample(workload, 5)


def test_loads_are_those_of_the_rings_with_and_without_spark(workload: Workload, spark: Any) -> None:
    list_rings(workload)
    rings = parquet.read_table(workload.folder / "rings").to_pandas()
    expected = rings.groupby("subscriber")["successor"].agg(["size", "nunique"])
    for session in (None, spark):
        loads = ring_loads(workload, session).to_pandas().set_index("subscriber")
        assert loads.index.tolist() == expected.index.tolist()
        assert loads["rings"].tolist() == expected["size"].tolist()
        assert loads["successors"].tolist() == expected["nunique"].tolist()
