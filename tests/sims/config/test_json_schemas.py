"""The JSON Schemas accept what is shipped and shown, and refuse what the reader refuses."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sims.cli.app import main
from sims.config.experiment import experiment_from, load_experiment
from sims.config.json_schemas import SCHEMAS
from sims.config.shipped import find_file, shipped
from sims.rivals import RUNNABLE as NAMES

ROOT = Path(__file__).parents[3]
VALIDATORS = {kind: Draft202012Validator(schema()) for kind, schema in SCHEMAS.items()}
SHIPPED = {name: tomllib.loads(find_file(name).read_text()) for name in shipped()}
SHOWN = [
    (f"{path.name}, block {number}", json.loads(json.dumps(tomllib.loads(text), default=str)))
    for path in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md")
    for number, text in enumerate(re.findall(r"```toml\n(.*?)```", path.read_text(), re.DOTALL))
    if "--8<--" not in text  # a file that the site shows
    if "[[variants]]" not in text  # of a comparison: read in tests/sims/compare/test_command.py
]


def kind_of(data: dict[str, Any]) -> str:
    if "grid" in data or "run" in data:
        return "sweep"
    return "workload" if data.keys() & {"attributes", "topics", "table"} else "experiment"


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_command_prints_a_valid_schema(kind: str):
    printed = CliRunner().invoke(main, ["schema", kind])
    assert printed.exit_code == 0
    Draft202012Validator.check_schema(json.loads(printed.output))


def test_the_command_lists_the_kinds_of_files_and_refuses_others():
    assert [line.split()[0] for line in CliRunner().invoke(main, ["schema"]).output.splitlines()] == [
        *SCHEMAS
    ]
    assert CliRunner().invoke(main, ["schema", "tree"]).exit_code == 2


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_experiment_is_valid_as_written_and_as_resolved(name: str):
    VALIDATORS["experiment"].validate(SHIPPED[name])
    VALIDATORS["experiment"].validate(tomllib.loads(load_experiment(find_file(name)).to_toml()))


@pytest.mark.parametrize("system", NAMES)
def test_the_defaults_of_a_system_are_valid(system: str):
    usual = experiment_from({"system": system}).to_toml()
    VALIDATORS["experiment"].validate(tomllib.loads(usual))


@pytest.mark.parametrize("data", [data for _, data in SHOWN], ids=[name for name, _ in SHOWN])
def test_a_file_of_the_documentation_is_valid(data: dict[str, Any]):
    VALIDATORS[kind_of(data)].validate(data)


def tables(data: Any) -> Iterator[dict[str, Any]]:
    """All tables of a file, but for those whose keys are names of settings or attributes."""
    if isinstance(data, dict):
        yield data
        for key, value in data.items():
            if key not in ("settings", "grid", "columns", "event_columns", "types"):
                yield from tables(value)
    elif isinstance(data, list):
        for item in data:
            yield from tables(item)


@given(st.sampled_from([*SHIPPED.values(), *(data for _, data in SHOWN)]), st.data())
def test_a_misspelled_key_is_not(file: dict[str, Any], drawn: st.DataObject):
    file = copy.deepcopy(file)
    table = drawn.draw(st.sampled_from([table for table in tables(file) if table]))
    key = drawn.draw(st.sampled_from([*table]))
    kind = kind_of(file)
    table[f"{key}x"] = table.pop(key)
    assert not VALIDATORS[kind].is_valid(file)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("experiment", "cycles = true"),
        ("experiment", "seeds = 3"),
        ("experiment", "system = 'camcast'\n[layers.ring]\nexchanges = 2"),
        ("experiment", "[layers]\nsizes = [8, 8, 8]"),  # of hpmcast, which has to be named
        ("experiment", "[layers.ring]\npartner = 'rondom'"),
        ("experiment", "[[faults]]\nkind = 'crush'"),
        ("experiment", "[[faults]]\nkind = 'loss'\nat = 3"),
        ("experiment", "[[observers]]\nkind = 'degrees'\nlayer = 'rings'"),
        ("sweep", "seeds = 3"),
        ("workload", "name = 'w'"),
        ("workload", "[[attributes]]\nname = 'a'\ninterest = 'unifrom'"),
        ("workload", "[[attributes]]\nname = 'a'\ninterest = { kind = 'zipf' }"),
        ("workload", "[topics]\nfanout = ['3']"),
    ],
)
def test_what_the_reader_refuses_by_its_form_the_schema_refuses(kind: str, text: str):
    assert not VALIDATORS[kind].is_valid(tomllib.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        "experiment = 'x'\n[grid]\nlayers.ring.exchanges = [1, 2]\n'faults.0.share' = [0.1]\nseeds = [[1]]",
        "experiment = 'x'\n[settings]\nfaults.0.share = 0.1\n'workload.spec' = 'own.toml'",
        "run = 'module:function'\nseeds = [1, 2]\n[grid]\nanything = ['at', 'all']",
    ],
)
def test_settings_of_a_sweep_are_nested_or_dotted(text: str):
    VALIDATORS["sweep"].validate(tomllib.loads(text))


def described(schema: Any) -> Iterator[tuple[str, bool]]:
    for name, table in schema["$defs"].items():
        for key, value in table.get("properties", {}).items():
            yield f"{name}.{key}", "description" in value or "$ref" in value


def test_every_key_has_a_description():
    assert [key for kind in SCHEMAS for key, has in described(SCHEMAS[kind]()) if not has] == []
