"""CAMCAST and hpmcast from experiment files: the same faults, folders and checkpoints as Sub-2-Sub."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hierarchy.hpmcast import AddressSpace
from sims.config.experiment import Experiment, load_experiment
from sims.config.interests import WorkloadSettings
from sims.config.topic_workload import TopicSource, TopicWorkload
from sims.rivals import RUNNABLE
from sims.rivals.below.addressed import addressed
from sims.runs.folder import CHECKPOINT, RunFolder
from sims.runs.runner import run_experiment, simulation_of
from sub2sub.errors import InputError

CAMCAST = """\
system = "camcast"
cycles = 40
[population]
spare = 40
[workload]
chain = [5, 15, 60]
events = 10
[layers.topics]
c = 4.0
g = 60.0
a = 3.0
[[faults]]
kind = "crash"
at = 25
share = 0.1
[[faults]]
kind = "join"
at = 28
count = 3
"""
HPMCAST = """\
system = "hpmcast"
cycles = 40
[population]
size = 100
spare = 20
[workload]
spec = "power-law-1"
events = 10
[layers]
sizes = [5, 5, 5]
[dissemination]
constant = 3.0
[[faults]]
kind = "churn"
at = 20
share = 0.1
"""


def load(tmp_path: Path, text: str) -> Experiment:
    (tmp_path / "e.toml").write_text(text)
    return load_experiment(tmp_path / "e.toml")


@pytest.mark.parametrize("text", [CAMCAST, HPMCAST], ids=["camcast", "hpmcast"])
def test_a_run_delivers_and_goes_on_from_a_checkpoint_as_if_nothing_had_happened(tmp_path: Path, text: str):
    experiment = load(tmp_path, text)
    ended = run_experiment(experiment, 1, tmp_path / "r")
    assert ended.numbers["hit_ratio"] > 0.9
    run = RunFolder.open(tmp_path / "r")
    assert {"delivery", "events", "traffic", "peers"} <= set(run.tables())
    half, rest = (simulation_of(experiment, 1, tmp_path) for _ in range(2))
    half.overlay.bootstrap()
    half.run(22)
    half.save(tmp_path / CHECKPOINT)
    rest.load(tmp_path / CHECKPOINT)
    rest.run(40)
    for name in ("delivery", "traffic"):
        pd.testing.assert_frame_equal(pd.DataFrame(rest.tables[name]), run.table(name).to_pandas())


def test_observers_of_another_system_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"observers\.0\.kind: expected one of delivery, views"):
        load(tmp_path, HPMCAST + '[[observers]]\nkind = "rings"\n')


def test_settled_hierarchies_begin_with_right_views(tmp_path: Path):
    experiment = load(tmp_path, HPMCAST.replace("sizes", "settled = true\nsizes"))
    simulation = simulation_of(experiment, 1, tmp_path)
    simulation.overlay.bootstrap()
    simulation.look()
    assert simulation.tables["views"][0]["whole"] == 1.0


def test_participants_are_spread_over_the_address_space_and_newcomers_between_them():
    interests = WorkloadSettings("uniform-1", events=1, at_least=0).load(6, seed=1)
    people = addressed(interests, spare=3, space=AddressSpace((3, 6)))
    assert people.ids.tolist() == list(range(0, 18, 2))
    assert people.present.sum() == 6
    assert np.array_equal(np.sort(people.row[people.present]), np.arange(6))
    with pytest.raises(InputError, match=r"layers\.sizes: expected room for 9 participants"):
        addressed(interests, spare=3, space=AddressSpace((2, 4)))


def test_a_chain_has_communities_of_these_sizes_and_events_in_the_last():
    wanted = TopicSource(TopicWorkload(chain=(2, 3, 5), events=4), seed=1)
    assert np.bincount(wanted.topics(0, 10)).tolist() == [2, 3, 5]
    lows, highs = wanted.rows(0, 10)
    point = wanted.ranges.point(int(wanted.events()[0]))
    assert ((lows <= point) & (point <= highs)).all()


def test_a_tree_has_popular_topics():
    wanted = TopicSource(TopicWorkload(tree=(3, 3), exponent=1.5), seed=1)
    sizes = np.bincount(wanted.topics(0, 2000), minlength=13)
    assert sizes.max() > 10 * sizes.min()


OTHERS = [name for name in RUNNABLE if name not in ("sub2sub", "camcast", "hpmcast", "protocols")]


@pytest.mark.parametrize("name", OTHERS)
def test_every_system_that_is_compared_can_be_run_under_the_engines_faults(tmp_path: Path, name: str):
    text = f"""\
system = "{name}"
cycles = 24
[population]
size = 80
[workload]
events = 60
[[faults]]
kind = "crash"
at = 13  # after the delivery of cycle 12
share = 0.2
[[observers]]
kind = "delivery"
every = 12
receptions = true
"""
    ended = run_experiment(load(tmp_path, text), 1, tmp_path / "r")
    run = RunFolder.open(tmp_path / "r")
    before, healed = run.table("delivery").to_pylist()[1]["hit_ratio"], ended.numbers["hit_ratio"]
    # pmcast delivers about .7 with its default fan-out, in groups as small as these.
    least = (0.5, 0.5) if name == "pmcast" else (0.99, 0.95)
    assert least[0] <= before <= 1
    assert least[1] <= healed <= 1
    got, events = run.table("receptions").to_pandas(), run.table("events").to_pandas()
    assert (got.groupby(["cycle", "event"]).size().to_numpy() >= events.delivered.to_numpy()).all()
    assert {"load", "traffic", "peers"} <= set(run.tables())


def test_broadcast_takes_newcomers_and_groups_refuse_them(tmp_path: Path):
    text = """\
system = "SYSTEM"
cycles = 20
population = { size = 60, spare = 20 }
workload.events = 100
faults = [{ kind = "churn", at = 10, share = 0.2 }]
"""
    ended = run_experiment(load(tmp_path, text.replace("SYSTEM", "broadcast")), 1, tmp_path / "r")
    assert ended.numbers["hit_ratio"] > 0.9
    with pytest.raises(InputError):
        run_experiment(load(tmp_path, text.replace("SYSTEM", "hierarchical")), 1, tmp_path / "s")
