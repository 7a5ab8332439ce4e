"""TOML beyond `tomllib`: the line of a key, overriding single values, and writing (with tomlkit)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import tomlkit

from sub2sub.errors import InputError

Key = tuple[str | int, ...]
"""The path to a value: names of tables and keys, and positions in lists."""


def dotted(key: Key) -> str:
    """A key as text.

    Examples
    --------
    >>> dotted(("faults", 1, "share"))
    'faults.1.share'
    """
    return ".".join(map(str, key))


def split_key(name: str) -> Key:
    """The key that a dotted name means.

    Examples
    --------
    >>> split_key("faults.1.share")
    ('faults', 1, 'share')
    """
    parts = (part.strip() for part in name.split("."))
    return tuple(int(part) if part.isdigit() else part for part in parts)


def leaves(table: Mapping[str, Any], *, lists: bool = False, before: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables by their dotted keys, as `--set` names settings.

    Examples
    --------
    >>> tables = {"a": {"b": 1}, "faults": [{"at": 3}]}
    >>> dict(leaves(tables)), dict(leaves(tables, lists=True))
    ({'a.b': 1, 'faults': [{'at': 3}]}, {'a.b': 1, 'faults.0.at': 3})
    """
    for key, value in table.items():
        inner = value
        if lists and isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            inner = {
                str(k): item if isinstance(item, Mapping) else {"": item} for k, item in enumerate(value)
            }
        if isinstance(inner, Mapping):
            yield from leaves(inner, lists=lists, before=f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def line_of(text: str, key: Key) -> int | None:
    """The line of a key in a TOML text, from 1; for a missing key, the line of its parent.

    Neither `tomllib` nor tomlkit reports lines, so the text is parsed repeatedly with one line more, until
    the key appears.

    Examples
    --------
    >>> line_of("a = 1\\n\\n[b]\\nc = [\\n  2,\\n]\\n", ("b", "c"))
    4
    """
    lines = [f"{line}\n" for line in text.split("\n")]  # TOML's lines; splitlines() cuts at other characters
    complete = 0  # number of lines that parse, so that the next one begins a statement
    for end in range(1, len(lines) + 1):
        try:
            data = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        if is_given(data, key):
            name = re.compile(rf"(^|[\s\[{{,.\"']){re.escape(str(key[-1]))}[\s=.\]\"']")
            within = (k for k in range(complete, end) if name.search(lines[k]))
            return next(within, complete) + 1
        complete = end
    return line_of(text, key[:-1]) if len(key) > 1 else None


def is_given(data: Any, key: Key) -> bool:
    """Whether nested tables have a value at a key."""
    try:
        for name in key:
            data = data[name]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def parse_override(text: str) -> tuple[Key, Any]:
    """The key and the value of `a.b=c`; a value that is not valid TOML is a string.

    Examples
    --------
    >>> parse_override("layers.ring.exchanges=2"), parse_override("faults.0.at=7")
    ((('layers', 'ring', 'exchanges'), 2), (('faults', 0, 'at'), 7))
    >>> parse_override("workload.spec=uniform-2")[1]
    'uniform-2'
    """
    name, equals, value = text.partition("=")
    key = split_key(name)
    if not equals or "" in key:
        raise InputError(f"--set {text}: expected KEY=VALUE, such as layers.ring.exchanges=2")
    try:
        data = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        data = value.strip()
    return key, data


def override(data: dict[str, Any], key: Key, value: Any) -> None:
    """Set a value in nested tables. Missing tables are made; the number after the last extends a list.

    Examples
    --------
    >>> data = {"faults": [{"kind": "crash"}]}
    >>> override(data, ("faults", 0, "share"), 0.2)
    >>> override(data, ("layers", "ring", "cap"), 5)
    >>> data
    {'faults': [{'kind': 'crash', 'share': 0.2}], 'layers': {'ring': {'cap': 5}}}
    """
    place: Any = data
    for depth, name in enumerate(key):
        last = depth + 1 == len(key)
        if isinstance(place, list):
            if not isinstance(name, int) or name > len(place):
                raise InputError(
                    f"{dotted(key)}: expected a number from 0 to {len(place)} in place of {name!r}"
                )
            if name == len(place):
                place.append({})
        elif not isinstance(place, dict):
            raise InputError(f"{dotted(key)}: {dotted(key[:depth])} is no table")
        elif name not in place and not last:
            place[name] = [] if isinstance(key[depth + 1], int) else {}
        if last:
            place[name] = value
        place = place[name]


def value_as_toml(value: Any) -> str:
    """A value as TOML writes it, in one line.

    Examples
    --------
    >>> value_as_toml([1, 2.0, True, "x"]), value_as_toml({"kind": "zipf", "count": 5})
    ('[1, 2.0, true, "x"]', '{kind = "zipf", count = 5}')
    """
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        table.update(value)
    else:
        table = tomlkit.item(value)
    return str(table.as_string())
