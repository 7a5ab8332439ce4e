"""A laboratory: what is done there is done again by the saved experiment, draw for draw."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sims.config.experiment import load_experiment
from sims.engine import Simulation
from sims.lab.browser_view import Changes
from sims.lab.laboratory import Laboratory, experiment_for
from sims.runs.runner import simulation_of
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.errors import InputError
from sub2sub.overlay.explorer import frame

SQUARE = [(0.2, 0.2), (0.6, 0.2), (0.6, 0.6), (0.2, 0.6)]


def _lab(tmp_path: Path, topics: bool = False, peers: int = 150) -> Laboratory:
    changes = ["workload.events=60"]
    return Laboratory(experiment_for(None, peers, topics, changes), seed=3, out=tmp_path / "lab")


def _state(simulation: Simulation) -> list[np.ndarray]:
    overlay = simulation.overlay
    arrays = [overlay.population.boxes, overlay.population.row, overlay.network.alive]
    for layer in overlay.layers:
        arrays += list(layer.links())
    return arrays


def test_the_saved_experiment_comes_to_the_same_overlay(tmp_path: Path) -> None:
    lab = _lab(tmp_path)
    for _ in range(3):
        lab.step()
    assert lab.crash_region(0, 1, SQUARE) > 5
    lab.set_churn(0.02)
    lab.step()
    lab.set_loss(0.1)
    lab.set_churn(0.05)
    for _ in range(2):
        lab.step()
    lab.recover()
    lab.set_churn(0.0)
    lab.set_shortcuts(3)
    lab.publish([0.5, 0.5])
    lab.step()
    path = lab.save()
    experiment = load_experiment(path)
    again = simulation_of(experiment, experiment.seeds[0], tmp_path)
    again.overlay.bootstrap()
    again.run(experiment.cycles)
    assert again.cycle == lab.simulation.cycle
    assert experiment.dissemination.shortcuts == 3
    assert again.overlay.network.loss == 0.1
    for now, then in zip(_state(again), _state(lab.simulation), strict=True):
        assert np.array_equal(now, then)
    assert [row["events"] for row in again.tables["delivery"]] == [1]
    assert lab.save() != path  # what was saved stays


def test_a_world_of_topics_is_saved_with_its_topics(tmp_path: Path) -> None:
    lab = _lab(tmp_path, topics=True)
    lab.step()
    experiment = load_experiment(lab.save())
    assert Path(experiment.workload.spec).parent == tmp_path / "lab"
    again = simulation_of(experiment, 3, tmp_path)
    assert np.array_equal(again.overlay.population.boxes, lab.simulation.overlay.population.boxes)


def test_crashing_a_region_crashes_the_peers_in_it_and_no_others(tmp_path: Path) -> None:
    lab = _lab(tmp_path)
    lows, highs = lab.simulation.overlay.population.ranges()
    middle = (lows + highs) / 2
    inside = np.all((middle > 0.2) & (middle < 0.6), axis=1) & lab.simulation.overlay.population.present
    assert lab.crash_region(0, 1, SQUARE) == inside.sum() > 0
    up = lab.simulation.overlay.network.alive == 1
    assert not up[inside].any()
    assert up[~inside & lab.simulation.overlay.population.present].all()
    lab.recover()
    assert (lab.simulation.overlay.network.alive == 1)[inside].all()
    assert lab.crash_region(0, 1, [(2, 2), (3, 2), (3, 3)]) == 0


def test_rings_close_peer_by_peer(tmp_path: Path) -> None:
    lab = _lab(tmp_path)
    assert lab.rings < 0.5
    for _ in range(15):
        lab.step()
    assert lab.rings == lab.links == 1.0
    assert set(np.unique(lab.closed)) <= {254, 255}
    lab.crash_region(0, 1, SQUARE)
    assert lab.rings < 1.0


def test_churn_without_room_ends_and_says_so(tmp_path: Path) -> None:
    lab = Laboratory(
        experiment_for(None, 100, changes=["population.spare=0", "workload.events=20"]), out=tmp_path
    )
    lab.set_churn(0.5)
    with pytest.raises(InputError, match="spare"):
        lab.step()
    assert lab.churn == 0.0
    lab.step()


def test_camcast_reaches_the_subscribers_of_the_topic_and_all_above(tmp_path: Path) -> None:
    lab = _lab(tmp_path, topics=True, peers=400)
    for _ in range(15):
        lab.step()
    head, arrays = lab.publish([5.0], "camcast")
    assert head["counts"]["reached"] > 0.9 * arrays["members"].size > 5
    assert head["counts"]["spam"] == 0
    assert (arrays["rounds"] >= 0).sum() == head["counts"]["reached"]
    with pytest.raises(InputError, match="topics"):
        _lab(tmp_path).publish([0.5, 0.5], "camcast")


def test_the_views_sent_are_those_an_event_travels_on(tmp_path: Path) -> None:
    lab = _lab(tmp_path)
    for _ in range(8):
        lab.step()
    _, arrays = lab.event([0.5, 0.5])
    links, members = Links.of(lab.simulation.overlay), arrays["members"]
    assert np.array_equal(arrays["ring-size"], links.ring_size[members])
    first = int(members[0])
    start = int(links.ring_start[first])
    expected = links.ring_peer[start : start + int(links.ring_size[first])]
    assert np.array_equal(arrays["ring-target"][: expected.size], expected)
    young = links.younger(lab.experiment.dissemination.max_age)
    assert np.array_equal(arrays["near-size"], young.near_size[members])
    assert young.near_size[members].sum() < links.near_size[members].sum()
    outcome = disseminate(links, lab.simulation.overlay.network, [[0.5, 0.5]])
    assert int(outcome.matches[0]) == members.size


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda lab: lab.publish([0.5]), "expected 2 finite numbers"),
        (lambda lab: lab.publish([0.5, float("nan")]), "expected 2 finite numbers"),
        (lambda lab: lab.crash_region(0, 5, SQUARE), "attributes below 2"),
        (lambda lab: lab.crash_region(0, 1, SQUARE[:2]), "three or more points"),
        (lambda lab: lab.set_loss(1.5), "share from 0 to 1"),
        (lambda lab: lab.set_churn(-1), "share from 0 to 1"),
        (lambda lab: lab.set_shortcuts(-1), "k: expected 0 to 63"),
        (lambda _: experiment_for("camcast-crash"), "experiment of sub2sub"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_a_line(tmp_path: Path, act: object, said: str) -> None:
    lab = _lab(tmp_path, peers=50)
    assert callable(act)
    with pytest.raises(InputError, match=said):
        act(lab)
    assert lab.done == lab.churned == lab.published == []


def test_a_browser_is_sent_what_changed(tmp_path: Path) -> None:
    seen, values = Changes("x"), np.zeros(1000, np.uint8)
    assert set(seen.to(values)) == {"x"}
    values[7] = 9
    sent = seen.to(values)
    assert sent["x-places"].tolist() == [7]
    assert sent["x-values"].tolist() == [9]
    values[:] = 1
    assert set(seen.to(values)) == {"x"}  # whole, where that is shorter
    message = frame({"kind": "k"}, {"a": np.arange(3, dtype=np.uint8), "b": np.array([1.5])})
    head = int.from_bytes(message[:4], "little")
    assert (4 + head) % 8 == 0
    assert np.frombuffer(message[4 + head + 8 :], "<f8").tolist() == [1.5]
