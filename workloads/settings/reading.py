"""Reading data as a type, with all errors reported at once."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from workloads.settings.problems import SettingsError, problems_of


def read(kind: Any, data: Any, **context: Any) -> Any:
    """Read data as a type that `table`, `either` or `one_of` made.

    Parameters
    ----------
    kind : type
    data : Any
        Tables, lists and values as `tomllib` returns them.
    **context
        What validators need beside the data, such as `folder`, to which paths are relative.

    Raises
    ------
    SettingsError
        With all errors.

    Examples
    --------
    >>> from workloads.generate.churn import Churn
    >>> from workloads.settings.models import table
    >>> read(table(Churn), {"session": 50, "absence": 10}).session
    50.0
    """
    try:
        return adapter(kind).validate_python(data, context=context)
    except ValidationError as error:
        raise SettingsError(problems_of(error, data)) from None


_adapters: dict[int, tuple[Any, TypeAdapter[Any]]] = {}


def adapter(kind: Any) -> TypeAdapter[Any]:
    """The adapter of a type, made once. Types are compared by identity, because some cannot be hashed."""
    if id(kind) not in _adapters:
        _adapters[id(kind)] = (kind, TypeAdapter(kind))
    return _adapters[id(kind)][1]
