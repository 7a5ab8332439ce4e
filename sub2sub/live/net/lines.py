"""Channels whose host has cost much lately stand in line: one frame of one of them, then everybody's turn.

If each of a host's connections had a frame handled before all others have a turn, a host with a hundred
connections would delay everybody else for as long as a hundred frames take. In line, a few such hosts delay
others by a frame each.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol


class InLine(Protocol):
    """A channel that may stand in line."""

    host: str
    closed: bool

    def take_turn(self) -> None:
        """Handle a frame."""


class Lines:
    """One line for each host.

    Parameters
    ----------
    owed : callable
        For how many seconds a host is overdrawn, now.
    is_dear : callable
        Whether it has cost so much lately that its channels have to stand in line.
    """

    def __init__(self, owed: Callable[[str], float], is_dear: Callable[[str], bool]) -> None:
        self._owed, self._is_dear = owed, is_dear
        self._of: dict[str, deque[InLine]] = {}

    def join(self, channel: InLine) -> bool:
        """Let a channel stand in line, if its host has cost much or others of its host stand there."""
        line = self._of.get(channel.host)
        if line is None:
            if not self._is_dear(channel.host):
                return False
            line = self._of[channel.host] = deque()
            asyncio.get_running_loop().call_later(self._owed(channel.host), self._serve, channel.host)
        line.append(channel)
        return True

    def _serve(self, host: str) -> None:
        """Let the first in line have its turn, if the host has saved up."""
        line = self._of[host]
        while line and line[0].closed:
            line.popleft()
        if not line:
            del self._of[host]
            return
        pause = self._owed(host)
        if pause <= 0.0:
            line.popleft().take_turn()
            pause = self._owed(host)
        asyncio.get_running_loop().call_later(pause, self._serve, host)
