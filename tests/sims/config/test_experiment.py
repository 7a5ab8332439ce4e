"""Experiments as files: what may be written, and what is said about what may not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sims.config.describe import describe, documented
from sims.config.experiment import Experiment, load_experiment
from sims.config.interests import WorkloadSettings
from sims.config.schema import parameters
from sims.config.shipped import find_file, shipped
from sims.config.toml import dumps, line_of, override
from sims.engine.faults import Crash
from sims.runs.systems import NAMES as NAMES_OF_SYSTEMS
from sub2sub.cyclon.settings import CyclonSettings
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import OverlaySettings
from sub2sub.ring.layer import Partner, RingSettings


def load(tmp_path: Path, text: str, *changes: str) -> Experiment:
    file = tmp_path / "e.toml"
    file.write_text(text)
    return load_experiment(file, changes)


def complaints(tmp_path: Path, text: str, *changes: str) -> list[str]:
    with pytest.raises(InputError) as found:
        load(tmp_path, text, *changes)
    return str(found.value).replace(f"{tmp_path}/", "").splitlines()


def test_an_empty_file_is_an_experiment_with_the_usual_observers(tmp_path: Path):
    experiment = load(tmp_path, "cycles = 7\n")
    assert experiment.layers == OverlaySettings()
    assert [(entry.kind, entry.schedule.at) for entry in experiment.observers] == [
        ("rings", None), ("delivery", 7), ("degrees", 7),
    ]  # fmt: skip


def test_a_base_says_what_the_table_leaves_out(tmp_path: Path):
    text = '[layers]\nbase = "paper"\n[layers.ring]\nexchanges = 2\npartner = "random"\n'
    layers = load(tmp_path, text).layers
    assert layers.ring == RingSettings.paper(exchanges=2, partner=Partner.RANDOM)
    assert layers.cyclon == OverlaySettings.paper().cyclon


def test_everything_wrong_with_a_file_is_said_at_once_with_its_line(tmp_path: Path):
    text = """\
