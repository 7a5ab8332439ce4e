"""Classes as types that pydantic validates: the class that holds settings is the schema of its table.

`table` makes such a type from a dataclass or a class with an annotated constructor. The keys of the table are
its parameters, with their types, defaults and descriptions, so a new setting is written in one place only.
pydantic checks the types strictly (a bool is not a number); then the class is called, and refuses invalid
values. All tables are checked, even if one of them has errors.

A key that a table leaves out has the value in the default of the parent's field, or in the published form of
the class (`paper()`) if the table or one around it has `base = "paper"`.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import types
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ConfigDict, Field, Strict, ValidationError, ValidationInfo, WrapValidator
from pydantic import ValidatorFunctionWrapHandler as Handler
from typing_extensions import TypedDict

from sub2sub.errors import InputError
from workloads.settings.parameters import REQUIRED, Parameter, documented, member_name, parameters, plain
from workloads.settings.problems import about, details, expected, refusal, said, unknown
from workloads.settings.toml import is_given, split_key
from workloads.settings.values import choice, located_path, number, sequence

Make = Callable[[dict[str, Any], Mapping[str, Any], Mapping[str, Any]], Any]
"""Makes an object from values, the table that they come from, and the context of the reading."""

BASES = ("default", "paper")


class _Table(dict[str, Any]):
    """A table, and the object that has the values of keys which the table leaves out."""

    base: Any = None


def table(
    target: Callable[..., Any],
    *,
    name: str | None = None,
    kind: str | None = None,
    more: Mapping[str, Parameter] | None = None,
    without: tuple[str, ...] = (),
    hints: Mapping[str, Any] | None = None,
    make: Make | None = None,
) -> Any:
    """The type of a table that is read into an object of a class.

    Parameters
    ----------
    target : class
    name : str, optional
        Its name in a JSON Schema; the name of the class if not given.
    kind : str, optional
        The value of the key `kind`, where tables of several kinds are allowed.
    more : mapping, optional
        Additional parameters; they replace parameters of the class with the same name.
    without : tuple of str
        Parameters that cannot be set.
    hints : mapping, optional
        Types that replace the declared ones.
    make : function, optional
        Called instead of the class to make the object.
    """
    every = {**parameters(target), **(more or {})}
    known = {key: found for key, found in every.items() if key not in without}
    for key, hint in (hints or {}).items():
        known[key] = Parameter(hint, known[key].default)
    has_base = hasattr(target, "paper")
    required = [key for key, found in known.items() if found.default is REQUIRED]
    construct: Make = make or (lambda values, given, context: target(**values))
    allowed = [*(("kind",) if kind else ()), *(("base",) if has_base else ()), *known]

    def validate(data: Any, handler: Handler, info: ValidationInfo) -> Any:
        if not isinstance(data, Mapping):
            raise refusal([expected("a table", data)])
        base = getattr(data, "base", None)
        if kind or not isinstance(target, type) or not isinstance(base, target):
            base = None
        if has_base and data.get("base") in BASES:
            base = target.paper() if data["base"] == "paper" else target()  # type: ignore[attr-defined]
        problems = [unknown(key, allowed) for key in data if key not in allowed]
        given = {key: _with_default(value, known.get(key), base, key) for key, value in data.items()}
        if base is None:
            problems += [
                about("expected a value, there is none", (key,)) for key in required if key not in data
            ]
        try:
            values = handler({key: value for key, value in given.items() if key in allowed})
        except ValidationError as error:
            problems += details(error)
        if problems:
            raise refusal(problems)
        values = {key: value for key, value in values.items() if key in known}
        if base is not None:
            values = {**{key: getattr(base, key) for key in known}, **values}
        return _call(construct, values, data, info.context or {})

    return Annotated[
        _typed_dict(target, name or target.__name__, kind, has_base, known, required), WrapValidator(validate)
    ]


def _typed_dict(
    target: Any,
    name: str,
    kind: str | None,
    has_base: bool,
    known: Mapping[str, Parameter],
    required: list[str],
) -> Any:
    """The keys of a table and their types; no key is required, because a base may have its value."""
    meaning, fields = documented(target), {}
    if kind:
        fields["kind"] = Annotated[Literal[kind], Field(description=_summary(target))]
    if has_base:
        fields["base"] = Annotated[
            choice(BASES), Field(description="What this table leaves out is as published, or as by default.")
        ]
    for key, found in known.items():
        usual = None if found.default is REQUIRED else plain(found.default)
        fields[key] = Annotated[
            value_type(found.hint),
            Field(
                description=found.meaning or meaning.get(key),
                json_schema_extra={} if usual is None or isinstance(usual, dict) else {"default": usual},
            ),
        ]
    functional: Any = TypedDict
    made = functional(name, fields, total=False)
    made.__doc__ = _summary(target)
    needed = [*(("kind",) if kind else ()), *required]
    made.__pydantic_config__ = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"required": needed} if needed else None
    )
    return made


def _summary(target: Any) -> str:
    return (inspect.getdoc(target) or "").partition("\n")[0]


def _is_settings(hint: Any) -> bool:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def _with_default(value: Any, found: Parameter | None, base: Any, key: str) -> Any:
    """A nested table, with the object that has the values of keys which it leaves out."""
    if found is None or not isinstance(value, Mapping):
        return value
    inner, default = _Table(value), None if found.default is REQUIRED else found.default
    inner.base = default if base is None else getattr(base, key)
    return inner


def _call(
    construct: Make, values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]
) -> Any:
    """Make the object; an error becomes a problem at the key that its message names."""
    try:
        return construct(values, given, context)
    except InputError as error:
        problems = []
        for line in str(error).splitlines():
            start, _, rest = line.partition(": ")
            if is_given(given, key := split_key(start)):
                problems.append(about(rest, key))
            else:
                words = [word for word in re.findall(r"\w+", start) if word in given]
                problems.append(said(line, tuple(words[:1])))
        raise refusal(problems) from None


def value_type(hint: Any) -> Any:
    """The type that pydantic is given for an annotation of a settings class: strict, and without NaN."""
    origin, options = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (hint,) = [option for option in options if option is not type(None)]  # TOML has no null
        return value_type(hint)
    if origin is Literal:
        return choice(options)
    if origin in (tuple, list):
        items: Any = tuple[value_type(options[0]), ...]  # type: ignore[misc]
        return Annotated[items, Strict(False), WrapValidator(sequence(options[0]))]
    if _is_settings(hint):
        return _table_of(hint)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return choice({member_name(member): member for member in hint})
    if hint is Path:
        return Annotated[str, WrapValidator(located_path)]
    if hint is float:
        return Annotated[float, Strict(), WrapValidator(number)]
    return Annotated[hint, Strict()] if hint in (int, str, bool) else hint


@cache
def _table_of(target: type) -> Any:
    return table(target)
