"""Frames hold the rows of the in-process path and the rings of the definition, whatever their partitions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import workloads
from sub2sub import select_ring
from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads import frames
from workloads.frames import blocks
from workloads.generate.rows import BLOCK, ring_ids
from workloads.match import bitmaps
from workloads.match.bitmaps import count_matches

loads = importlib.import_module("workloads.frames.loads")  # the module; in `frames` it is the function
SPEC = workloads.named("power-law-2")
ENDS = ["a1_low", "a2_low"], ["a1_high", "a2_high"]


def rows(frame: Any, *order: str) -> pa.Table:
    return frame.toArrow().sort_by([(name, "ascending") for name in order])


def columns(table: pa.Table, names: list[str]) -> Any:
    return np.stack([table[name].to_numpy() for name in names], axis=1)


@pytest.fixture(scope="module")
def wanted(spark: Any) -> Any:
    return frames.subscriptions(spark, SPEC, 1500, 6).cache()


@pytest.fixture(scope="module")
def published(wanted: Any) -> Any:
    return frames.events(wanted, SPEC, 120, 6).cache()


@pytest.fixture(scope="module")
def listed(wanted: Any, published: Any) -> Any:
    return frames.rings(wanted, published).cache()


def test_rows_are_those_of_the_in_process_path_across_blocks(spark: Any) -> None:
    n = BLOCK + 5
    table = rows(frames.subscriptions(spark, SPEC, n, 4).repartition(3), "subscriber")
    lows, highs = SPEC.subscriptions(n, 4)
    assert np.array_equal(table["subscriber"].to_numpy(), np.arange(n))
    assert np.array_equal(table["ring_id"].to_numpy(), ring_ids(4, 0, n))
    assert np.array_equal(columns(table, ENDS[0]), lows)
    assert np.array_equal(columns(table, ENDS[1]), highs)


def test_events_are_the_first_candidates_with_enough_matches(wanted: Any, published: Any) -> None:
    lows, highs = SPEC.subscriptions(1500, 6)
    assert np.array_equal(columns(rows(published, "event"), ["a1", "a2"]), SPEC.events(120, 6, lows, highs))
    empty = workloads.named("uniform-8")
    few = frames.subscriptions(wanted.sparkSession, empty, 5, 1)
    with pytest.raises(InputError, match="expected a denser workload"):
        frames.events(few, empty, 5, 1)


def test_rings_are_the_matches_in_the_order_of_their_ids(wanted: Any, published: Any, listed: Any) -> None:
    lows, highs = SPEC.subscriptions(1500, 6)
    found = match(lows, highs, columns(rows(published, "event"), ["a1", "a2"]))
    counts = rows(frames.match_counts(wanted, published), "event")
    assert np.array_equal(counts["matches"].to_numpy(), found.sizes())
    ids = ring_ids(6, 0, 1500)
    table = rows(listed, "event")
    expected = [found.of(event)[np.argsort(ids[found.of(event)])].tolist() for event in range(120)]
    assert table["ring"].to_pylist() == expected
    links = frames.ring_links(listed).where("event = 7").toArrow()
    assert links["subscriber"].to_pylist() == expected[7]
    assert links["successor"].to_pylist() == np.roll(expected[7], -1).tolist()


def test_sql_joins_the_same_rings(wanted: Any, published: Any, listed: Any) -> None:
    wanted.createOrReplaceTempView("subscriptions")
    published.createOrReplaceTempView("events")
    inside = " and ".join(f"e.{x} between s.{x}_low and s.{x}_high" for x in SPEC.names)
    joined = wanted.sparkSession.sql(
        f"""select event, subscriber,
                   coalesce(lead(subscriber) over w, first(subscriber) over w) as successor
            from (select e.event, s.subscriber, s.ring_id from events e join subscriptions s on {inside})
            window w as (partition by event order by ring_id, subscriber)"""
    )
    links = frames.ring_links(listed)
    assert joined.exceptAll(links).count() == links.exceptAll(joined).count() == 0


@pytest.mark.parametrize("members", [1, 50])
def test_rings_do_not_depend_on_how_they_are_cut(
    spark: Any, monkeypatch: pytest.MonkeyPatch, members: int
) -> None:
    """A hot event that all match, skew, empty rings, equal ring IDs, blocks of three events."""
    monkeypatch.setattr(sys.modules[frames.rings.__module__], "_MEMBERS", members)
    monkeypatch.setattr(sys.modules[frames.rings.__module__], "_EVENTS", 3)
    monkeypatch.setattr(blocks, "ROWS", 7)
    rng = np.random.default_rng(5)
    lows = np.append(np.full(30, 0.4), rng.random(20))
    ids = np.where(np.arange(50) < 20, 5, rng.integers(0, 2**63 - 1, 50))
    wanted = pa.table(
        {"subscriber": 7 * np.arange(50) - 70, "ring_id": ids, "x_low": lows, "x_high": lows + 0.15}
    )
    at = np.array([0.5, 0.5, 0.45, 0.01, 2.0, 0.7, 0.8])
    published = pa.table({"event": np.arange(7) + 100, "x": at})
    one, two = spark.createDataFrame(wanted).repartition(4), spark.createDataFrame(published)
    table = rows(frames.rings(one, two), "event")
    expected = {}
    for event, x in zip(range(100, 107), at, strict=True):
        inside = np.flatnonzero((lows <= x) & (x <= lows + 0.15))
        if len(inside):
            expected[event] = (7 * inside[np.lexsort((inside, ids[inside]))] - 70).tolist()
    assert dict(zip(table["event"].to_pylist(), table["ring"].to_pylist(), strict=True)) == expected
    counts = rows(frames.match_counts(one, two), "event")["matches"].to_pylist()
    assert counts == [len(expected.get(event, [])) for event in range(100, 107)]
    assert loads_in(frames.loads(one, two)) == load_of(expected.values())
    none = one.where("x_low > 5")
    assert frames.match_counts(none, two).where("matches = 0").count() == 7
    assert frames.rings(none, two).count() == frames.loads(none, two).count() == 0


def load_of(rings: Iterable[list[int]]) -> dict[int, tuple[int, int]]:
    """Rings and distinct successors of each subscriber, counted one after the other."""
    on: dict[int, list[int]] = {}
    for ring in rings:
        for place, member in enumerate(ring):
            on.setdefault(member, []).append(ring[(place + 1) % len(ring)])
    return {member: (len(found), len({*found})) for member, found in sorted(on.items())}


def loads_in(frame: Any) -> dict[int, tuple[int, int]]:
    found = rows(frame, "subscriber").to_pydict()
    return dict(zip(found["subscriber"], zip(found["rings"], found["successors"], strict=True), strict=True))


def test_loads_count_rings_and_distinct_successors(wanted: Any, published: Any, listed: Any) -> None:
    expected = load_of(listed.toArrow()["ring"].to_pylist())
    assert loads_in(frames.loads(wanted.repartition(5), published)) == expected


@pytest.mark.parametrize(("size", "members"), [(64, 40), (8192, 40), (64, 2**22)])
def test_loads_of_an_arc_do_not_depend_on_how_it_is_cut(
    monkeypatch: pytest.MonkeyPatch, size: int, members: int
) -> None:
    monkeypatch.setattr(bitmaps, "CHUNK", size)
    monkeypatch.setattr(loads, "_MEMBERS", members)
    (lows, highs), points = SPEC.subscriptions(300, 8), SPEC.candidates(8, 0, 100)
    points[40:60] = points[0]  # links that are there again and again
    points[60] = 9.0  # nobody's
    rings, successors, first, last = loads.arc_loads(lows, highs, points)
    on: list[list[int]] = [[] for _ in lows]
    for event, point in enumerate(points):
        inside = np.flatnonzero(((lows <= point) & (point <= highs)).all(axis=1)).tolist()
        assert [first[event], last[event]] == ([inside[0], inside[-1]] if inside else [-1, -1])
        for own, successor in zip(inside, [*inside[1:], -1], strict=False):
            on[own].append(successor)
    assert rings.tolist() == [len(found) for found in on]
    assert successors.tolist() == [len({*found} - {-1}) for found in on]


def test_a_peers_links_are_those_ring_selection_keeps_of_everybody(
    wanted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lows, highs = SPEC.subscriptions(1500, 6)
    ids = ring_ids(6, 0, 1500)
    found = rows(frames.overlaps(wanted, 8), "subscriber")
    assert found.num_rows == 8
    for row in found.to_pylist():
        own = row["subscriber"]
        rest = np.arange(1500) != own
        kept = select_ring(
            lows[own], highs[own], int(ids[own]), lows[rest], highs[rest], ids[rest].astype("u8")
        )
        assert row["links"] == len(set(kept.successors) | set(kept.predecessors))
        near = ((lows <= highs[own]) & (highs >= lows[own])).all(axis=1)
        assert row["overlaps"] == np.count_nonzero(near) - 1
    monkeypatch.setattr(blocks, "ROWS", 400)
    assert rows(frames.overlaps(wanted.repartition(3), 8), "subscriber") == found


def test_early_looks_choose_what_a_look_at_everybody_does(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[frames.overlaps.__module__]
    (lows, highs), ids = SPEC.subscriptions(1500, 6), ring_ids(6, 0, 1500)
    found: dict[int, list[Any]] = {4: [], 10**6: []}
    for look in found:
        monkeypatch.setattr(module, "_FIRST_LOOK", look)
        for k in range(20):
            rest = np.arange(1500) != k
            box = lows[k], highs[k], int(ids[k])
            found[look].append(module._chosen(box, lows[rest], highs[rest], ids[rest]))
    assert all(np.array_equal(*both) for both in zip(*found.values(), strict=True))


def test_statistics_are_those_of_the_lengths(wanted: Any, published: Any) -> None:
    counts = frames.match_counts(wanted, published)
    sizes = counts.toArrow()["matches"].to_numpy()
    found = frames.ring_statistics(counts, frames.loads(wanted, published)).toArrow().to_pylist()
    assert [row["quantity"] for row in found] == [
        "ring length", "rings per subscriber", "successors per subscriber"
    ]  # fmt: skip
    assert found[0]["mean"] == pytest.approx(sizes.mean())
    assert (found[0]["min"], found[0]["max"]) == (sizes.min(), sizes.max())
    assert found[0]["p50"] == np.quantile(sizes, 0.5, method="inverted_cdf")


def test_ring_ids_are_a_function_of_the_key(spark: Any) -> None:
    names = spark.createDataFrame(pa.table({"name": ["ann", "bob", "cy"]}))
    one = rows(frames.ring_ids(names, "name", seed=3), "name")
    two = rows(frames.ring_ids(names.repartition(3), "name", seed=3), "name")
    assert one == two
    assert min(one["ring_id"].to_pylist()) >= 0
    assert len({*one["ring_id"].to_pylist()}) == 3


def test_what_kernels_cannot_use_is_an_error_that_names_the_row(spark: Any) -> None:
    events = spark.createDataFrame(pa.table({"event": [1], "x": [0.5]}))
    for low, high, reason in ((None, 1.0, "x_low is null or NaN"), (2.0, 1.0, "low > high")):
        box = pa.table({"subscriber": [9], "x_low": pa.array([low], "f8"), "x_high": [high]})
        with pytest.raises(Exception, match=rf"subscriber 9: {reason}"):
            frames.match_counts(spark.createDataFrame(box), events).count()
    other = spark.createDataFrame(pa.table({"subscriber": [9], "y_low": [0.0], "y_high": [1.0]}))
    with pytest.raises(InputError, match="events: no column 'y', expected event, y"):
        frames.match_counts(other, events)


def test_churn_and_topics_are_those_of_the_spec(spark: Any, tmp_path: Path) -> None:
    text = "[topics]\nfanout = [2, 2]\n[churn]\nsession = 5\nabsence = 5\n"
    (tmp_path / "news.toml").write_text(text)
    spec = workloads.load(tmp_path / "news.toml")
    paths = rows(frames.topics(spark, spec), "topic")["path"].to_pylist()
    assert paths == [".", ".0", ".0.0", ".0.1", ".1", ".1.0", ".1.1"]
    moves = rows(frames.churn(spark, spec, 50, 20, 3), "cycle", "subscriber")
    law = spec.churn
    assert law is not None
    trace = law.trace(50, 20, 3)
    assert moves.num_rows == len(trace.cycle) + int(trace.up.sum())
    lows, highs = spec.subscriptions(200, 1)
    events = frames.candidates(spark, spec, 30, 1)
    counts = rows(frames.match_counts(frames.subscriptions(spark, spec, 200, 1), events), "event")
    assert np.array_equal(counts["matches"].to_numpy(), count_matches(lows, highs, spec.candidates(1, 0, 30)))
