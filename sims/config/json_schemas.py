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
    """Return the schema of sweeps; the keys of their settings and grids are those of what they run."""
    schema = json_schema("sweep", {"sweep": SWEEP})
    ((_, sweep),) = _roots(schema)
    sweep["anyOf"] = [{"required": ["experiment"]}, {"required": ["run"]}]
    return schema


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
