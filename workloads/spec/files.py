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

A topic workload has a table `topics` in place of attributes, see `workloads.spec.topic_files`; either may
have one for churn, whose keys are the fields of `Churn`:

    [churn]
    session = 50
    absence = 10
    change = 0.01
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sub2sub.errors import InputError
from workloads.folder.tables import read_columns
from workloads.generate.topic_ranges import TopicRanges
from workloads.spec import distributions
from workloads.spec.catalogue import named
from workloads.spec.fields import UnknownKey, file_of, frozen, known
from workloads.spec.spec import Attribute, Spec
from workloads.spec.topic_files import churn, topic_dict, topic_workload

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
    except UnknownKey as failure:
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
    if "topics" in data:
        return topic_workload(data, folder)
    fields = known(Spec, data, "workload")
    fields["attributes"] = tuple(_attribute(item, folder) for item in _list(data, "attributes"))
    if isinstance(table := fields.get("event_table"), Mapping):
        names = [attribute.name for attribute in fields["attributes"]]
        columns = read_columns(file_of(table, folder), table.get("columns", names))
        fields["event_table"] = tuple(map(tuple, np.stack(columns, axis=1).tolist()))
    if "churn" in fields:
        fields["churn"] = churn(fields["churn"])
    return Spec(**{key: frozen(value) for key, value in fields.items()})


def to_dict(spec: Spec) -> dict[str, Any]:
    """The dictionary that gives the same workload back.

    Examples
    --------
    >>> from_dict(to_dict(named("power-law-2"))) == named("power-law-2")
    True
    """
    if isinstance(spec, TopicRanges):
        return topic_dict(spec) | ({"churn": _plain(spec.churn)} if spec.churn else {})
    plain: dict[str, Any] = _plain(spec)
    return plain


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        kind = {"kind": _KIND_OF[type(value)]} if type(value) in _KIND_OF else {}
        items = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return kind | {name: _plain(item) for name, item in items if item is not None}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    items = data.get(key)
    if not isinstance(items, list):
        raise InputError(f"workload: expected a list {key!r}")
    return items


def _attribute(data: Any, folder: Path | None) -> Attribute:
    where = f"attribute {data.get('name', '')!r}" if isinstance(data, Mapping) else "attribute"
    fields = known(Attribute, data, where)
    span = (fields.get("low", 0.0), fields.get("high", 1.0))
    for key in ("interest", "width"):
        if key in fields:
            # Seen values of a width are lengths on the axis, not places.
            origin = span[0] if key == "interest" else 0.0
            axis = (origin, origin + span[1] - span[0])
            fields[key] = _distribution(fields[key], f"{fields['name']}.{key}", folder, axis)
    return Attribute(**fields)


def _distribution(data: Any, where: str, folder: Path | None, span: tuple[float, float]) -> Any:
    if isinstance(data, str):
        data = {"kind": data}
    if not isinstance(data, Mapping) or data.get("kind") not in KINDS:
        raise InputError(f"{where}: expected a kind of {', '.join(KINDS)}, got {data!r}")
    cls = KINDS[data["kind"]]
    settings = {key: value for key, value in data.items() if key != "kind"}
    if cls is distributions.Empirical and "file" in settings:
        fields = known(cls, settings, where, also=("file", "column"))
        (column,) = read_columns(file_of(settings, folder), [settings.get("column", where.split(".")[0])])
        fields["seen"] = ((column - span[0]) / (span[1] - span[0])).tolist()
    else:
        fields = known(cls, settings, where)
    if cls is distributions.Mixture:
        fields["parts"] = [
            _distribution(part, f"{where}.parts", folder, span) for part in _parts(fields, where)
        ]
    return cls(**{key: frozen(value) for key, value in fields.items()})


def _parts(fields: Mapping[str, Any], where: str) -> list[Any]:
    if not isinstance(fields["parts"], list):
        raise InputError(f"{where}.parts: expected a list of distributions")
    return fields["parts"]
