"""Processor time of the pipeline beside DuckDB, Polars and a NumPy scan, whole queries in one run.

    python benchmarks/frames.py 1000000 10000 [--others]

Processor time is that of this process and all that it started, the JVM and Python workers included. Each step
of ours runs twice, because the first one compiles. Others count matches on the same rows, from the same files
(DuckDB and Polars as a join of ranges, NumPy as a scan of all subscriptions for each event); results are
compared.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

from workloads import frames, named
from workloads.spark.session import spark_session


def processor_seconds() -> float:
    """Of this process and all its descendants, living ones and those they waited for."""
    tick, children, used = os.sysconf("SC_CLK_TCK"), {}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        pid = int(status.parent.name)
        used[pid] = sum(map(int, words[11:15])) / tick
        children.setdefault(int(words[1]), []).append(pid)
    waiting, total = [os.getpid()], 0.0
    while waiting:
        pid = waiting.pop()
        total += used.get(pid, 0.0)
        waiting += children.get(pid, [])
    return total


def timed(what: str, work: Callable[[], Any]) -> Any:
    used, began = processor_seconds(), time.perf_counter()
    found = work()
    took = processor_seconds() - used
    print(f"{what:36} {took:8.1f} s of processors {time.perf_counter() - began:8.1f} s", flush=True)
    return found


def ours(place: Path, subscribers: int, events: int) -> None:
    spec = named("power-law-3")
    began = time.perf_counter()
    with spark_session() as spark:
        print(f"session started in {time.perf_counter() - began:.1f} s")

        def write(name: str, frame: Any) -> Any:
            frame.write.mode("overwrite").parquet(str(place / name))
            return spark.read.parquet(str(place / name))

        for turn in ("first", "warm"):
            print(turn)
            wanted = timed(
                "subscriptions", lambda: write("s", frames.subscriptions(spark, spec, subscribers, 1))
            )
            published = timed("events", lambda s=wanted: write("e", frames.events(s, spec, events, 1)))
            timed("counts", lambda s=wanted, e=published: write("c", frames.match_counts(s, e)))
            rings = timed("rings", lambda s=wanted, e=published: write("r", frames.rings(s, e)))
            timed("links", lambda r=rings: frames.ring_links(r).write.format("noop").mode("overwrite").save())
            timed("loads", lambda r=rings: write("l", frames.loads(r)))


def others(place: Path) -> None:
    import duckdb
    import polars

    wanted, published = (parquet.read_table(place / name) for name in ("s", "e"))
    expected = parquet.read_table(place / "c").sort_by("event")["matches"].to_numpy()
    names = [name for name in published.column_names if name != "event"]
    inside = " and ".join(f"e.{x} between s.{x}_low and s.{x}_high" for x in names)
    files = {name: str(place / name / "*.parquet") for name in "se"}

    def in_duckdb() -> Any:
        query = f"""select event, count(*) as n from '{files["e"]}' e join '{files["s"]}' s on {inside}
                    group by event order by event"""
        return duckdb.sql(query).fetchnumpy()["n"]

    def in_polars() -> Any:
        e, s = polars.scan_parquet(files["e"]), polars.scan_parquet(files["s"])
        on = [polars.col(x) >= polars.col(f"{x}_low") for x in names]
        on += [polars.col(x) <= polars.col(f"{x}_high") for x in names]
        joined = e.join_where(s, *on).group_by("event").len().sort("event")
        return joined.collect(engine="streaming")["len"].to_numpy()

    def in_numpy() -> Any:
        lows, highs = ([wanted[f"{x}_{end}"].to_numpy() for x in names] for end in ("low", "high"))
        points = np.stack([published.sort_by("event")[x].to_numpy() for x in names], axis=1)
        found = []
        for point in points:
            near = (lows[0] <= point[0]) & (point[0] <= highs[0])
            for axis in range(1, len(names)):
                near &= (lows[axis] <= point[axis]) & (point[axis] <= highs[axis])
            found.append(np.count_nonzero(near))
        return np.array(found)

    for name, count in (("NumPy scan", in_numpy), ("DuckDB", in_duckdb), ("Polars", in_polars)):
        found = timed(f"counts by {name}", count)
        print("  equal" if np.array_equal(found, expected) else "  DIFFERENT", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        ours(Path(folder), int(sys.argv[1]), int(sys.argv[2]))
        if "--others" in sys.argv:
            others(Path(folder))
        memory = max(
            resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print(f"largest process: {memory / 2**20:.1f} GB")
