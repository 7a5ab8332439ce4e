"""The overlays a run can simulate, by name; each says what may be set and observed, and builds itself."""

from __future__ import annotations

from importlib import import_module

from sims.runs.systems.interface import Prepared, System

__all__ = ["NAMES", "Prepared", "System", "system"]

NAMES = ("sub2sub", "camcast", "hpmcast")


def system(name: str) -> System:
    """The system of that name, imported when it is asked for.

    Examples
    --------
    >>> system("sub2sub").layer_names
    ('cyclon', 'vicinity', 'ring')
    """
    found: System = import_module(f"sims.runs.systems.{name}").SYSTEM
    return found
