"""Statistics of workloads agree with what NumPy and the definitions say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import workloads
from sub2sub import select_ring
from sub2sub.errors import InputError
from sub2sub.geometry.regions import minimal_regions
from workloads.folder.importing import import_topics, import_workload
from workloads.folder.layout import Workload
from workloads.generate.generate import generate
from workloads.match.rings import list_rings
from workloads.match.tiles import count_rings, ring_sizes
from workloads.statistics.attributes import axes, density, shares
from workloads.statistics.loads import ring_loads
from workloads.statistics.peers import peer_sample
from workloads.statistics.spread import QUANTILES, Spread
from workloads.statistics.workload import describe, regions, ring_lengths, topic_table, write_statistics


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
    rows = {row["quantity"]: row for row in summary}
    assert list(rows) == ["ring length", "width of a1", "width of a2", "overlaps per peer", "links per peer"]
    sizes = ring_sizes(workload)
    assert rows["ring length"]["max"] == sizes.max()
    assert rows["ring length"]["mean"] == pytest.approx(sizes.mean())
    assert rows["width of a1"]["count"] == 1500


def test_everything_is_written(workload: Workload, tmp_path: Path) -> None:
    out = write_statistics(workload, tmp_path / "stats", peers=3, megabytes=0)
    names = {"attributes", "density", "peers", "ring-lengths", "summary", "widths"}
    figures = {"density.png", "overlaps-and-links.png", "ring-lengths.png", "widths.png"}
    written = {f"{name}.parquet" for name in names} | figures | {"statistics.md", "manifest.json"}
    assert {path.name for path in out.iterdir()} == written
    assert "| ring length | 200 |" in (out / "statistics.md").read_text()
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["kind"], manifest["state"]) == ("stats", "done")
    list_rings(workload)
    write_statistics(workload, out, peers=3, megabytes=0)
    assert {path.name for path in out.iterdir()} == written | {
        "loads",
        "ring-loads.parquet",
        "ring-loads.png",
    }
    text = (out / "statistics.md").read_text()
    assert "| rings per subscriber | 1500 |" in text
    on_rings = len(set(parquet.read_table(workload.folder / "rings")["subscriber"].to_pylist()))
    assert 0 < on_rings < 1500
    assert f"{1500 - on_rings} of 1500 subscribers are on no ring" in text
    (workload.folder / "rings" / "_complete.json").unlink()
    write_statistics(workload, tmp_path / "half", peers=3, megabytes=0)
    text = (tmp_path / "half" / "statistics.md").read_text()
    assert "Rings were not listed to the end" in text
    assert "per subscriber" not in text


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
    monkeypatch.setattr("workloads.folder.layout.ROWS_PER_FILE", 600)
    split = peer_sample(generate(spec, 2500, 0, seed=6, out=tmp_path / "five"), peers=12)
    assert len(list((tmp_path / "five" / "subscriptions").iterdir())) == 5
    assert split == whole


def test_a_sample_of_peers_is_the_same_on_spark(workload: Workload, spark: Any) -> None:
    assert peer_sample(workload, 5, spark) == peer_sample(workload, 5)


@pytest.mark.parametrize("per_arc", [100, 10**6])
def test_loads_are_those_of_the_rings_with_and_without_spark(
    workload: Workload, tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch, per_arc: int
) -> None:
    monkeypatch.setattr("workloads.match.rings._MATCHES_PER_ARC", per_arc)
    list_rings(workload)
    rings = parquet.read_table(workload.folder / "rings").to_pandas()
    expected = rings.groupby("subscriber")["successor"].agg(["size", "nunique"])
    everybody = np.zeros(1500)
    everybody[expected.index] = expected["size"]
    for session in (None, spark):
        spreads = ring_loads(workload, tmp_path / "loads", session)
        loads = parquet.read_table(tmp_path / "loads").to_pandas().set_index("subscriber").sort_index()
        assert loads.index.tolist() == expected.index.tolist()
        assert loads["rings"].tolist() == expected["size"].tolist()
        assert loads["successors"].tolist() == expected["nunique"].tolist()
        assert spreads["rings"].row("x") == Spread.of(everybody).row("x")


def test_early_looks_choose_what_a_look_at_everybody_does(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workloads.statistics.peers._FIRST_LOOK", 4)
    few = peer_sample(workload, 40)
    monkeypatch.setattr("workloads.statistics.peers._FIRST_LOOK", 10**6)
    assert peer_sample(workload, 40) == few


def test_spreads_are_numpys_quantiles_in_one_piece_and_in_many() -> None:
    rng = np.random.default_rng(3)
    for rows in (rng.integers(0, 50, 3000).astype(float), rng.exponential(size=3000)):
        pieces = [Spread.of(piece) for piece in np.array_split(rows, 7)]
        row = Spread.together(pieces).row("x")
        assert (row["count"], row["min"], row["max"]) == (3000, rows.min(), rows.max())
        assert row["mean"] == pytest.approx(rows.mean())
        for name, share in QUANTILES.items():
            assert row[name] == np.quantile(rows, share, method="inverted_cdf")


def test_spreads_of_many_rows_are_off_by_less_than_a_knot() -> None:
    rows = np.random.default_rng(4).normal(size=20_000)
    spread = Spread.together([Spread.of(piece, knots=500) for piece in np.array_split(rows, 3)])
    assert spread.count == 20_000
    assert len(spread.values) <= 1506
    for share in QUANTILES.values():
        rank = np.count_nonzero(rows <= spread.quantile(share)) / 20_000
        assert rank == pytest.approx(share, abs=2 / 500)


def test_shares_of_open_ends_and_the_density_of_interest_are_those_of_the_rows(tmp_path: Path) -> None:
    spec = workloads.Spec("open", (workloads.Attribute("a", wildcard=0.3, low=2.0, high=5.0),))
    workload = generate(spec, 4000, 0, seed=2, out=tmp_path / "w")
    ((_, _, lows, highs),) = workload.subscriptions()
    found = axes(workload)
    (row,) = shares(workload, found).to_pylist()
    assert row["open_low"] == np.mean(lows == 2.0)
    assert row["open_high"] == np.mean(highs == 5.0)
    assert row["exact"] == np.mean(lows == highs)
    table = density(workload, found)
    for value, share in zip(table["value"].to_pylist()[::17], table["share"].to_pylist()[::17], strict=True):
        assert share == pytest.approx(np.mean((lows <= value) & (value <= highs)))
    boxes = pa.table({"x_low": [None, 0.0, 1.0], "x_high": [None, 0.0, None]})
    foreign = import_workload(
        boxes.cast(pa.schema([("x_low", "f8"), ("x_high", "f8")])), None, tmp_path / "f"
    )
    (row,) = shares(foreign, axes(foreign)).to_pylist()
    assert (row["open_low"], row["open_high"], row["exact"]) == pytest.approx((1 / 3, 2 / 3, 1 / 3))


def test_topics_are_told_by_path_and_depth_with_their_audience(tmp_path: Path) -> None:
    tree = pa.table({"path": [".a", ".a.b", ".c"]})
    wanted = pa.table({"topic": [".a", ".a.b", ".", ".a", ".c"]})
    workload = import_topics(tree, wanted, pa.table({"topic": [".a.b", ".c", ".c"]}), tmp_path / "t")
    rows = {row["path"]: row for row in topic_table(workload).to_pylist()}
    assert {path: (row["depth"], row["subscribers"], row["events"]) for path, row in rows.items()} == {
        ".": (0, 1, 0), ".a": (1, 2, 0), ".a.b": (2, 1, 1), ".c": (1, 1, 2),
    }  # fmt: skip
    assert {path: row["audience"] for path, row in rows.items()} == {".": 1, ".a": 3, ".a.b": 4, ".c": 2}
    count_rings(workload)
    text = (write_statistics(workload, tmp_path / "s", peers=2) / "statistics.md").read_text()
    assert "| 2 | .a.b | 2 | 1 | 1 | 4 |" in text
    assert (tmp_path / "s" / "topics.png").exists()
