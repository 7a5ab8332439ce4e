"""Types of data with several forms; the key `kind` or a function selects the form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Union

from pydantic import ValidationInfo, WithJsonSchema, WrapValidator
from pydantic import ValidatorFunctionWrapHandler as Handler

from sub2sub.errors import InputError
from workloads.settings.plugins import is_plugin
from workloads.settings.problems import about, expected, refusal
from workloads.settings.reading import adapter
from workloads.settings.values import not_among


def either(choose: Callable[[Any], Any], *options: Any) -> Any:
    """The type of data that have one of several types. `choose` selects it from the data.

    `choose` returns a type; for invalid data it returns a description of what was expected.
    """

    def validate(data: Any, handler: Handler, info: ValidationInfo) -> Any:
        chosen = choose(data)
        if isinstance(chosen, str):
            raise refusal([expected(chosen, data)])
        return adapter(chosen).validate_python(data, context=info.context)

    return Annotated[Union[options], WrapValidator(validate)]  # noqa: UP007


def list_of(kind: Any) -> Any:
    """The type of a list whose items have a type."""
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
    """The type of a table whose key `kind` selects its type.

    Parameters
    ----------
    kinds : mapping
        Types of tables by kind. It may be extended until data are read, so that a kind can contain others.
    word : bool
        Whether a string with the kind is accepted instead of a table with no other key.
    options : tuple of types, optional
        The types in a JSON Schema; all kinds if not given.
    other : function, optional
        Returns the type of a table whose kind is the user's own code, `module:name`.
    """

    def validate(data: Any, handler: Handler, info: ValidationInfo) -> Any:
        if word and isinstance(data, str):
            data = {"kind": data}
        if not isinstance(data, Mapping):
            raise refusal([expected("a table with a kind", data)])
        kind = data.get("kind")
        if other is not None and isinstance(kind, str) and is_plugin(kind):
            try:
                own = other(kind)
            except InputError as error:
                raise refusal([about(str(error), ("kind",))]) from None
            return adapter(own).validate_python(data, context=info.context)
        if not isinstance(kind, str) or kind not in kinds:
            raise refusal([not_among(kind, tuple(kinds), ("kind",))])
        return adapter(kinds[kind]).validate_python(data, context=info.context)

    words = (Literal[tuple(kinds)],) if word else ()
    tables = tuple(kinds.values()) if options is None else options
    if other is not None:
        tables += (_CODE,)
    return Annotated[Union[(*words, *tables)], WrapValidator(validate)]
