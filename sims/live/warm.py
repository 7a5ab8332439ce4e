"""What the server that processes are forked from has in memory: all modules of live peers.

A process that is forked after this import starts in milliseconds, and shares that memory.
"""

from __future__ import annotations

import gc

import hierarchy.live  # noqa: F401
import sub2sub.live  # noqa: F401


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


gc.freeze()  # garbage collection in the forked processes then skips what is loaded by now
