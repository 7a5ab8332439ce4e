"""Tables of a TOML file as fields of dataclasses: unknown keys, missing ones and wrong types are refused."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sub2sub.errors import InputError

__all__ = ["UnknownKey", "file_of", "frozen", "known"]


class UnknownKey(InputError):
    """A key that nobody knows; `pattern` finds it in the file."""

    def __init__(self, key: str, where: str, keys: Sequence[str]) -> None:
        near = difflib.get_close_matches(key, keys, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(keys)}"
        super().__init__(f"{where}: unknown key {key!r}, {meant}")
        self.pattern = re.compile(rf"(^|[\s{{,\[]){re.escape(key)}\s*(=|\])")


def known(cls: type, data: Any, where: str, also: Sequence[str] = ()) -> dict[str, Any]:
    """The items of a table, if each is a field of `cls` of the right type and none is missing.

    Parameters
    ----------
    also : sequence of str
        Other keys that may be there; then fields may be missing, as these may stand for them.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"{where} = {data!r}: expected a table")
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for key, value in data.items():
        if key not in fields and key not in also:
            raise UnknownKey(key, where, [*fields, *also])
        if key in fields and (expected := _misfit(value, str(fields[key].type))):
            raise InputError(f"{where}.{key} = {value!r}: expected {expected}")
    for field in fields.values():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and field.name not in data and not also:
            raise InputError(f"{where}: expected {field.name!r}")
    return {key: value for key, value in data.items() if key in fields}


def _misfit(value: Any, kind: str) -> str | None:
    """What was expected of a value, by its type as it is written; None if it fits or is looked at later."""
    if kind.startswith("tuple[") and "float" in kind:
        if isinstance(value, Mapping):  # a file
            return None
        fits = isinstance(value, list) and all(_misfit(item, _inner(kind)) is None for item in value)
        return (
            None
            if fits
            else "a list of numbers"
            if kind.count("tuple") == 1
            else "a list of lists of numbers"
        )
    if kind in ("float", "float | None", "int"):
        number = isinstance(value, int if kind == "int" else (int, float)) and not isinstance(value, bool)
        return None if number else "a number"
    if kind in ("str", "bool"):
        return None if isinstance(value, str if kind == "str" else bool) else {"str": "text"}.get(kind, kind)
    return None


def _inner(kind: str) -> str:
    """What a tuple type is of: tuple[tuple[float, ...], ...] of tuple[float, ...]."""
    return "tuple[float, ...]" if kind.count("tuple") > 1 else "float"


def file_of(table: Mapping[str, Any], folder: Path | None) -> Path:
    """The file that a table names, relative to the folder."""
    if not isinstance(table.get("file"), str):
        raise InputError(f"file = {table.get('file')!r}: expected a path")
    return (folder or Path()) / str(table["file"])


def frozen(value: Any) -> Any:
    """Lists as tuples, at any depth."""
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value
