"""TOML beyond `tomllib`: on which line a key stands, single values set from outside, and writing."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from sims.config.schema import Key, dotted
from sub2sub.errors import InputError

__all__ = ["dumps", "line_of", "override", "parse_override", "value_as_toml"]


def line_of(text: str, key: Key) -> int | None:
    """The line on which a key of a TOML text is given, from 1; of a table that is not there, its parent's.

    `tomllib` tells no lines, so the text is parsed again and again with more lines, until the key is there.

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
        if _has(data, key):
            name = re.compile(rf"(^|[\s\[{{,.\"']){re.escape(str(key[-1]))}[\s=.\]\"']")
            within = (k for k in range(complete, end) if name.search(lines[k]))
            return next(within, complete) + 1
        complete = end
    return line_of(text, key[:-1]) if len(key) > 1 else None


def _has(data: Any, key: Key) -> bool:
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
    parts = [part.strip() for part in name.split(".")]
    if not equals or not all(parts):
        raise InputError(f"--set {text}: expected KEY=VALUE, such as layers.ring.exchanges=2")
    try:
        data = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        data = value.strip()
    return tuple(int(part) if part.isdigit() else part for part in parts), data


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
    """A table as TOML: values first, then tables, then lists of tables.

    Examples
    --------
    >>> print(dumps({"cycles": 3, "layers": {"ring": {"cap": 0}}, "faults": [{"kind": "loss"}]}), end="")
    cycles = 3
    <BLANKLINE>
    [layers.ring]
    cap = 0
    <BLANKLINE>
    [[faults]]
    kind = "loss"
    """
    return "\n".join(_lines(data, ())) + "\n"


def _lines(data: Mapping[str, Any], where: tuple[str, ...]) -> Iterator[str]:
    for name, value in data.items():
        if not isinstance(value, Mapping) and not _is_tables(value):
            yield f"{name} = {value_as_toml(value)}"
    for name, value in data.items():
        inner = (*where, name)
        if isinstance(value, Mapping):
            if not value or any(not isinstance(item, Mapping) for item in value.values()):
                yield from ("", f"[{'.'.join(inner)}]")
            yield from _lines(value, inner)
        elif _is_tables(value):
            for item in value:
                yield from ("", f"[[{'.'.join(inner)}]]")
                yield from _lines(item, inner)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def value_as_toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf, -inf and nan are TOML
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_as_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {value_as_toml(item)}" for name, item in value.items()) + " }"
    return repr(value)
