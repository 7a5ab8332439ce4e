"""An asyncio event loop whose time is virtual and whose network is simulated.

It runs the same code as an event loop with real sockets: tasks, timeouts, queues and streams of asyncio work
unchanged. When no callback is ready, the clock jumps to the next timer, so idle time costs nothing. The order
of callbacks and the random numbers of the network determine all that happens: a seed gives the same history
each time.

A callback belongs to the machine in whose context it was scheduled (`sub2sub.live.virtual.machine`). The
callbacks of a stopped machine wait until it resumes; those of a crashed one never run.
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
        Exceptions of callbacks, and of tasks that no other task awaits.

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
        self._tasks: set[asyncio.Task[Any]] = set()  # asyncio holds tasks weakly: some would be collected
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []  # a heap by time, then by order
        self._order = itertools.count()
        network.loop = self
        self.set_exception_handler(lambda loop, context: self.broken.append(_reason(context)))

    def time(self) -> float:
        """Virtual seconds since the beginning."""
        return self._now

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, then cancel the other tasks and close the loop."""
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
        """Make a task, and keep it until it ends; note its exception if no other task awaits it."""
        task = asyncio.Task(coro, loop=self, name=str(name) if name else None, context=context)
        task.add_done_callback(self._note_end)
        self._tasks.add(task)
        return task

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *arguments: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Schedule a callback; callbacks of the same time run in the order in which they were scheduled."""
        timer = asyncio.TimerHandle(when, callback, arguments, self, context)
        heapq.heappush(self._timers, (when, next(self._order), timer))
        return timer

    async def create_server(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.Protocol], host: str, port: int, **options: Any
    ) -> Listener:
        """Listen at an address of the machine that calls this."""
        return self.network.listen(MACHINE.get(), protocol_factory, (host, port))

    async def create_connection(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.Protocol], host: str, port: int, **options: Any
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        """Connect from the machine that calls this."""
        return await self.network.connect(MACHINE.get(), protocol_factory, (host, port))

    def _note_end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() and not getattr(task, "awaited", False):
            self.broken.append(repr(task.exception()))

    def _run_once(self) -> None:
        """Run the callbacks that are due; if none is, advance the clock to the next timer first."""
        timers, ready = self._timers, self._ready
        if not ready and not self._stopping:
            while timers and timers[0][2].cancelled():
                heapq.heappop(timers)
            if not timers:
                raise RuntimeError("all tasks wait, and no timer is set")
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
        """Do nothing: cancelled timers are dropped at their time."""

    def _write_to_self(self) -> None:
        """Do nothing: no other thread calls this loop."""


def _reason(context: dict[str, Any]) -> str:
    return repr(context.get("exception") or context.get("message"))
