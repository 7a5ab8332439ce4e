"""Processor time of the pipeline beside DuckDB, Polars and a NumPy scan, whole queries in one run.

    python benchmarks/frames.py 1000000 10000 [--times 20] [--others]

Processor time is that of this process and all that it started, the JVM and Python workers included; memory is
the most that all of them had at a time. Each step of ours runs twice, because the first one compiles, and a
third time with so many times as many subscriptions. Others count matches on the same rows, from the same
files (DuckDB and Polars as a join of ranges, NumPy as a scan of all subscriptions for each event); results
are compared.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

from workloads import frames, named
from workloads.spark.session import spark_session


class Processes:
    """Processor seconds and memory of this process and of all that it started, looked at five times a second.

    A worker that ended keeps what was last seen of it: Spark's daemon leaves no account of its children.
    """

    def __init__(self) -> None:
        self.used: dict[tuple[str, ...], float] = {}
        self.most = 0  # bytes of all together
        self.looking = 0.0  # seconds of the thread that looks, which are no part of the work
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.seconds()
            self.looking = time.thread_time()
            time.sleep(0.2)

    def seconds(self) -> float:
        """The sum over all processes, ended ones too, without this watch."""
        tick = os.sysconf("SC_CLK_TCK")
        children: dict[int, list[int]] = {}
        words = {}
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                found = status.read_text().rpartition(")")[2].split()
            except OSError:  # ended meanwhile
                continue
            words[int(status.parent.name)] = found
            children.setdefault(int(found[1]), []).append(int(status.parent.name))
        waiting, memory = [os.getpid()], 0
        while waiting:
            pid = waiting.pop()
            if pid in words:
                self.used[str(pid), words[pid][19]] = sum(map(int, words[pid][11:13])) / tick
                with suppress(OSError):
                    # Forked workers share most pages with the process that they are from: each counts once.
                    memory += int(Path(f"/proc/{pid}/smaps_rollup").read_text().split("Pss:")[1].split()[0])
            waiting += children.get(pid, [])
        self.most = max(self.most, 1024 * memory)
        return sum(self.used.values()) - self.looking


PROCESSES = Processes()


def timed(what: str, work: Callable[[], Any]) -> Any:
    used, began, PROCESSES.most = PROCESSES.seconds(), time.perf_counter(), 0
    found = work()
    took = PROCESSES.seconds() - used
    print(
        f"{what:36} {took:8.1f} s of processors {time.perf_counter() - began:8.1f} s"
        f" {PROCESSES.most / 1e9:6.1f} GB",
        flush=True,
    )
    return found


def ours(place: Path, sizes: dict[str, int], events: int) -> None:
    spec, began = named("power-law-3"), time.perf_counter()
    with spark_session() as spark:
        print(f"session started in {time.perf_counter() - began:.1f} s")

        def write(name: str, frame: Any) -> Any:
            frame.write.mode("overwrite").parquet(str(place / name))
            return spark.read.parquet(str(place / name))

        def links(rings: Any) -> None:
            frames.ring_links(rings).write.format("noop").mode("overwrite").save()

        for turn, size in sizes.items():
            print(f"{turn}: {size} subscriptions, {events} events")
            s = timed("subscriptions", lambda n=size: write("s", frames.subscriptions(spark, spec, n, 1)))
            e = timed("events", lambda s=s: write("e", frames.events(s, spec, events, 1)))
            timed("counts", lambda s=s, e=e: write("c", frames.match_counts(s, e)))
            r = timed("rings", lambda s=s, e=e: write("r", frames.rings(s, e)))
            timed("links", lambda r=r: links(r))
            timed("loads", lambda s=s, e=e: write("l", frames.loads(s, e)))


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
    count, asked = int(sys.argv[1]), sys.argv[3:]
    turns = {"first": count, "warm": count}
    if "--times" in asked:
        turns["larger"] = count * int(asked[asked.index("--times") + 1])
    with tempfile.TemporaryDirectory() as folder:
        ours(Path(folder), turns, int(sys.argv[2]))
        if "--others" in asked:
            others(Path(folder))
