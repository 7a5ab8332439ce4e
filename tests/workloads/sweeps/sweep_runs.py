"""Functions that the sweep tests run."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any


def product(settings: dict[str, Any]) -> dict[str, Any]:
    """a * b + seed, noting in `log` that it was called; refuses a = 13."""
    with Path(settings["log"]).open("a") as log:
        log.write(f"{settings['a']} {settings['b']} {settings['seed']}\n")
    if settings["a"] == 13 and not Path(settings["log"]).with_name("mended").exists():
        raise ValueError("thirteen")
    return {"product": settings["a"] * settings["b"] + settings["seed"], "name": f"{settings['a']}"}


def clashing(settings: dict[str, Any]) -> dict[str, Any]:
    """A result under the name of a setting."""
    return {"a": 1}


def fatal(settings: dict[str, Any]) -> dict[str, Any]:
    """The seed; kills its own process at seed 2, and needs a disk that is full at seed 3."""
    if settings["seed"] == 2 and "mended" not in settings:
        os.kill(os.getpid(), signal.SIGKILL)
    if settings["seed"] == 3:
        raise OSError(28, "No space left on device")
    return {"found": settings["seed"]}
