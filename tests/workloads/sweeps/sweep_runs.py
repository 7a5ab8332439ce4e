"""Functions that the sweep tests run."""

from __future__ import annotations

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