cycle = 5
[population]
size = "many"
[layers.ring]
hello = true
max_aeg = 3
[layers.cyclon]
view = 99
[[faults]]
kind = "crash"
at = 3
share = 2.0
[[faults]]
kind = "crush"
[[observers]]
kind = "degrees"
layer = "rings"
"""
    assert complaints(tmp_path, text) == [
        "e.toml:1: cycle: unknown key, did you mean 'cycles'?",
        "e.toml:3: population.size = 'many': expected a whole number",
        "e.toml:8: cyclon.view: expected 1 to 63 links, got 99",
        "e.toml:6: layers.ring.max_aeg: unknown key, did you mean 'max_age'?",
        "e.toml:12: crash.share: expected a share from 0 to 1, got 2.0",
        "e.toml:14: faults.1.kind = 'crush': did you mean 'crash'?",
        "e.toml:17: observers.0.layer = 'rings': did you mean 'ring'?",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('system = "kademlia"', "system = 'kademlia': expected one of "),
        ("layers = 3", "layers = 3: expected a table"),
        ("cycles = 0", "cycles: expected 1 or more, got 0"),
        ("seeds = [1, 1]", "seeds: expected one or more, all different, got [1, 1]"),
        ("cycles = true", "cycles = True: expected a whole number"),
        ("[faults]\nkind = 'crash'", "faults: expected a list of tables, [[faults]]"),
        ("[[faults]]\nat = 3", "faults.0.kind = None: expected one of churn, crash, "),
        ("[[faults]]\nkind = 'loss'\nat = 3", "faults.0.probability: expected a value, there is none"),
        (
            "cycles = 9\n[[faults]]\nkind = 'crash'\nat = 10",
            "faults.0.at: expected a cycle of the run, which ends after 9",
        ),
        ("[[faults]]\nkind = 'crash'\nat = 3\nevery = 2", "faults.0.every: expected either at or every"),
        ("[[faults]]\nkind = 'crash'\nevery = 0", "every: expected 1 or more cycles, got 0"),
        (
            "[workload]\nspec = 'powerlaw-3'",
            "spec: workload = 'powerlaw-3': expected uniform-D or power-law-D",
        ),
        ("[workload]\ntable = 'no.csv'", "table: "),
        ("[layers]\nbase = 'papers'", "layers.base = 'papers': did you mean 'paper'?"),
    ],
)
def test_each_mistake_has_a_sentence(tmp_path: Path, text: str, complaint: str):
    (line,) = complaints(tmp_path, text)
    place, _, said = line.partition(": ")
    assert place.startswith("e.toml")
    assert said.startswith(complaint)


def test_a_trace_of_churn_is_refused_rather_than_left_out(tmp_path: Path):
    spec = "[churn]\nsession = 50\nabsence = 10\n[[attributes]]\n"
    (tmp_path / "churning.toml").write_text(spec + "name = 'a'\ninterest = 'uniform'\nwidth = 'uniform'\n")
    (line,) = complaints(tmp_path, "[workload]\nspec = 'churning.toml'")
    assert "churning.toml has a table churn, which a run does not follow" in line


def test_changes_are_checked_like_the_file_and_named_as_what_they_are(tmp_path: Path):
    text = '[[faults]]\nkind = "crash"\nat = 3\n'
    changed = load(tmp_path, text, "faults.0.share=0.5", "layers.ring.partner=nearest", "seeds=[4, 5]")
    assert changed.faults[0].control({}) == Crash(0.5)
    assert (changed.layers.ring.partner, changed.seeds) == (Partner.NEAREST, (4, 5))
    assert complaints(tmp_path, text, "layers.ring.exchange=2") == [
        "--set layers.ring.exchange=2: layers.ring.exchange: unknown key, did you mean 'exchanges'?"
    ]
    assert complaints(tmp_path, text, "faults.7.share=1") == [
        "faults.7.share: expected a number from 0 to 1 in place of 7"
    ]
    assert complaints(tmp_path, text, "cycles") == [
        "--set cycles: expected KEY=VALUE, such as layers.ring.exchanges=2"
    ]


def test_paths_are_relative_to_the_file_or_where_they_are_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for folder in ("file", "here"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "boxes.csv").write_text("x_low,x_high\n0,1\n1,2\n")
        (tmp_path / folder / "own.toml").write_text('[[attributes]]\nname = "x"\n')
    monkeypatch.chdir(tmp_path / "here")
    text = '[workload]\nspec = "own.toml"\ntable = "boxes.csv"\n'
    written = load(tmp_path / "file", text).workload
    assert (written.spec, written.table) == (
        str(tmp_path / "file" / "own.toml"), tmp_path / "file" / "boxes.csv",
    )  # fmt: skip
    typed = load(tmp_path / "file", text, "workload.spec=own.toml", "workload.table=boxes.csv").workload
    assert (typed.spec, typed.table) == (str(tmp_path / "here" / "own.toml"), tmp_path / "here" / "boxes.csv")


def test_what_is_no_toml_is_refused_with_the_parser_s_own_place(tmp_path: Path):
    (line,) = complaints(tmp_path, "cycles = \n")
    assert "line 1" in line


@pytest.mark.parametrize("name", shipped())
def test_every_experiment_of_the_package_is_valid_and_comes_back_from_its_resolved_form(
    tmp_path: Path, name: str
):
    experiment = load_experiment(find_file(name))
    assert experiment.title
    assert load(tmp_path, experiment.to_toml()) == experiment


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path):
    with pytest.raises(InputError, match=r"did you mean 'sub2sub-fig5'\?"):
        find_file("sub2sub-fig55")
    with pytest.raises(InputError, match="there is no such file"):
        find_file(str(tmp_path / "none.toml"))


VALUES = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(max_size=8),
    st.lists(st.integers(-9, 9), max_size=3),
)  # fmt: skip
NAMES = st.from_regex(r"[a-z]{1,4}", fullmatch=True)
TABLES = st.recursive(
    st.dictionaries(NAMES, VALUES, max_size=3),
    lambda inner: st.dictionaries(
        NAMES, st.one_of(VALUES, inner, st.lists(inner, min_size=1, max_size=2)), max_size=3
    ),
    max_leaves=8,
)


@given(TABLES)
def test_what_is_written_as_toml_reads_the_same(data: dict):
    assert tomllib.loads(dumps(data)) == data


def keys(data, key=()):
    for name, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(data, dict):
            yield (*key, name)
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
            yield from keys(value, (*key, name))


@given(TABLES)
def test_every_key_is_found_on_the_line_that_names_it(data: dict):
    text = dumps(data)
    for key in keys(data):
        line = line_of(text, key)
        assert line is not None
        assert str(key[-1]) in text.split("\n")[line - 1]


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ('s = """\nb = 1\n"""\nb = 2', ("b",), 4),
        ("a.b = 1\na.c = 2", ("a", "c"), 2),
        ("x = [\n  1,\n]\n\n# y = 2\ny = 3", ("y",), 6),
        ("[[f]]\nk = 1\n[[f]]\nk = 2", ("f", 1, "k"), 4),
        ("t = { a = 1, b = 2 }", ("t", "b"), 1),
        ("[t]\na = 1", ("t", "missing"), 1),
        ("a = 1", ("missing",), None),
    ],
)
def test_lines_are_found_through_strings_lists_comments_and_repeated_tables(text, key, line):
    assert line_of(text, key) == line


def test_an_override_does_not_go_through_a_value():
    with pytest.raises(InputError, match=r"cycles\.x: cycles is no table"):
        override({"cycles": 3}, ("cycles", "x"), 1)


@pytest.mark.parametrize("name", NAMES_OF_SYSTEMS)
def test_the_description_of_all_keys_is_itself_the_default_experiment(tmp_path: Path, name: str):
    assert load(tmp_path, describe(name)) == load(tmp_path, f'system = "{name}"\n')


def test_every_setting_has_a_meaning():
    for settings in (Experiment, OverlaySettings, RingSettings, CyclonSettings, WorkloadSettings):
        assert documented(settings).keys() >= parameters(settings).keys()
