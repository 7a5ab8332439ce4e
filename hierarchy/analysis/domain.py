"""Checks of parameters, which refuse values for which a formula is not defined."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Real
from typing import Any

from sub2sub.errors import InputError

Values = float | Sequence[float]
"""One value for all levels of a hierarchy, or one for each."""

_DOMAINS = {
    "probability": (lambda v: 0 <= v <= 1, "a probability"),
    "positive probability": (lambda v: 0 < v <= 1, "a probability above 0"),
    "size": (lambda v: v >= 1, "a number of processes not below 1"),
    "count": (lambda v: v >= 1, "a number not below 1"),
    "finite": (lambda v: True, "a finite number"),
    "not negative": (lambda v: v >= 0, "a number not below 0"),
}


def check(domain: str, **parameters: Any) -> None:
    """Raise for the first parameter outside `domain`, with its name.

    Examples
    --------
    >>> check("probability", p_sel=0.5, p_a=2)
    Traceback (most recent call last):
    sub2sub.errors.InputError: p_a: expected a probability, got 2
    """
    inside, expected = _DOMAINS[domain]
    for name, value in parameters.items():
        if not (isinstance(value, Real) and isfinite(value) and inside(value)):
            raise InputError(f"{name}: expected {expected}, got {value!r}")


def per_level(name: str, values: Values, levels: int, domain: str) -> list[float]:
    """A value for each level, all within `domain`, from one value or from one for each."""
    found = list(values) if isinstance(values, Sequence) else [values] * levels
    if len(found) != levels:
        raise InputError(
            f"{name}: expected one value or one for each of the {levels} levels, got {len(found)}"
        )
    check(domain, **{f"{name}[{level}]": value for level, value in enumerate(found)})
    return found


def check_upward_messages(n: float, z: float, **probabilities: float) -> None:
    """Raise for invalid parameters of upward messages: a size, a table size, and probabilities."""
    check("size", n=n)
    check("probability", **probabilities)
    check("count", z=z)
