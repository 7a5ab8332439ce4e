"""Settings of several runs as dotted keys, and the keys in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Return nested tables as dotted keys.

    Examples
    --------
    >>> dict(flat({"a": {"b": 1}, "faults": [{"at": 3}]}))
    {'a.b': 1, 'faults.0.at': 3}
    """
    for key, item in value.items():
        if isinstance(item, Mapping):
            yield from flat(item, f"{before}{key}.")
        elif isinstance(item, list) and any(isinstance(part, Mapping) for part in item):
            for number, part in enumerate(item):
                yield from flat(part if isinstance(part, Mapping) else {"": part}, f"{before}{key}.{number}.")
        else:
            yield f"{before}{key}", item


def differing(settings: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the keys whose values differ between runs, except seeds.

    Examples
    --------
    >>> differing({"one": {"k": 1, "loss": 0.0, "seeds": [1]}, "other": {"k": 3, "loss": 0.0, "seeds": [2]}})
    ['k']
    """
    keys = dict.fromkeys(key for flat in settings.values() for key in flat)
    return [
        key for key in keys if key != "seeds" and len({str(flat.get(key)) for flat in settings.values()}) > 1
    ]
