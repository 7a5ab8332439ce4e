"""The shared overlay from experiment files: topics and ranges, both routes, faults, checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sims.config.experiment import load_experiment
from sims.rivals.papers.camcast_on_rings import MixedWorkload, SharedDissemination
from sims.runs.folder import CHECKPOINT, RunFolder
from sims.runs.runner import run_experiment, simulation_of
from sub2sub.errors import InputError

SHARED = """\
system = "camcast on rings"
cycles = 36
[population]
size = 240
spare = 80
[workload]
tree = [3, 3]
ranges = 0.3
events = 20
[dissemination]
c = 3.0
g = 30.0
retries = 2
[[faults]]
kind = "crash"
at = 12
share = 0.1
[[faults]]
kind = "churn"
from = 14
until = 16
share = 0.02
[[observers]]
kind = "delivery"
every = 12
[[observers]]
kind = "ring delivery"
every = 12
[[observers]]
kind = "snapshot"
at = 36
[[observers]]
kind = "degrees"
layer = "tables"
at = 36
"""


def test_both_routes_deliver_and_a_run_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "shared.toml").write_text(SHARED)
    experiment = load_experiment(tmp_path / "shared.toml")
    run_experiment(experiment, 1, tmp_path / "run")
    run = RunFolder.open(tmp_path / "run")
    assert {"delivery", "ring-delivery", "links", "peers", "tables-degrees"} <= set(run.tables())
    assert {"points", "tables"} <= set(run.table("traffic")["layer"].to_pylist())
    for name in ("delivery", "ring-delivery"):
        last = run.table(name).to_pylist()[-1]
        assert last["hit_ratio"] > 0.998
        assert last["spam"] == 0
    half, rest = (simulation_of(experiment, 1, tmp_path) for _ in range(2))
    half.overlay.bootstrap()
    half.run(20)
    half.save(tmp_path / CHECKPOINT)
    rest.load(tmp_path / CHECKPOINT)
    rest.run(36)
    for name in ("delivery", "ring-delivery", "traffic"):
        pd.testing.assert_frame_equal(pd.DataFrame(rest.tables[name]), run.table(name).to_pandas())


def test_range_subscribers_are_a_function_of_their_number() -> None:
    workload = MixedWorkload(tree=(3, 3), ranges=0.5)
    source = workload.source(7)
    whole, part = source.rows(0, 50), source.rows(20, 30)
    assert all(np.array_equal(one[20:30], other) for one, other in zip(whole, part, strict=True))
    bounds = {tuple(row) for row in source.ranges.bounds().tolist()}
    topical = [(low, high + 1) in bounds for low, high in zip(*(side[:, 0] for side in whole), strict=True)]
    assert 10 < sum(topical) < 40


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MixedWorkload(ranges=1.5), "ranges: expected 0 to 1, got 1.5"),
        (lambda: SharedDissemination(route="flood"), "route: expected 'camcast' or 'rings', got 'flood'"),
        (lambda: SharedDissemination(g=0.0), "g: expected 1 or more, got 0"),
    ],
)
def test_wrong_settings_get_one_line(make, message) -> None:
    with pytest.raises(InputError, match=message):
        make()
