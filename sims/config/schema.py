"""Settings from tables of a TOML file: the classes that hold settings are the schema.

What may stand in a table are the fields of a dataclass, or the parameters of a constructor, with their types
and defaults; a new setting needs no second place. Everything wrong with a file is collected, not only the
first thing. A class with a form as published (`paper()`) takes `base = "paper"`: what the table leaves out is
then taken from that form.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import inspect
import re
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sub2sub.errors import InputError

__all__ = ["REQUIRED", "Key", "Parameter", "Problem", "Reader", "dotted", "parameters", "plain"]

Key = tuple[str | int, ...]
"""Where something stands in a file: names of tables and keys, and numbers in lists."""

REQUIRED: Any = object()
"""In place of a default."""

BASES = ("default", "paper")
_NUMBERS = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}


@dataclass(frozen=True)
class Problem:
    """Something wrong at a place of a file."""

    key: Key
    text: str


@dataclass(frozen=True)
class Parameter:
    """A field of a dataclass or a parameter of a constructor."""

    hint: Any
    default: Any = REQUIRED


def dotted(key: Key) -> str:
    """A place as it is written.

    Examples
    --------
    >>> dotted(("faults", 1, "share"))
    'faults.1.share'
    """
    return ".".join(map(str, key))


def parameters(target: Callable[..., Any]) -> dict[str, Parameter]:
    """What may be set of a dataclass or a class with an annotated constructor.

    Examples
    --------
    >>> from sims.engine import Schedule
    >>> parameters(Schedule)["every"]
    Parameter(hint=<class 'int'>, default=1)
    """
    if dataclasses.is_dataclass(target):
        hints = get_type_hints(target)
        return {
            field.name: Parameter(hints[field.name], _default(field))
            for field in dataclasses.fields(target)
            if field.init
        }
    hints = get_type_hints(target.__init__ if inspect.isclass(target) else target)
    return {
        name: Parameter(hints[name], REQUIRED if found.default is found.empty else found.default)
        for name, found in inspect.signature(target).parameters.items()
    }


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return REQUIRED if field.default_factory is dataclasses.MISSING else field.default_factory()


class Reader:
    """Reads tables, and collects what is wrong with them.

    Parameters
    ----------
    folder : Path
        What relative paths are relative to.
    typed : collection of Key
        Places that were set from the command line: paths there are relative to where one stands.

    Examples
    --------
    >>> from sub2sub.ring.layer import RingSettings
    >>> reader = Reader()
    >>> reader.read(RingSettings, {"base": "paper", "exchanges": 2}).hello
    False
    >>> reader.read(RingSettings, {"exchange": 2, "cap": "none"})
    >>> for problem in reader.problems:
    ...     print(problem.text)
    exchange: unknown key, did you mean 'exchanges'?
    cap = 'none': expected a whole number
    """

    def __init__(self, folder: Path | None = None, typed: Collection[Key] = ()) -> None:
        self.folder, self.typed = folder or Path(), typed
        self.problems: list[Problem] = []

    def refuse(self, key: Key, text: str) -> Any:
        """Take note that something is wrong; None, in place of a value."""
        self.problems.append(Problem(key, text))

    def locate(self, path: str, key: Key) -> Path:
        """A path given at a place, whatever it is relative to."""
        was_typed = any(key[: len(place)] == place for place in self.typed)
        return (Path() if was_typed else self.folder).joinpath(path).resolve()

    def unknown(self, key: Key, known: Iterable[str]) -> None:
        """Refuse a key, and name the nearest one that is known."""
        names = list(known)
        near = difflib.get_close_matches(str(key[-1]), names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(names)}"
        self.refuse(key, f"{dotted(key)}: unknown key, {hint}")

    def read(
        self, target: type, data: object, key: Key = (), base: Any = None,
        hints: Mapping[str, Any] | None = None,
    ) -> Any:  # fmt: skip
        """A dataclass from a table; None if something is wrong with it.

        Parameters
        ----------
        target : type
        data : object
            Should be a table.
        key : Key
            Where it stands.
        base : optional
            An object of the class that says what the table leaves out.
        hints : mapping, optional
            Types in place of the declared ones, for fields whose type depends on other settings.
        """
        if not isinstance(data, Mapping):
            return self.refuse(key, f"{dotted(key)} = {data!r}: expected a table")
        if "base" in data and hasattr(target, "paper"):
            data = dict(data)
            name = self.value(Literal[BASES], data.pop("base"), (*key, "base"))
            base = target.paper() if name == "paper" else target()
        known = parameters(target)
        for name, hint in (hints or {}).items():
            known[name] = Parameter(hint, known[name].default)
        values = self.arguments(known, data, key, base)
        return None if values is None else self.call(target, values, key, data)

    def arguments(
        self, known: Mapping[str, Parameter], data: Mapping[str, Any], key: Key, base: Any = None
    ) -> dict[str, Any] | None:
        """Values of all parameters from a table; None if something is wrong."""
        before = len(self.problems)
        for name in data:
            if name not in known:
                self.unknown((*key, name), known)
        values = {}
        for name, parameter in known.items():
            default = parameter.default if base is None else getattr(base, name)
            if name in data:
                values[name] = self.value(parameter.hint, data[name], (*key, name), default)
            elif default is REQUIRED:
                self.refuse(key, f"{dotted((*key, name))}: expected a value, there is none")
            else:
                values[name] = default
        return values if len(self.problems) == before else None

    def call(
        self, target: Callable[..., Any], values: Mapping[str, Any], key: Key, data: Mapping[str, Any]
    ) -> Any:
        """What `target` makes of the values; what it refuses is a problem at the key it names."""
        try:
            return target(**values)
        except InputError as error:
            names = re.findall(r"\w+", str(error).partition(":")[0])
            place = next((name for name in names if name in data), None)
            self.refuse(key if place is None else (*key, place), str(error))

    def value(self, hint: Any, data: Any, key: Key, default: Any = None) -> Any:
        """A value of the type that a hint says."""
        origin, options = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            (hint,) = [option for option in options if option is not type(None)]
            return self.value(hint, data, key, default)
        if origin is Literal:
            return self.choose(data, options, key)
        if inspect.isclass(hint) and issubclass(hint, enum.Enum):
            named = {member.name.lower().replace("_", "-"): member for member in hint}
            return named.get(self.choose(data, tuple(named), key))
        if origin in (tuple, list):
            if not isinstance(data, list):
                return self.refuse(key, f"{dotted(key)} = {data!r}: expected a list")
            return tuple(self.value(options[0], item, (*key, k)) for k, item in enumerate(data))
        if hasattr(hint, "from_table"):
            return hint.from_table(self, data, key)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return self.read(hint, data, key, None if default is REQUIRED else default)
        return self._simple(hint, data, key)

    def choose(self, data: Any, options: tuple[str, ...], key: Key) -> Any:
        """One of several words."""
        if isinstance(data, str) and data in options:
            return data
        near = difflib.get_close_matches(str(data), options, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(options)}"
        return self.refuse(key, f"{dotted(key)} = {data!r}: {hint}")

    def _simple(self, hint: Any, data: Any, key: Key) -> Any:
        if hint is Path and isinstance(data, str):
            return self.locate(data, key)
        fits = (int, float) if hint is float else hint
        if hint in _NUMBERS and isinstance(data, fits) and (hint is bool or not isinstance(data, bool)):
            return hint(data)
        return self.refuse(key, f"{dotted(key)} = {data!r}: expected {_NUMBERS.get(hint, 'a path')}")


def plain(value: Any) -> Any:
    """Settings as a table again, every default written out; what is None is left out.

    Examples
    --------
    >>> from sub2sub.ring.layer import RingSettings
    >>> plain(RingSettings())["partner"]
    'least-recent'
    """
    if hasattr(value, "to_table"):
        return value.to_table()
    if dataclasses.is_dataclass(value):
        items = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: plain(item) for name, item in items if item is not None}
    if isinstance(value, enum.Enum):
        return value.name.lower().replace("_", "-")
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
