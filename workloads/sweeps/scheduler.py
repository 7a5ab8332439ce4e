"""The one scheduler: runs the units of a plan here, in processes or on Spark, and skips what has a result.

A unit is a function with its settings. Its result is a file named by the unit's key, a digest of everything
that the result depends on: code, settings, files that they name. So an interrupted plan continues where it
was, and results of other code are not used. `sub2sub sweep`, `compare` and `reproduce` are plans for it.

A unit that fails, or whose process is killed, keeps no other from running. It has no file; the reason is
returned, and a traceback is in `KEY.error.txt`.
"""

from __future__ import annotations

import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sub2sub.compiled.common.threads import use_threads
from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write, remove_drafts
from workloads.files.checked import digest, file_digest, read_parquet, write_parquet
from workloads.settings.plugins import plugin
from workloads.spark import packages

if TYPE_CHECKING:  # Spark is loaded by those only who have a session
    from workloads.spark.tasks import Spark

Progress = Callable[[int, int], None]
"""Called as progress(done, total)."""

KILLED = "its process was ended from outside, perhaps because memory was short"
_SECONDS = b"seconds"


@dataclass(frozen=True)
class Unit:
    """One call of a function.

    Attributes
    ----------
    run : str
        "module:function", from a dict of settings to a table, or to a dict that is its only row.
    settings : mapping
    key : str
        Name of its file, from `key_of`.
    """

    run: str
    settings: Mapping[str, Any]
    key: str


def key_of(run: str, *parts: Any) -> str:
    """The digest of a function's code, and of everything else that its result depends on.

    Examples
    --------
    >>> key_of("math:prod", {"a": 1, "b": 2}) == key_of("math:prod", {"b": 2, "a": 1})
    True
    """
    return digest([run, code_of(run), *parts])


def code_of(run: str) -> str:
    """Digest of our packages, and of the function's own file if it is not part of them."""
    file = getattr(sys.modules[function_of(run).__module__], "__file__", None)
    outside = file is not None and not packages.has(Path(file))
    return packages.digest() + (file_digest(Path(str(file))) if outside else "")


def function_of(run: str) -> Callable[[dict[str, Any]], Any]:
    """The function that "module:function" names."""
    found: Callable[[dict[str, Any]], Any] = plugin(run, "run", trusted=True)
    return found


def run_units(
    units: Sequence[Unit],
    folder: Path,
    *,
    processes: int = 1,
    spark: Spark = None,
    progress: Progress | None = None,
) -> dict[str, str]:
    """Run the units that have no result in a folder yet.

    Parameters
    ----------
    folder : Path
        Folder of the results; on Spark one that all workers share.
    processes : int
        Units at the same time on this machine; with 1 they run in this process.
    spark : SparkSession, optional
        Where to run, one task per unit; on this machine if not given.

    Returns
    -------
    dict
        Why units have no result, by their keys.

    Raises
    ------
    InputError
        If workers wrote their results where this process does not see them.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    remove_drafts(folder)
    todo = [unit for unit in units if not _file(folder, unit).exists()]
    done = len(units) - len(todo)

    def report(now: int, _: int) -> None:
        if progress is not None:
            progress(done + now, len(units))

    report(0, len(todo))
    attempts = partial(_attempt, todo, folder)
    if spark is not None:
        from workloads.spark.tasks import run_tasks

        reasons = run_tasks(spark, len(todo), attempts, lambda _, now, total: report(now, total))
    elif processes == 1 or len(todo) < 2:
        reasons = {}
        for number in range(len(todo)):
            reasons[number] = attempts(number)
            report(number + 1, len(todo))
    else:
        reasons = _in_processes(attempts, len(todo), processes, report)
    failed = {todo[number].key: reason for number, reason in reasons.items() if reason}
    lost = sum(unit.key not in failed and not _file(folder, unit).exists() for unit in units)
    if lost:
        raise InputError(
            f"{folder}: {lost} of {len(units)} runs left no result: expected a folder that all workers share"
        )
    return failed


def read_unit(folder: Path, unit: Unit) -> pa.Table:
    """The table that a unit left."""
    return read_parquet(_file(folder, unit))


def seconds_of(table: pa.Table) -> float:
    """How long the unit took whose table this is."""
    return float(table.schema.metadata[_SECONDS])


def _file(folder: Path, unit: Unit) -> Path:
    return folder / f"{unit.key}.parquet"


def _attempt(units: Sequence[Unit], folder: Path, number: int) -> str:
    """Run a unit and write its table; return why there is none, or nothing."""
    unit, began, cpu = units[number], time.perf_counter(), time.process_time()
    trace = folder / f"{unit.key}.error.txt"
    try:
        found = function_of(unit.run)(dict(unit.settings))
        table = found if isinstance(found, pa.Table) else pa.Table.from_pylist([found])
        took = {_SECONDS: time.perf_counter() - began, b"cpu seconds": time.process_time() - cpu}
        notes = {**(table.schema.metadata or {}), **{name: f"{value:.3f}" for name, value in took.items()}}
        with atomic_write(_file(folder, unit)) as draft:
            write_parquet(table.replace_schema_metadata(notes), draft)
        trace.unlink(missing_ok=True)
    except Exception as failure:  # a reason why this unit has no result, and the others go on
        with suppress(OSError):  # a full disk
            trace.write_text(traceback.format_exc(), encoding="utf-8")
        return f"{type(failure).__name__}: {failure}"
    return ""


def _in_processes(
    attempts: Callable[[int], str], count: int, processes: int, report: Progress
) -> dict[int, str]:
    """Make all attempts in processes; one that is killed loses its own attempt only.

    Processes, not threads: simulations hold the interpreter's lock. They are spawned, not forked, because
    threads of numba and Arrow do not survive a fork. Each is a pool of its own, so that a broken one tells
    which attempt it had.
    """
    waiting, reasons = deque(range(count)), dict[int, str]()
    running: dict[Future[str], tuple[int, ProcessPoolExecutor]] = {}
    others = set(active_children())

    def begin(pool: ProcessPoolExecutor) -> None:
        if waiting:
            number = waiting.popleft()
            running[pool.submit(attempts, number)] = number, pool
        else:
            pool.shutdown(wait=False)

    try:
        for _ in range(min(processes, count)):
            begin(_process())
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number, pool = running.pop(future)
                try:
                    reasons[number] = future.result()
                except BrokenProcessPool:
                    reasons[number] = KILLED
                    pool = _process()
                begin(pool)
                report(len(reasons), count)
    except BaseException:
        for child in set(active_children()) - others:
            child.terminate()
        raise
    return reasons


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), initializer=_work_alone)


def _work_alone() -> None:
    """Use one core, and ignore Ctrl-C, which the parent process handles."""
    use_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
