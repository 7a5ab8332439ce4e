"""JSON Schema of settings, with which editors complete and check TOML files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

DIALECT = GenerateJsonSchema.schema_dialect


class _Untitled(GenerateJsonSchema):
    """Keys without titles, which would repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema(title: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of files of one of several types, made by `workloads.settings.models`; their names are kept.

    Examples
    --------
    >>> from workloads.generate.churn import Churn
    >>> from workloads.settings.models import table
    >>> schema = json_schema("turnover", {"churn": table(Churn)})
    >>> schema["$defs"]["Churn"]["properties"]["lengths"]["enum"]
    ['exponential', 'pareto']
    """
    adapters = [(name, "validation", TypeAdapter(kind)) for name, kind in kinds.items()]
    roots, shared = TypeAdapter.json_schemas(adapters, schema_generator=_Untitled)  # type: ignore[arg-type]
    options = [{"title": name, **roots[name, "validation"]} for name in kinds]
    return {"$schema": DIALECT, "title": title, "anyOf": options, **shared}
