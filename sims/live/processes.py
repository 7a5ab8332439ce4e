"""Many processes, each an asyncio program with a pipe to the one that started it.

Processes are forked from a server that has imported everything and compiled nothing since (Python's
`forkserver`), so that two hundred of them share one copy of the interpreter, numba and the kernels. They are
real processes: they communicate over sockets and are killed by signals. A process ends when its pipe is
closed, so none outlives the process that started it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import multiprocessing
import signal
import time
from collections.abc import Iterable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from typing import Any, Protocol, Self

from sub2sub.live import run

PRELOAD = "sims.live.warm"


class Program(Protocol):
    """What runs in a process. Its methods are called by name from outside; it must be picklable."""

    async def start(self) -> None:
        """Set up, in the process."""

    async def stop(self) -> None:
        """Take down."""


class Failed(RuntimeError):
    """A process that has ended, does not answer, or reports an error."""


class Closed:
    """Something that the end of its `with` block closes."""

    def close(self) -> None:
        """End all processes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Processes(Closed):
    """Processes that run programs.

    Parameters
    ----------
    programs : sequence of Program
        One for each process.

    Examples
    --------
    >>> from sims.live.warm import Echo
    >>> with Processes([Echo("a"), Echo("b")]) as both:
    ...     both.call_all("say", "hello")
    {0: 'a says hello', 1: 'b says hello'}
    """

    def __init__(self, programs: Sequence[Program], timeout: float = 60.0) -> None:
        self.timeout = timeout
        self._tickets = itertools.count()
        self._pipes: dict[int, Connection] = {}
        self._processes: dict[int, ForkServerProcess] = {}
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([PRELOAD])
        try:
            for number, program in enumerate(programs):
                here, there = context.Pipe()
                process = context.Process(target=_run, args=(program, there), daemon=True)
                process.start()
                there.close()
                self._pipes[number], self._processes[number] = here, process
            self._collect(dict.fromkeys(self._pipes), time.monotonic() + timeout)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> list[int]:
        """Numbers of the processes not killed."""
        return sorted(self._pipes)

    def call(self, number: int, method: str, *arguments: Any) -> Any:
        """Call a method of one program."""
        return self.call_each(method, {number: arguments})[number]

    def call_all(self, method: str, *arguments: Any) -> dict[int, Any]:
        """Call a method of all programs; results by number."""
        return self.call_each(method, dict.fromkeys(self.alive, arguments))

    def call_each(self, method: str, arguments: dict[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of some programs, each with its own arguments."""
        tickets: dict[int, int | None] = {}
        for number, own in arguments.items():
            tickets[number] = next(self._tickets)
            self._pipes[number].send((tickets[number], method, own))
        return self._collect(tickets, time.monotonic() + self.timeout)

    def kill(self, numbers: Iterable[int]) -> None:
        """Kill processes by signal, and wait until they are gone."""
        numbers = list(numbers)
        for number in numbers:
            self._processes[number].kill()
        for number in numbers:
            self._processes[number].join(self.timeout)
            self._pipes.pop(number).close()

    def close(self) -> None:
        """End all processes: by closing their pipes, then by signals."""
        for pipe in self._pipes.values():
            pipe.close()
        self._pipes.clear()
        for end in (lambda process: None, ForkServerProcess.terminate, ForkServerProcess.kill):
            left = [process for process in self._processes.values() if process.is_alive()]
            for process in left:
                end(process)
            deadline = time.monotonic() + 5.0
            for process in left:
                process.join(max(0.0, deadline - time.monotonic()))

    def _collect(self, tickets: dict[int, int | None], deadline: float) -> dict[int, Any]:
        """Gather one reply from each process, that with its ticket."""
        results: dict[int, Any] = {}
        while len(results) < len(tickets):
            pending = {self._pipes[number]: number for number in tickets if number not in results}
            ready = wait(list(pending), max(0.0, deadline - time.monotonic()))
            if not ready:
                raise Failed(f"process {min(pending.values())}: expected an answer within {self.timeout} s")
            for pipe, number in pending.items():
                if pipe not in ready:
                    continue
                try:
                    ticket, error, value = pipe.recv()
                except (EOFError, OSError):
                    raise Failed(f"process {number}: expected it to run, it has ended") from None
                if ticket != tickets[number]:
                    continue
                if error:
                    raise Failed(f"process {number}: {error}")
                results[number] = value
        return {number: results[number] for number in tickets}


def _run(program: Program, pipe: Connection) -> None:
    """What a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it decides
    logging.basicConfig(level=logging.WARNING)
    run(_serve(program, pipe))


async def _serve(program: Program, pipe: Connection) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    tasks: set[asyncio.Task[None]] = set()

    async def answer(ticket: int, method: str, arguments: tuple[Any, ...]) -> None:
        value, error = None, ""
        try:
            value = await getattr(program, method)(*arguments)
        except Exception as problem:
            error = f"{method}: {type(problem).__name__}: {problem}"
        _send(pipe, (ticket, error, value))

    def hear() -> None:
        try:
            while pipe.poll():
                task = asyncio.create_task(answer(*pipe.recv()))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        except (EOFError, OSError):
            loop.remove_reader(pipe.fileno())
            ended.set()

    try:
        await program.start()
    except Exception as problem:
        _send(pipe, (None, f"start: {type(problem).__name__}: {problem}", None))
        return
    loop.add_reader(pipe.fileno(), hear)
    _send(pipe, (None, "", None))
    await ended.wait()
    for task in tasks:
        task.cancel()
    async with asyncio.timeout(5.0):
        await program.stop()


def _send(pipe: Connection, reply: tuple[int | None, str, Any]) -> None:
    with contextlib.suppress(OSError):  # the process at the other end may have ended
        pipe.send(reply)
