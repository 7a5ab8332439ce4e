"""Errors in settings, as lines of text: the key, what was expected, and the value that was found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from sub2sub.errors import InputError
from workloads.settings.toml import Key, dotted, value_as_toml

# What pydantic calls a wrong type, and what is expected in plain words.
_EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a string",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
}
_LONGEST = 60  # characters of a value that are shown


@dataclass(frozen=True)
class Problem:
    """An error at a key of a file."""

    key: Key
    text: str


class SettingsError(InputError):
    """All errors in settings, one per line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(problem.text for problem in problems))
        self.problems = problems


def expected(what: str, got: Any, key: Key = ()) -> InitErrorDetails:
    """A value that is not what was expected."""
    return _detail("expected", key, what, got)


def said(text: str, key: Key = ()) -> InitErrorDetails:
    """A problem with the whole message of the class that refused a value."""
    return _detail("said", key, text)


def unknown(name: str, known: Iterable[str]) -> InitErrorDetails:
    """The problem that a key does not exist, with the most similar known key."""
    names = [str(each) for each in known]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(names)}"
    return about(f"unknown key, {hint}", (name,))


def about(text: str, key: Key) -> InitErrorDetails:
    """A problem with a key."""
    return _detail("about", key, text)


def _detail(kind: str, key: Key, text: str, got: Any = None) -> InitErrorDetails:
    return InitErrorDetails(type=PydanticCustomError(kind, "{text}", {"text": text}), loc=key, input=got)


def details(error: ValidationError) -> list[InitErrorDetails]:
    """The problems of an error, to raise them again together with others."""
    return [_again(found) for found in error.errors(include_url=False)]


def _again(found: ErrorDetails) -> InitErrorDetails:
    if "text" in found.get("ctx", {}):
        return _detail(found["type"], found["loc"], found["ctx"]["text"], found["input"])
    return expected(_EXPECTED.get(found["type"], found["msg"]), found["input"], found["loc"])


def problems_of(error: ValidationError, data: Any) -> list[Problem]:
    """The problems of an error, each in a line."""
    return [_problem(found, data) for found in map(_again, error.errors(include_url=False))]


def _problem(found: InitErrorDetails, data: Any) -> Problem:
    kind, key = found["type"], found["loc"]
    assert isinstance(kind, PydanticCustomError)
    text, name = kind.message(), dotted(_named(key, data))
    if kind.type == "expected":
        text = f"expected {text}, got {shown(found['input'])}"
    return Problem(key, text if kind.type == "said" or not name else f"{name}: {text}")


def _named(key: Key, data: Any) -> Key:
    """The key; a table in a list is given by its name, not its number, unless it has a `kind`."""
    words: list[str | int] = []
    for part in key:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            data = None
        name = data.get("name") if isinstance(part, int) and isinstance(data, Mapping) else None
        words.append(name if isinstance(name, str) and "kind" not in data else part)
    return tuple(words)


def shown(value: Any) -> str:
    """A value as a file has it; a long one is cut off."""
    text = "nothing" if value is None else value_as_toml(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def refusal(problems: list[Any]) -> ValidationError:
    """The error with these problems."""
    return ValidationError.from_exception_data("settings", problems)
