"""What the server that processes are forked from has in memory: live peers with their kernels compiled.

A process that is forked after this import starts in milliseconds, and shares that memory.
"""

from __future__ import annotations

import gc

from hierarchy.live.warmup import warm_up as warm_up_members
from sub2sub.live.net.warmup import warm_up


class Echo:
    """A program to try processes with."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def start(self) -> None:
        """Nothing to set up."""

    async def stop(self) -> None:
        """Nothing to take down."""

    async def say(self, what: str) -> str:
        """Repeat it."""
        return f"{self.name} says {what}"


warm_up()
warm_up_members()
gc.freeze()  # garbage collection in the forked processes then skips what is loaded by now
