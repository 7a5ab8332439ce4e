"""Stopping between cycles: a request to stop waits until the state is whole."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

__all__ = ["Interruption"]


class Interruption:
    """While its `with` block runs, Ctrl-C and SIGTERM are noted instead of breaking off; a second one breaks.

    Outside the main thread, where signals do not arrive, nothing is asked.

    Examples
    --------
    >>> import os
    >>> with Interruption() as interruption:
    ...     os.kill(os.getpid(), signal.SIGINT)
    ...     interruption.asked
    True
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in self.SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        if sys.stderr.isatty():
            print("\nstopping after this cycle; once more to stop at once", file=sys.stderr)
