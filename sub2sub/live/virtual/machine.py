"""A machine of the simulated network: running, stopped, or crashed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sub2sub.live.virtual.transport import End

MACHINE: ContextVar[Any] = ContextVar("MACHINE", default=None)
"""The machine that the current code runs on."""


class Machine:
    """A machine with one address.

    Parameters
    ----------
    host : str
        Its address.

    Attributes
    ----------
    stopped, crashed : bool
    silent : bool
        Whether it crashed silently: connections to it are neither refused nor reset.
    ends : dict of End
        Its ends of connections, oldest first.
    """

    def __init__(self, host: str, loop: asyncio.AbstractEventLoop) -> None:
        self.host, self.loop = host, loop
        self.stopped = self.crashed = self.silent = False
        self.ends: dict[End, None] = {}
        self.context: Context = copy_context()
        self.context.run(MACHINE.set, self)
        self._held: list[asyncio.Handle] = []

    def start(self, program: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine on this machine; the caller awaits it."""
        task = self.loop.create_task(program, context=self.context.copy())
        task.awaited = True  # type: ignore[attr-defined]
        return task

    def runs(self, handle: asyncio.Handle) -> bool:
        """Whether a callback may run now; otherwise it is kept until the machine resumes."""
        if self.stopped or self.crashed:
            self._held.append(handle)
            return False
        return True

    def stop(self) -> None:
        """Stop, as with SIGSTOP: no code runs, connections stay open."""
        self.stopped = True

    def resume(self) -> None:
        """Resume; callbacks that were due meanwhile run now."""
        self.stopped = False
        held, self._held = self._held, []
        self.loop._ready.extend(held)  # type: ignore[attr-defined]

    def crash(self, silent: bool = False) -> None:
        """Crash: no code runs any more; unless it is silent, the other ends of connections are closed."""
        self.crashed, self.silent = True, silent
        for end in list(self.ends):
            end.die(silent)
