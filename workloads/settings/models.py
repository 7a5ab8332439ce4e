"""Classes as types that pydantic validates: the class that holds settings is the schema of its table.

`table` makes such a type of a dataclass or of a class with an annotated constructor. What may stand in the
table are its parameters, with their types, defaults and descriptions; a new setting needs no second place.
pydantic checks the types, strictly (a truth value is no number), and then the class is called, which refuses
values that cannot be. What is wrong with other tables is found as well.

What a table leaves out is taken from the default of the parent's field, or from the published form of the
class (`paper()`), if the table or one around it says `base = "paper"`.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import inspect
import math
import re
import types
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import (
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    WrapValidator,
)
from pydantic import ValidatorFunctionWrapHandler as Handler
from typing_extensions import TypedDict

from sub2sub.errors import InputError
from workloads.settings.parameters import (
    REQUIRED,
    Parameter,
    documented,
    member_name,
    parameters,
    plain,
)
from workloads.settings.plugins import is_plugin
from workloads.settings.problems import (
    SettingsError,
    about,
    details,
    expected,
    problems_of,
    said,
    shown,
    unknown,
)
from workloads.settings.toml import is_given, split_key

__all__ = ["FileOrName", "Typed", "choice", "either", "list_of", "one_of", "read", "table", "value_type"]

Make = Callable[[dict[str, Any], Mapping[str, Any], Mapping[str, Any]], Any]
"""Makes an object of values, with the table they come from and the context of the reading."""

BASES = ("default", "paper")


class Typed(str):
    """A string from the command line: as a path it is relative to where it was typed."""

    __slots__ = ()


class _Table(dict[str, Any]):
    """A table and the object that says what it leaves out."""

    base: Any = None


def read(kind: Any, data: Any, **context: Any) -> Any:
    """What data mean, read as a type that `table`, `either` or `one_of` made.

    Parameters
    ----------
    kind : type
    data : Any
        Tables, lists and values as `tomllib` gives them.
    **context
        For what depends on more than the data: `folder`, to which paths are relative, and others.

    Raises
    ------
    SettingsError
        With everything that is wrong.

    Examples
    --------
    >>> from workloads.generate.churn import Churn
    >>> read(table(Churn), {"session": 50, "absence": 10}).session
    50.0
    """
    try:
        return _adapter(kind).validate_python(data, context=context)
    except ValidationError as error:
        raise SettingsError(problems_of(error, data)) from None


_adapters: dict[int, tuple[Any, TypeAdapter[Any]]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Made once; by identity, as not every type can be hashed."""
    if id(kind) not in _adapters:
        _adapters[id(kind)] = (kind, TypeAdapter(kind))
    return _adapters[id(kind)][1]


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
            raise _refusal([expected("a table", data)])
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
            raise _refusal(problems)
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
    """A table within a table, with the object that says what it leaves out."""
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
        raise _refusal(problems) from None


def _refusal(problems: list[Any]) -> ValidationError:
    return ValidationError.from_exception_data("settings", problems)


def value_type(hint: Any) -> Any:
    """The type that pydantic is given for an annotation of a settings class: strict, and without NaN."""
    origin, options = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (hint,) = [option for option in options if option is not type(None)]  # TOML has no null
        return value_type(hint)
    if origin is Literal:
        return choice(options)
    if origin in (tuple, list):
        return Annotated[tuple[value_type(options[0]), ...], Strict(False), WrapValidator(_list(options[0]))]  # type: ignore[misc]
    if _is_settings(hint):
        return _table_of(hint)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return choice({member_name(member): member for member in hint})
    if hint is Path:
        return Annotated[str, WrapValidator(_located_path)]
    if hint is float:
        return Annotated[float, Strict(), WrapValidator(_number)]
    return Annotated[hint, Strict()] if hint in (int, str, bool) else hint


@cache
def _table_of(target: type) -> Any:
    return table(target)


