"""An asyncio event loop whose time is virtual and whose network is simulated.

What runs on it is the code that runs over real sockets: tasks, timeouts, queues and streams of asyncio work
as ever. When nobody has anything to do the clock jumps to the next timer, so an hour takes as long as what
happens in it. Everything that happens is decided by the order of callbacks and by the network's draws: one
seed is one history.

Callbacks belong to the machine in whose context they were scheduled (`sub2sub.live.virtual.machine`). Those
of a machine that is stopped wait until it is resumed; those of one that has crashed are never run.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar

from sub2sub.live.virtual.conditions import Listener, Network
from sub2sub.live.virtual.machine import MACHINE, Machine

T = TypeVar("T")


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop in virtual time.

    Parameters
    ----------
    network : Network

    Attributes
    ----------
    broken : list of BaseException or str
        Why tasks have ended that nobody waits for, and callbacks that have failed.

    Examples
    --------
    >>> async def wait_an_hour():
    ...     await asyncio.sleep(3600.0)
    ...     return asyncio.get_running_loop().time()
    >>> VirtualLoop(Network(seed=1)).run(wait_an_hour())
    3600.0
    """

    _ready: deque[asyncio.Handle]
    _stopping: bool

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network, self.broken = network, list[Any]()
        self._now = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()  # asyncio alone would let Python collect some
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []  # a heap, by time and then by order
        self._order = itertools.count()
        network.loop = self
        self.set_exception_handler(lambda loop, context: self.broken.append(_told(context)))

    def time(self) -> float:
        """Virtual seconds since the beginning."""
        return self._now

    def spent(self) -> float:
        """Seconds of processor: what happens takes no time, so that one seed is one history."""
        return self._now

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a history to its end, then let everything that is left end."""
        try:
            return self.run_until_complete(main)
        finally:
            broken = list(self.broken)
            self.network.shut_down()
            while tasks := asyncio.all_tasks(self):
                for task in tasks:
                    task.cancel()
                self.run_until_complete(asyncio.wait(tasks))
            self.broken = broken
            self.close()

    def create_task(
        self, coro: Any, *, name: object = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        """Make a task, which lives until it ends; if it fails and nobody asks why, it is noted."""
        task = asyncio.Task(coro, loop=self, name=str(name) if name else None, context=context)
        task.add_done_callback(self._note_end)
        self._tasks.add(task)
        return task

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *arguments: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call something at a moment; of calls at the same moment the first is made first."""
        timer = asyncio.TimerHandle(when, callback, arguments, self, context)
        heapq.heappush(self._timers, (when, next(self._order), timer))
        return timer

    async def create_server(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.Protocol], host: str, port: int, **options: Any
    ) -> Listener:
        """Listen at an address of the machine this is called on."""
        return self.network.listen(MACHINE.get(), protocol_factory, (host, port))

    async def create_connection(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.Protocol], host: str, port: int, **options: Any
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        """Connect from the machine this is called on."""
        return await self.network.connect(MACHINE.get(), protocol_factory, (host, port))

    def _note_end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() and not getattr(task, "awaited", False):
            self.broken.append(repr(task.exception()))

    def _run_once(self) -> None:
        """Run what is due; if that is nothing, let time pass until something is."""
        timers, ready = self._timers, self._ready
        if not ready and not self._stopping:
            while timers and timers[0][2].cancelled():
                heapq.heappop(timers)
            if not timers:
                raise RuntimeError("everybody waits, and nothing will ever happen")
            self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            ready.append(heapq.heappop(timers)[2])
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle._cancelled:
                continue
            machine: Machine | None = handle._context.get(MACHINE)  # type: ignore[attr-defined]
            if machine is None or machine.runs(handle):
                handle._run()

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers leave when their time comes."""

    def _write_to_self(self) -> None:
        """Nobody else calls, so nobody has to be woken."""


def _told(context: dict[str, Any]) -> str:
    return repr(context.get("exception") or context.get("message"))
