"""Types of single values in settings (words, numbers, lists and paths), with our own error messages."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ValidationInfo, WrapValidator
from pydantic import ValidatorFunctionWrapHandler as Handler

from workloads.settings.problems import about, expected, refusal, shown


class Typed(str):
    """A string from the command line: as a path it is relative to the working directory."""

    __slots__ = ()


def choice(options: Any) -> Any:
    """The type of one of several words; with a mapping, the word is replaced by its value there."""
    meaning = options if isinstance(options, Mapping) else {option: option for option in options}
    words = tuple(meaning)

    def choose(data: Any, handler: Handler) -> Any:
        if isinstance(data, str) and data in meaning:
            return meaning[data]
        raise refusal([not_among(data, words)])

    return Annotated[Literal[words], WrapValidator(choose)]


def not_among(data: Any, words: tuple[str, ...], key: tuple[str, ...] = ()) -> Any:
    """The problem that a value is not one of several words, with the most similar word."""
    near = difflib.get_close_matches(str(data), words, 1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    return about(f"expected one of {', '.join(words)}, got {shown(data)}{hint}", key)


_ITEMS = {int: "whole numbers", float: "numbers", str: "strings"}


def sequence(items: Any) -> Any:
    """A validator for lists whose items have a type."""
    what = f"a list of {_ITEMS[items]}" if items in _ITEMS else "a list"

    def validate(data: Any, handler: Handler) -> Any:
        if not isinstance(data, list | tuple):
            raise refusal([expected(what, data)])
        return handler(data)

    return validate


def number(data: Any, handler: Handler) -> Any:
    """Validate a number; NaN is refused."""
    value = handler(data)
    if math.isnan(value):
        raise refusal([expected("a number", data)])
    return value


def located_path(data: Any, handler: Handler, info: ValidationInfo) -> Path:
    """Validate a path, relative to the folder of its file, or to the working directory if it was typed."""
    folder = Path() if isinstance(data, Typed) else (info.context or {}).get("folder") or Path()
    return Path(folder, handler(data)).resolve()


def _located_file(data: Any, handler: Handler, info: ValidationInfo) -> str:
    name: str = handler(data)
    return str(located_path(data, handler, info)) if name.endswith(".toml") else name


FileOrName = Annotated[str, WrapValidator(_located_file)]
"""A name, or the path of a .toml file."""