def choice(options: Any) -> Any:
    """The type of one of several words, or of the values that a mapping has for its words."""
    meaning = options if isinstance(options, Mapping) else {option: option for option in options}
    words = tuple(meaning)

    def choose(data: Any, handler: Handler) -> Any:
        if isinstance(data, str) and data in meaning:
            return meaning[data]
        raise _refusal([_not_among(data, words)])

    return Annotated[Literal[words], WrapValidator(choose)]


def _not_among(data: Any, words: tuple[str, ...], key: tuple[str, ...] = ()) -> Any:
    near = difflib.get_close_matches(str(data), words, 1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    return about(f"expected one of {', '.join(words)}, got {shown(data)}{hint}", key)


_ITEMS = {int: "whole numbers", float: "numbers", str: "strings"}


def _list(items: Any) -> Any:
    what = f"a list of {_ITEMS[items]}" if items in _ITEMS else "a list"

    def validate(data: Any, handler: Handler) -> Any:
        if not isinstance(data, list | tuple):
            raise _refusal([expected(what, data)])
        return handler(data)

    return validate


def _number(data: Any, handler: Handler) -> Any:
    value = handler(data)
    if math.isnan(value):
        raise _refusal([expected("a number", data)])
    return value


def _located_path(data: Any, handler: Handler, info: ValidationInfo) -> Path:
    folder = Path() if isinstance(data, Typed) else (info.context or {}).get("folder") or Path()
    return Path(folder, handler(data)).resolve()


def _located_file(data: Any, handler: Handler, info: ValidationInfo) -> str:
    name: str = handler(data)
    return str(_located_path(data, handler, info)) if name.endswith(".toml") else name


FileOrName = Annotated[str, WrapValidator(_located_file)]
"""A name, or the path of a .toml file."""


def either(choose: Callable[[Any], Any], *options: Any) -> Any:
    """The type of data that are of one of several types, which `choose` tells by looking at them.

    `choose` returns a type, or what was expected as a string.
    """

    def validate(data: Any, handler: Handler, info: ValidationInfo) -> Any:
        chosen = choose(data)
        if isinstance(chosen, str):
            raise _refusal([expected(chosen, data)])
        return _adapter(chosen).validate_python(data, context=info.context)

    return Annotated[Union[options], WrapValidator(validate)]  # noqa: UP007


def list_of(kind: Any) -> Any:
    """The type of a list whose items are of a type."""
    return tuple[kind, ...]


_CODE = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "Code of one's own, and its settings.",
            "properties": {"kind": {"type": "string", "pattern": ":"}},
            "required": ["kind"],
        }
    ),
]


def one_of(
    kinds: Mapping[str, Any],
    *,
    word: bool = False,
    options: tuple[Any, ...] | None = None,
    other: Callable[[str], Any] | None = None,
) -> Any:
    """The type of a table whose key `kind` says which it is.

    Parameters
    ----------
    kinds : mapping
        Types of tables by kind; may grow until data are read, so that a kind may contain others.
    word : bool
        Whether the kind alone, as a string, stands for a table with nothing else.
    options : tuple of types, optional
        What a JSON Schema shows; all kinds if not given.
    other : function, optional
        The type of a table whose kind is code of one's own, `module:name`.
    """

    def validate(data: Any, handler: Handler, info: ValidationInfo) -> Any:
        if word and isinstance(data, str):
            data = {"kind": data}
        if not isinstance(data, Mapping):
            raise _refusal([expected("a table with a kind", data)])
        kind = data.get("kind")
        if other is not None and isinstance(kind, str) and is_plugin(kind):
            try:
                own = other(kind)
            except InputError as error:
                raise _refusal([about(str(error), ("kind",))]) from None
            return _adapter(own).validate_python(data, context=info.context)
        if not isinstance(kind, str) or kind not in kinds:
            raise _refusal([_not_among(kind, tuple(kinds), ("kind",))])
        return _adapter(kinds[kind]).validate_python(data, context=info.context)

    words = (Literal[tuple(kinds)],) if word else ()
    tables = tuple(kinds.values()) if options is None else options
    if other is not None:
        tables += (_CODE,)
    return Annotated[Union[(*words, *tables)], WrapValidator(validate)]
