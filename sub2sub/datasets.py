"""Data that comes with the package, by name: subscriptions and events as tables, ready for an overlay.

`sub2sub example NAME` copies the same files here, with experiments on them.
"""

from __future__ import annotations

import csv
import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.attributes import String
from sub2sub.geometry.space import AttributeSpace
from sub2sub.tables import Table

_TYPES = {"float": float, "int": int, "string": str}
_SPEC = "ranges.toml"


class Dataset(NamedTuple):
    """Subscriptions and events.

    Attributes
    ----------
    space : AttributeSpace
        The names and types of the attributes.
    subscriptions : Table
        A row for each: one column for an exact value, or `NAME_low` and `NAME_high`; None is an open end.
    events : Table
    keys : array of texts
        What each subscription is called in its file; several may have one name.
    subscription_topics, event_topics : array of texts
        The same interests and events by topic, as paths with slashes; empty if the data has none.
    about : str
        Where the data comes from.
    """

    space: AttributeSpace
    subscriptions: Table
    events: Table
    keys: NDArray[Any]
    subscription_topics: NDArray[Any]
    event_topics: NDArray[Any]
    about: str


def names() -> list[str]:
    """The data sets that `load` knows.

    Examples
    --------
    >>> names()
    ['debian', 'orders', 'places']
    """
    return sorted(folder.name for folder in _folders().iterdir() if (folder / _SPEC).is_file())


def load(name: str) -> Dataset:
    """Read a data set.

    Examples
    --------
    >>> orders = load("orders")
    >>> list(orders.subscriptions), orders.subscriptions.rows, orders.events.rows
    (['price_low', 'price_high'], 200, 50)

    With these, an overlay and its events:

    >>> from sub2sub import Overlay
    >>> overlay = Overlay.of(orders.subscriptions, space=orders.space, seed=1).run(10)
    >>> overlay.publish(orders.events).hit_ratio
    1.0
    """
    if name not in names():
        raise InputError(f"name: expected one of {', '.join(names())}, got {name!r}")
    folder = _folders() / name
    table = tomllib.loads((folder / _SPEC).read_text(encoding="utf-8"))["table"]
    types = {each: table.get("types", {}).get(each, "float") for each in table["columns"]}
    rows, events = (_read(folder / table[part]) for part in ("file", "events"))
    wanted: dict[str, NDArray[Any]] = {}
    for attribute, columns in table["columns"].items():
        ends = {attribute: columns} if isinstance(columns, str) else _ends(attribute, columns)
        wanted |= {end: _column(rows[column], types[attribute]) for end, column in ends.items()}
    places = {attribute: attribute for attribute in types} | table.get("event_columns", {})
    happened = {each: _column(events[column], types[each]) for each, column in places.items()}
    kinds: dict[str, Any] = {attribute: _TYPES[kind] for attribute, kind in types.items()}
    kinds |= {each: String(wanted[each]) for each, kind in types.items() if kind == "string"}
    space = AttributeSpace(kinds)
    about = (folder / "README.md").read_text(encoding="utf-8")
    topics = _paths(rows), _paths(events)
    return Dataset(space, Table(wanted), Table(happened), rows[table["key"]], *topics, about)


def _folders() -> Traversable:
    return files("sims") / "examples"


def _ends(attribute: str, columns: list[str]) -> dict[str, str]:
    return {f"{attribute}_low": columns[0], f"{attribute}_high": columns[1]}


def _read(file: Traversable) -> dict[str, NDArray[Any]]:
    head, *rows = csv.reader(file.read_text(encoding="utf-8").splitlines())
    return dict(zip(head, np.array(rows, object).T, strict=True))


def _paths(columns: dict[str, NDArray[Any]]) -> NDArray[Any]:
    return np.array(["/".join(path.split(" :: ")) for path in columns.get("topic", ())], object)


def _column(texts: NDArray[Any], kind: str) -> NDArray[Any]:
    values = [None if text == "" else _TYPES[kind](text) for text in texts]
    return np.array(values, object if None in values or kind == "string" else None)
