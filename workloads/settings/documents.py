"""TOML files of settings: reading them with changes, and errors with file and line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sub2sub.errors import InputError
from workloads.settings.problems import SettingsError
from workloads.settings.reading import read
from workloads.settings.toml import (
    Key,
    line_of,
    override,
    parse_override,
    split_key,
    value_as_toml,
)
from workloads.settings.values import Typed


@dataclass(frozen=True)
class Change:
    """A value that replaces a value of a file.

    Attributes
    ----------
    key : Key
    value : Any
    place : str
        Source of the value in error messages: an option of the command line, or a line of another file.
    """

    key: Key
    value: Any
    place: str


def typed_change(text: str) -> Change:
    """The change that `--set a.b=c` makes.

    Examples
    --------
    >>> typed_change("layers.ring.exchanges=2").key
    ('layers', 'ring', 'exchanges')
    """
    key, value = parse_override(text)
    return Change(key, _typed(value), f"--set {text}")


def changed_setting(name: str, value: Any, place: str | None = None) -> Change:
    """The change of a setting, given by its dotted key, from a program or the file of a sweep.

    Examples
    --------
    >>> changed_setting("faults.0.at", 7).place
    '--set faults.0.at=7'
    """
    return Change(split_key(name), _typed(value), place or f"--set {name}={value_as_toml(value)}")


def _typed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _typed(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return Typed(value) if isinstance(value, str) else value


@dataclass
class Document:
    """A TOML file, with some values changed.

    Attributes
    ----------
    path : Path
    text : str
    data : dict
    changes : sequence of Change
    """

    path: Path
    text: str
    data: dict[str, Any]
    changes: Sequence[Change] = field(default=())

    @classmethod
    def open(cls, path: Path, changes: Sequence[Change] = ()) -> Document:
        """Read a file and make changes; invalid TOML and impossible changes are refused."""
        try:
            text = path.read_text(encoding="utf-8-sig")  # some editors put a mark before the text
            data = tomllib.loads(text)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as failure:
            raise InputError(f"{path}: {getattr(failure, 'strerror', None) or failure}") from None
        for change in changes:
            try:
                override(data, change.key, change.value)
            except InputError as failure:
                raise InputError(f"{change.place}: {failure}") from None
        return cls(path, text, data, changes)

    def read(self, kind: Any, data: Mapping[str, Any] | None = None, **context: Any) -> Any:
        """Read the file as a type made by `workloads.settings`.

        Parameters
        ----------
        kind : type
        data : mapping, optional
            Read instead of the data of the file; for data with defaults added.
        **context
            Passed to the validators, beside the folder of the file.

        Raises
        ------
        InputError
            With one line per error: file, line, key, and what was expected.
        """
        try:
            return read(kind, self.data if data is None else data, folder=self.path.parent, **context)
        except SettingsError as error:
            found = sorted(error.problems, key=lambda problem: self._line(problem.key))
            raise InputError("\n".join(f"{self.place(each.key)}: {each.text}" for each in found)) from None

    def place(self, key: Key) -> str:
        """The source of a value, as text: the file and the line, or the change."""
        if (change := self._change(key)) is not None:
            return change.place
        line = self._line(key)
        return f"{self.path}:{line}" if line else str(self.path)

    def _change(self, key: Key) -> Change | None:
        for change in self.changes:
            if key[: len(change.key)] == change.key or change.key[: len(key)] == key:
                return change
        return None

    def _line(self, key: Key) -> int:
        """The line of a key; a changed key comes after all lines."""
        if self._change(key) is not None:
            return len(self.text) + 1
        return (line_of(self.text, key) if key else None) or 0
