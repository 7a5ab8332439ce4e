"""Classes as types that pydantic validates: the class that holds settings is the schema of its table.

`table` makes such a type of a dataclass or of a class with an annotated constructor. What may stand in the
table are its parameters, with their types, defaults and descriptions; a new setting needs no second place.
pydantic checks the types, strictly (a truth value is no number), and then the class is called, which refuses
invalid values. All tables are checked, whatever is wrong with one of them.

What a table leaves out is taken from the default of the parent's field, or from the published form of the
class (`paper()`), if the table or one around it says `base = "paper"`.
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
"""Makes an object of values, with the table they come from and the context of the reading."""

BASES = ("default", "paper")


class _Table(dict[str, Any]):
    """A table, and the object whose values stand for keys that it leaves out."""

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
        What a JSON Schema calls it; the name of the class if not given.
    kind : str, optional
        What the key `kind` says, where tables of several kinds stand in one place.
    more : mapping, optional
        Parameters beside those of the class, or in place of them.
    without : tuple of str
        Parameters that may not be set.
    hints : mapping, optional
        Types in place of the declared ones.
    make : function, optional
        Makes the object in place of the class.
    """
    known = {
        key: found for key, found in {**parameters(target), **(more or {})}.items() if key not in without
    }
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
    """The keys of a table and their types; no key is required here, because a base may have its value."""
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
    """A table within a table, with the object whose values stand for keys that it leaves out."""
    if found is None or not isinstance(value, Mapping):
        return value
    inner = _Table(value)
    inner.base = (
        getattr(base, key) if base is not None else None if found.default is REQUIRED else found.default
    )
    return inner


def _call(
    construct: Make, values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]
) -> Any:
    """What is made of the values; what is refused is a problem at the key that the message names."""
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
