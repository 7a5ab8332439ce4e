"""What one sees first when a report opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.engine import Schedule
from sims.observers.snapshots import Snapshots
from sims.report.report import report
from sims.runs.folder import RunWriter
from tests.sims.report import browser
from tests.sims.report.overlays import simulation


@pytest.mark.skipif(browser.missing(), reason=browser.REASON)
@pytest.mark.xdist_group("browser")
def test_a_page_opens_with_the_overlay_and_an_event_under_way(tmp_path: Path) -> None:
    run = simulation(n=60, d=2, cycles=0)
    run.observers = [(Schedule(at=5), Snapshots(tmp_path / "r"))]
    with RunWriter.create(tmp_path / "r", kind="run", name="r", seed=1, cycles=5) as writer:
        run.run(5)
        writer.write_table("rings", {"cycle": [0, 5], "complete": [0.0, 1.0], "links": [0.1, 1.0]})
    file = report([tmp_path / "r"]).write(tmp_path / "report.html")
    with browser.chromium() as chromium:
        tab = browser.Tab(chromium, file)
        tab.wait_for_overlay()
        assert tab.page.locator("h2").all_inner_texts()[:2] == [
            "Place an event and watch it travel",
            "Finding",
        ]
        browser.wait_until(tab.page, "document.querySelector('section.overlay').dataset.over === 'true'")
        tab.context.close()
