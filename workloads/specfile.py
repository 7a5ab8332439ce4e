"""Workload specs as TOML files, and as the plain dictionaries that manifests keep.

    name = "stocks"
    events_follow = "interest"

    [[attributes]]
    name = "price"
    high = 1000.0
    wildcard = 0.1
    interest = { kind = "normal", mean = 0.3, deviation = 0.1 }
    width = { kind = "power-law", alpha = 4 }

Keys are the fields of `Spec`, `Attribute` and the distributions; `kind` names the distribution. An
empirical distribution and the event table may name a file, relative to the TOML file:
`{ kind = "empirical", file = "prices.csv", column = "price" }`, `event_table = { file = "trades.parquet" }`.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sub2sub.errors import InputError
from workloads import distributions
from workloads.catalogue import named
from workloads.spec import Attribute, Spec
from workloads.tables import read_columns

__all__ = ["from_dict", "load", "resolve", "to_dict"]

KINDS: dict[str, type] = {
    "constant": distributions.Constant,
    "empirical": distributions.Empirical,
    "mixture": distributions.Mixture,
    "normal": distributions.Normal,
    "power-law": distributions.PowerLaw,
    "uniform": distributions.Uniform,
    "zipf": distributions.Zipf,
}
_KIND_OF = {cls: kind for kind, cls in KINDS.items()}


def resolve(name: str) -> Spec:
    """The workload of a TOML file, where `name` ends in .toml, or the named one.

    Examples
    --------
    >>> resolve("uniform-2").names
    ['a1', 'a2']
    """
    return load(Path(name)) if name.endswith(".toml") else named(name)


def load(path: Path) -> Spec:
    """The workload that a TOML file describes."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as failure:
        raise InputError(f"{path}: {failure}") from None
    try:
        return from_dict({"name": path.stem} | data, path.parent)
    except _UnknownKey as failure:
        lines = [k for k, line in enumerate(text.splitlines(), 1) if failure.pattern.search(line)]
        place = f"{path}:{lines[0]}" if len(lines) == 1 else str(path)
        raise InputError(f"{place}: {failure}") from None
    except InputError as failure:
        raise InputError(f"{path}: {failure}") from None


def from_dict(data: Mapping[str, Any], folder: Path | None = None) -> Spec:
    """The workload that a dictionary describes; files it names are looked for in `folder`.

    Examples
    --------
    >>> from_dict({"name": "w", "attributes": [{"name": "price", "interest": "uniform"}]}).names
    ['price']
    """
    fields = _known(Spec, data, "workload")
    fields["attributes"] = tuple(_attribute(item, folder) for item in _list(data, "attributes"))
    if isinstance(table := fields.get("event_table"), Mapping):
        names = [attribute.name for attribute in fields["attributes"]]
        columns = read_columns(_file(table, folder), table.get("columns", names))
        fields["event_table"] = tuple(map(tuple, np.stack(columns, axis=1).tolist()))
    return Spec(**{key: _frozen(value) for key, value in fields.items()})


def to_dict(spec: Spec) -> dict[str, Any]:
    """The dictionary that gives the same workload back.

    Examples
    --------
    >>> from_dict(to_dict(named("power-law-2"))) == named("power-law-2")
    True
    """
    plain: dict[str, Any] = _plain(spec)
    return plain


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        kind = {"kind": _KIND_OF[type(value)]} if type(value) in _KIND_OF else {}
        items = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return kind | {name: _plain(item) for name, item in items if item is not None}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


class _UnknownKey(InputError):
    def __init__(self, key: str, where: str, known: Sequence[str]) -> None:
        near = difflib.get_close_matches(key, known, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
        super().__init__(f"{where}: unknown key {key!r}, {meant}")
        self.pattern = re.compile(rf"(^|[\s{{,]){re.escape(key)}\s*=")


def _known(cls: type, data: Any, where: str, also: Sequence[str] = ()) -> dict[str, Any]:
    """The items of a table, if each is a field of `cls`, none is missing and numbers are numbers."""
    if not isinstance(data, Mapping):
        raise InputError(f"{where} = {data!r}: expected a table")
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for key, value in data.items():
        if key not in fields and key not in also:
            raise _UnknownKey(key, where, [*fields, *also])
        if key in fields and fields[key].type in ("float", "int") and not _is_number(value, fields[key].type):
            raise InputError(f"{where}.{key} = {value!r}: expected a number")
    for field in fields.values():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and field.name not in data and not also:
            raise InputError(f"{where}: expected {field.name!r}")
    return {key: value for key, value in data.items() if key in fields}


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, int if kind == "int" else (int, float)) and not isinstance(value, bool)


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    items = data.get(key)
    if not isinstance(items, list):
        raise InputError(f"workload: expected a list {key!r}")
    return items


def _attribute(data: Any, folder: Path | None) -> Attribute:
    fields = _known(
        Attribute, data, f"attribute {data.get('name', '')!r}" if isinstance(data, Mapping) else "attribute"
    )
    span = (fields.get("low", 0.0), fields.get("high", 1.0))
    for key in ("interest", "width"):
        if key in fields:
            fields[key] = _distribution(fields[key], f"{fields['name']}.{key}", folder, span)
    return Attribute(**fields)


def _distribution(data: Any, where: str, folder: Path | None, span: tuple[float, float]) -> Any:
    if isinstance(data, str):
        data = {"kind": data}
    if not isinstance(data, Mapping) or data.get("kind") not in KINDS:
        raise InputError(f"{where}: expected a kind of {', '.join(KINDS)}, got {data!r}")
    cls = KINDS[data["kind"]]
    settings = {key: value for key, value in data.items() if key != "kind"}
    if cls is distributions.Empirical and "file" in settings:
        fields = _known(cls, settings, where, also=("file", "column"))
        (column,) = read_columns(_file(settings, folder), [settings.get("column", where.split(".")[0])])
        fields["seen"] = ((column - span[0]) / (span[1] - span[0])).tolist()
    else:
        fields = _known(cls, settings, where)
    if cls is distributions.Mixture:
        fields["parts"] = [
            _distribution(part, f"{where}.parts", folder, span) for part in _parts(fields, where)
        ]
    return cls(**{key: _frozen(value) for key, value in fields.items()})


def _parts(fields: Mapping[str, Any], where: str) -> list[Any]:
    if not isinstance(fields["parts"], list):
        raise InputError(f"{where}.parts: expected a list of distributions")
    return fields["parts"]


def _file(table: Mapping[str, Any], folder: Path | None) -> Path:
    if not isinstance(table.get("file"), str):
        raise InputError(f"file = {table.get('file')!r}: expected a path")
    return (folder or Path()) / str(table["file"])


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
