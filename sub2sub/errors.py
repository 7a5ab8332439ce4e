"""`InputError`, the exception for invalid input, and `require`, which checks settings."""

from __future__ import annotations

import linecache
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from traceback import walk_tb

PACKAGES = ("sub2sub", "hierarchy", "workloads", "sims")


class InputError(ValueError):
    """Invalid input. The message is one line: the field, the row if there is one, and what was expected.

    The command line prints it without a traceback and exits with code 2; a notebook shows the line of its own
    that was wrong, and the message.
    """

    def _render_traceback_(self) -> list[str]:
        """Return what IPython prints: the last line before this library was called, and the message."""
        called = []
        for frame, number in walk_tb(self.__traceback__):
            if frame.f_globals.get("__name__", "").partition(".")[0] in PACKAGES:
                break
            code = linecache.getline(frame.f_code.co_filename, number).strip()
            called = [f"line {number}: {code}"]
        return [*called, f"{type(self).__name__}: {self}"]


def require(settings: object, table: str = "", /, **domains: float | tuple[float, float]) -> None:
    """Check that numbers among the attributes of `settings` are within their domains.

    A domain is a minimum, or a pair (minimum, maximum). Attributes that a dataclass declares as `int` must be
    whole numbers, those that it declares as `bool` True or False; optional ones may be None.

    Raises
    ------
    InputError
        For the first attribute outside its domain; `table` is put before the attribute's name.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> require(SimpleNamespace(view=20, tries=0), "cyclon", view=(1, 63), tries=1)
    Traceback (most recent call last):
    sub2sub.errors.InputError: cyclon.tries: expected 1 or more, got 0
    """
    declared = {field.name: field.type for field in fields(settings)} if is_dataclass(settings) else {}
    prefix = f"{table}." if table else ""
    for name, kind in declared.items():
        if kind in ("bool", bool) and not isinstance(value := getattr(settings, name), bool):
            raise InputError(f"{prefix}{name}: expected True or False, got {value!r}")
    for name, domain in domains.items():
        low, high = domain if isinstance(domain, tuple) else (domain, None)
        value, kind = getattr(settings, name), declared.get(name)
        if value is None and "None" in str(kind):
            continue
        whole = kind in ("int", int)
        is_number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
        if not is_number or not low <= value or (high is not None and not value <= high):
            expected = f"{low:g} or more" if high is None else f"{low:g} to {high:g}"
            expected = expected if is_number else f"a {'whole ' * whole}number, {expected}"
            raise InputError(f"{prefix}{name}: expected {expected}, got {value!r}")
