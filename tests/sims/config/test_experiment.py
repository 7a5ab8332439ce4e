"""Experiments as files: what may be written, and what is said about what may not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sims.config.experiment import Experiment, experiment_from, load_experiment
from sims.config.interests import WorkloadSettings
from sims.config.shipped import find_file, shipped
from sims.engine.faults import Crash
from sims.rivals import RUNNABLE as NAMES_OF_SYSTEMS
from sims.rivals.papers.sub2sub import RingLayers
from sub2sub.compiled.ring.layer import Partner
from sub2sub.errors import InputError
from sub2sub.peers.settings import CyclonSettings, OverlaySettings, RingSettings
from workloads.settings.parameters import documented, parameters


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
    assert experiment.layers == RingLayers()
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
        'e.toml:3: population.size: expected a whole number, got "many"',
        "e.toml:6: layers.ring.max_aeg: unknown key, did you mean 'max_age'?",
        "e.toml:8: cyclon.view: expected 1 to 63, got 99",
        "e.toml:12: crash.share: expected a share from 0 to 1, got 2.0",
        "e.toml:14: faults.1.kind: expected one of churn, crash, join, leave, loss, partition, recover, "
        "resubscribe, sessions, add topic, add parent, remove topic, got \"crush\", did you mean 'crash'?",
        'e.toml:17: observers.0.layer: expected one of cyclon, vicinity, ring, got "rings", '
        "did you mean 'ring'?",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('system = "kademlia"', "system: expected one of sub2sub, broadcast, camcast, camcast on rings, "),
        ("layers = 3", "layers: expected a table, got 3"),
        ("cycles = 0", "cycles: expected 1 or more, got 0"),
        ("seeds = [1, 1]", "seeds: expected one or more, all different, got [1, 1]"),
        ("cycles = true", "cycles: expected a whole number, got true"),
        ("cycles = 2.0", "cycles: expected a whole number, got 2.0"),
        ("cycles = '2'", 'cycles: expected a whole number, got "2"'),
        ("cycles = [2]", "cycles: expected a whole number, got [2]"),
        ("seeds = 3", "seeds: expected a list of whole numbers, got 3"),
        ("seeds = [1, true]", "seeds.1: expected a whole number, got true"),
        ("title = 3", "title: expected a string, got 3"),
        ("layers.ring.hello = 1", "layers.ring.hello: expected true or false, got 1"),
        ("[[faults]]\nkind = 'crash'\nshare = nan", "faults.0.share: expected a number, got nan"),
        ("[[faults]]\nkind = 'crash'\nshare = true", "faults.0.share: expected a number, got true"),
        ("[faults]\nkind = 'crash'", 'faults: expected a list of tables, [[...]], got {kind = "crash"}'),
        ("[[faults]]\nat = 3", "faults.0.kind: expected one of churn, crash, "),
        ("[[faults]]\nkind = 'loss'\nat = 3", "faults.0.probability: expected a value, there is none"),
        (
            "cycles = 9\n[[faults]]\nkind = 'crash'\nat = 10",
            "faults.0.at: expected a cycle before the end of the run, which has 9",
        ),
        ("[[faults]]\nkind = 'crash'\nat = 3\nevery = 2", "faults.0.every: expected either at or every"),
        ("[[faults]]\nkind = 'crash'\nevery = 0", "faults.0.every: expected 1 or more cycles, got 0"),
        (
            "[workload]\nspec = 'powerlaw-3'",
            "workload.spec: workload = 'powerlaw-3': expected uniform-D or power-law-D",
        ),
        ("[workload]\ntable = 'no.csv'", "workload.table: "),
        (
            "[layers]\nbase = 'papers'",
            "layers.base: expected one of default, paper, got \"papers\", did you mean 'paper'?",
        ),
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
    assert "churning.toml has a table churn, which runs ignore" in line


def test_changes_are_checked_like_the_file_and_named_as_what_they_are(tmp_path: Path):
    text = '[[faults]]\nkind = "crash"\nat = 3\n'
    changed = load(tmp_path, text, "faults.0.share=0.5", "layers.ring.partner=nearest", "seeds=[4, 5]")
    assert changed.faults[0].control({}) == Crash(0.5)
    assert (changed.layers.ring.partner, changed.seeds) == (Partner.NEAREST, (4, 5))
    assert complaints(tmp_path, text, "layers.ring.exchange=2") == [
        "--set layers.ring.exchange=2: layers.ring.exchange: unknown key, did you mean 'exchanges'?"
    ]
    assert complaints(tmp_path, text, "faults.7.share=1") == [
        "--set faults.7.share=1: faults.7.share: expected a number from 0 to 1 in place of 7"
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


@pytest.mark.parametrize("name", NAMES_OF_SYSTEMS)
def test_the_defaults_of_a_system_come_back_from_their_resolved_form(tmp_path: Path, name: str):
    usual = load(tmp_path, f'system = "{name}"\n')
    assert load(tmp_path, usual.to_toml()) == usual


def test_every_setting_has_a_meaning():
    for settings in (Experiment, OverlaySettings, RingSettings, CyclonSettings, WorkloadSettings):
        assert documented(settings).keys() >= parameters(settings).keys()


SCHEDULE = st.one_of(
    st.fixed_dictionaries({"at": st.integers(0, 8)}),
    st.fixed_dictionaries({"from": st.integers(0, 5), "every": st.integers(1, 3)}),
)
FAULT = st.builds(
    lambda when, own: when | own,
    SCHEDULE,
    st.one_of(
        st.fixed_dictionaries({"kind": st.just("crash"), "share": st.floats(0, 1)}),
        st.fixed_dictionaries({"kind": st.just("loss"), "probability": st.floats(0, 1)}),
        st.fixed_dictionaries({"kind": st.just("join"), "count": st.integers(1, 9)}),
    ),
)
DATA = st.fixed_dictionaries(
    {"cycles": st.integers(9, 99)},
    optional={
        "title": st.text(max_size=20),
        "seeds": st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=3, unique=True),
        "population": st.fixed_dictionaries({"size": st.integers(0, 10**6), "spare": st.integers(0, 99)}),
        "workload": st.fixed_dictionaries(
            {}, optional={"seed": st.integers(0, 9), "events": st.integers(0, 9)}
        ),
        "layers": st.fixed_dictionaries(
            {"base": st.sampled_from(["default", "paper"])},
            optional={
                "ring": st.fixed_dictionaries(
                    {"exchanges": st.integers(1, 9), "hello": st.booleans()},
                    optional={"partner": st.sampled_from(["least-recent", "random", "nearest"])},
                ),
                "cyclon": st.fixed_dictionaries({"view": st.integers(20, 63)}),
            },
        ),
        "dissemination": st.fixed_dictionaries({"shortcuts": st.integers(0, 9)}),
        "faults": st.lists(FAULT, max_size=3),
        "observers": st.lists(
            SCHEDULE.map(lambda when: {"kind": "degrees", "layer": "ring", **when}), max_size=2
        ),
    },
)


@given(DATA)
def test_any_experiment_is_read_back_as_it_was_written(data: dict):
    experiment = experiment_from(data)
    written = experiment.to_toml()
    again = experiment_from(tomllib.loads(written))
    assert again == experiment
    assert again.to_toml() == written
