"""TOML beyond `tomllib`: the line of a key, single values set from outside, and writing (by tomlkit)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit

from sub2sub.errors import InputError

Key = tuple[str | int, ...]
"""Where something stands in a file: names of tables and keys, and numbers in lists."""


def dotted(key: Key) -> str:
    """A place as it is written.

    Examples
    --------
    >>> dotted(("faults", 1, "share"))
    'faults.1.share'
    """
    return ".".join(map(str, key))


def split_key(name: str) -> Key:
    """The place that a dotted name means.

    Examples
    --------
    >>> split_key("faults.1.share")
    ('faults', 1, 'share')
    """
    parts = (part.strip() for part in name.split("."))
    return tuple(int(part) if part.isdigit() else part for part in parts)


def line_of(text: str, key: Key) -> int | None:
    """The line on which a key of a TOML text is given, from 1; of a table that is not there, its parent's.

    Neither `tomllib` nor tomlkit tells lines, so the text is parsed again and again with more lines, until
    the key is there.

    Examples
    --------
    >>> line_of("a = 1\\n\\n[b]\\nc = [\\n  2,\\n]\\n", ("b", "c"))
    4
    """
    lines = [f"{line}\n" for line in text.split("\n")]  # what TOML takes for a line, unlike splitlines()
    complete = 0  # lines that parse: what comes next is the beginning of a statement
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
    """Whether tables have a value at a place."""
    try:
        for name in key:
            data = data[name]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def parse_override(text: str) -> tuple[Key, Any]:
    """The key and the value of `a.b=c`; what is no TOML value is taken as a string.

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
    """Set a value in nested tables, making tables where there are none; the next number extends a list.

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


def dumps(data: Mapping[str, Any]) -> str:
    """A table as TOML: values first, then tables.

    Examples
    --------
    >>> print(dumps({"layers": {"ring": {"cap": 0}}, "faults": [{"kind": "loss"}], "cycles": 3}), end="")
    cycles = 3
    <BLANKLINE>
    [layers.ring]
    cap = 0
    <BLANKLINE>
    [[faults]]
    kind = "loss"
    """
    return tomlkit.dumps(data)


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
