"""Numbered tasks in processes on all cores of this machine, without Spark.

Simulations hold the interpreter's lock, so threads would wait for one another. Processes are spawned, not
forked, because threads of numba and Arrow do not survive a fork.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context

from sub2sub.compiled.common.threads import use_threads


def run_in_processes(
    task: Callable[[int], object], count: int, processes: int, progress: Callable[[int, int], None]
) -> None:
    """Call `task(0)` to `task(count - 1)` in this many processes; with one, in this process.

    An error or an interruption ends all tasks, so a task must write its result atomically. It is pickled.
    """
    if processes == 1 or count < 2:
        for number in range(count):
            task(number)
            progress(number + 1, count)
        return
    others = set(active_children())
    workers = min(processes, count)
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_work_alone) as pool:
        jobs = [pool.submit(task, number) for number in range(count)]
        try:
            for done, job in enumerate(as_completed(jobs)):
                job.result()
                progress(done + 1, count)
        except BrokenProcessPool:
            # An OSError is one line on the command line.
            raise ChildProcessError(
                "a process was ended from outside, perhaps because memory was short; "
                "what is complete is kept: give the same command again to continue"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - others:
                worker.terminate()
            raise


def _work_alone() -> None:
    """Use one core, and ignore Ctrl-C, which the parent process handles."""
    use_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
