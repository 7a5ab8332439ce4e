"""JSON Schemas of the files that users write: experiments of all systems, sweeps and workload specs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sims.config.experiment import Experiment, experiment_type
from sims.rivals import RUNNABLE
from workloads.settings.json_schema import json_schema
from workloads.spec.files import WORKLOAD
from workloads.spec.table_files import TABLE_WORKLOAD
from workloads.sweeps.sweep_file import SWEEP

Schema = dict[str, Any]


def experiment_schema() -> Schema:
    """Return the schema of experiments: one for each system, selected by the key `system`.

    Examples
    --------
    >>> [option["title"] for option in experiment_schema()["anyOf"]][:4]
    ['sub2sub', 'broadcast', 'camcast', 'camcast on rings']
    """
    schema = json_schema("experiment", {name: experiment_type(name, whole=True) for name in RUNNABLE})
    for name, root in _roots(schema):
        root["properties"]["system"] = {"const": name, "description": "The overlay to simulate."}
        if name != Experiment.system:
            root["required"] = ["system"]
    return schema


def _roots(schema: Schema) -> Iterator[tuple[str, Schema]]:
    for option in schema["anyOf"]:
        yield option["title"], _resolved(option, schema)


def _resolved(part: Schema, schema: Schema) -> Schema:
    found: Schema = schema["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part
    return found


def workload_schema() -> Schema:
    """Return the schema of workload specs (attributes or topics) and of descriptions of tables."""
    return json_schema("workload", {"workload": WORKLOAD, "table": TABLE_WORKLOAD})


def sweep_schema() -> Schema:
    """Return the schema of sweeps: settings and grid have the keys of experiments, or any keys of a function.

    A setting is one quoted key with dots, or a key in nested tables.
    """
    experiments, schema = experiment_schema(), json_schema("sweep", {"sweep": SWEEP})
    ((_, sweep),) = _roots(schema)
    leaves: dict[str, list[Schema]] = {}
    for _, root in _roots(experiments):
        for key, leaf in _leaves(root, experiments):
            if leaf not in leaves.setdefault(key, []):
                leaves[key].append(leaf)
    known = {key: {"anyOf": found} if len(found) > 1 else found[0] for key, found in leaves.items()}
    tables = {
        "settings": _table(known, dict),
        "grid": _table(known, lambda leaf: {"type": "array", "items": leaf, "minItems": 1}),
    }
    sweep["anyOf"] = [{"required": ["experiment"], "properties": tables}, {"required": ["run"]}]
    schema["$defs"] |= experiments["$defs"]
    return schema


def _leaves(table: Schema, schema: Schema, before: str = "") -> Iterator[tuple[str, Schema]]:
    """Return the values of a table and of the tables in it, by their dotted keys."""
    for key, part in table["properties"].items():
        inner = _resolved(part, schema)
        if "properties" in inner:
            yield from _leaves(inner, schema, f"{before}{key}.")
        else:
            yield f"{before}{key}", part


def _table(leaves: Mapping[str, Schema], form: Callable[[Schema], Schema]) -> Schema:
    """Return a table with all keys, dotted and nested; keys of list entries are not checked."""
    nested: dict[str, dict[str, Schema]] = {}
    properties: dict[str, Schema] = {}
    for key, leaf in leaves.items():
        first, dot, rest = key.partition(".")
        if dot:
            nested.setdefault(first, {})[rest] = leaf
        lists = {"anyOf": [form(leaf), {"type": "object"}]}
        properties[key] = lists if leaf.get("type") == "array" and "anyOf" in leaf["items"] else form(leaf)
    properties |= {first: _table(inner, form) for first, inner in nested.items()}
    entries: Schema = {r"^(faults|observers)\.\d+\.": {}}
    table: Schema = {"type": "object", "properties": properties, "patternProperties": entries}
    return {**table, "additionalProperties": False}


def node_schema() -> Schema:
    """Return the schema of the files of live nodes, of which there are three kinds."""
    from sims.live.node_file import TABLES

    return json_schema("node", TABLES)


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "experiment": experiment_schema,
    "sweep": sweep_schema,
    "workload": workload_schema,
    "node": node_schema,
}
