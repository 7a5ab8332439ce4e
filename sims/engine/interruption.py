"""Stopping between cycles: a request to stop waits until the current cycle is complete."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any


class Interruption:
    """Defer Ctrl-C and SIGTERM while the `with` block runs: the first sets `asked`, the second interrupts.

    Outside the main thread signals do not arrive, so `asked` stays false.

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
