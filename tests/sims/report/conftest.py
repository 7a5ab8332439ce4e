"""A report on a small run, and the browser that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sims.engine import Schedule
from sims.observers.rings import RingCompleteness
from sims.observers.snapshots import Snapshots
from sims.report.report import report
from sims.runs.folder import RunWriter
from tests.sims.report import browser
from tests.sims.report.overlays import simulation

CYCLES = (2, 4, 15)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on a run of 400 peers that recorded its overlay in three cycles."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    run = simulation(n=400, d=3, cycles=0)
    run.observers = [(Schedule(at=cycle), Snapshots(folder)) for cycle in CYCLES]
    run.observe(RingCompleteness(np.random.default_rng(1).random((50, 3))))
    with RunWriter.create(folder, kind="run", name="small <run>", seed=1, cycles=15) as writer:
        run.run(15)
        rows = run.tables["rings"]
        writer.write_table("rings", {name: [row[name] for row in rows] for name in rows[0]})
    return report([folder]).write(folder / "report.html")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.chromium() as started:
        yield started
