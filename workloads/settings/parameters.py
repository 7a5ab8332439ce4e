"""The settings of a class: its fields or constructor parameters, with the descriptions in its docstring."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

REQUIRED: Any = object()
"""In place of a default."""

_SECTION = re.compile(r"(?:Attributes|Parameters)\n-+\n(.*?)(?:\n\n\w[^\n]*\n-+\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Parameter:
    """A field of a dataclass or a parameter of a constructor.

    `meaning` describes one that its class does not document.
    """

    hint: Any
    default: Any = REQUIRED
    meaning: str = ""


def parameters(target: Callable[..., Any]) -> dict[str, Parameter]:
    """The settings of a dataclass or of a class with an annotated constructor.

    Examples
    --------
    >>> from workloads.generate.churn import Churn
    >>> parameters(Churn)["change"]
    Parameter(hint=<class 'float'>, default=0.0, meaning='')
    """
    if dataclasses.is_dataclass(target):
        hints = get_type_hints(target, include_extras=True)
        return {
            field.name: Parameter(hints[field.name], _default(field))
            for field in dataclasses.fields(target)
            if field.init
        }
    hints = get_type_hints(target.__init__ if inspect.isclass(target) else target, include_extras=True)
    return {
        name: Parameter(hints[name], REQUIRED if found.default is found.empty else found.default)
        for name, found in inspect.signature(target).parameters.items()
    }


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return REQUIRED if field.default_factory is dataclasses.MISSING else field.default_factory()


def documented(target: Any) -> dict[str, str]:
    """Descriptions of attributes and parameters, from the docstrings of a class and of its base classes.

    Examples
    --------
    >>> from workloads.generate.churn import Churn
    >>> documented(Churn)["alpha"]
    'Tail of the Pareto lengths, above 1; smaller is heavier.'
    """
    found: dict[str, str] = {}
    for each in reversed(inspect.getmro(target)) if inspect.isclass(target) else (target,):
        found |= _descriptions(each.__doc__)
    return found


def _descriptions(text: str | None) -> dict[str, str]:
    """Descriptions of attributes and parameters in one docstring."""
    section = _SECTION.search(inspect.cleandoc(text or ""))
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section[1].splitlines() if section else ():
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        elif names:
            for name in names:
                found[name] = f"{found.get(name, '')} {line.strip()}".strip()
    return found


def member_name(member: enum.Enum) -> str:
    """How a member of an enumeration is written in a file."""
    return member.name.lower().replace("_", "-")


def plain(value: Any) -> Any:
    """Settings as tables, with all defaults and without the values that are None.

    Examples
    --------
    >>> from workloads.generate.churn import Churn
    >>> plain(Churn(session=50, absence=10, lengths="pareto"))["lengths"]
    'pareto'
    """
    if hasattr(value, "to_table"):
        return value.to_table()
    if dataclasses.is_dataclass(value):
        items = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: plain(item) for name, item in items if item is not None}
    if isinstance(value, enum.Enum):
        return member_name(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
