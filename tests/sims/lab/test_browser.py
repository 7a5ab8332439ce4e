"""The laboratory in a browser: rings close, clicks publish, regions crash, and what was done is saved."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sims.config.experiment import load_experiment
from sims.lab.laboratory import Laboratory, experiment_for
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.peers.settings import DisseminationSettings
from tests.sims.report import browser

uvicorn = pytest.importorskip("uvicorn", reason="needs the extra lab: pip install 'sub2sub-overlays[lab]'")
pytest.importorskip("starlette", reason="needs the extra lab: pip install 'sub2sub-overlays[lab]'")

needs_browser = pytest.mark.skipif(browser.missing(), reason=browser.REASON)
pytestmark = pytest.mark.xdist_group("browser")


class Served:
    """A laboratory that listens on a free port of this machine."""

    def __init__(self, lab: Laboratory, start: bool = False) -> None:
        from sims.lab.server import LabServer

        self.lab = lab
        self.listening = socket.socket()
        self.listening.bind(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        config = uvicorn.Config(LabServer(lab, start).app, log_level="error", ws="websockets-sansio")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=lambda: self.server.run(sockets=[self.listening]), daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.listening.close()


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    """Of 300 peers; a test's parameter says whether interests are topics."""
    topics = getattr(request, "param", False)
    experiment = experiment_for(None, 300, topics, ["workload.events=80"])
    found = Served(Laboratory(experiment, seed=2, out=tmp_path / "lab"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.chromium() as started:
        yield started


class LabTab:
    """The laboratory's page, open."""

    def __init__(self, chromium: Any, served: Served, width: int = 1200) -> None:
        self.context = chromium.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        self.context.set_default_timeout(browser.PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(served.address)
        self.page.wait_for_selector("section.lab[data-ready=true][data-cycle]")

    def role(self, name: str) -> Any:
        return self.page.locator(f'section.lab [data-role="{name}"]')

    def data(self, name: str) -> str:
        return str(self.page.locator("section.lab").get_attribute(f"data-{name}"))

    def wait(self, condition: str) -> None:
        browser.wait_until(self.page, f"(lab => {condition})(document.querySelector('section.lab').dataset)")

    def click_field(self, x: float, y: float) -> None:
        box = self.role("field").bounding_box()
        self.role("field").click(position={"x": box["width"] * x, "y": box["height"] * y})


@pytest.fixture
def tab(chromium: Any, served: Served) -> Iterator[LabTab]:
    opened = LabTab(chromium, served)
    yield opened
    assert opened.complaints == []
    opened.context.close()


@needs_browser
def test_rings_close_while_one_watches(tab: LabTab, served: Served) -> None:
    assert float(tab.data("rings")) < 0.5
    tab.role("step").click()
    tab.wait("lab.cycle === '1'")
    tab.role("rate").select_option("0")
    tab.role("play").click()
    tab.wait("lab.running === 'true'")
    tab.wait("Number(lab.rings) === 1")
    tab.page.keyboard.press("p")
    tab.wait("lab.running === 'false'")
    assert served.lab.rings == 1.0
    tab.page.wait_for_function("document.querySelectorAll('.plot svg .curve').length >= 2")
    pixels = "document.querySelector('[data-role=field]').getContext('2d').getImageData(0, 0, 500, 500)"
    assert tab.page.evaluate(f"{pixels}.data.some(value => value)")


@needs_browser
def test_a_click_publishes_and_the_event_ends_as_in_the_library(tab: LabTab, served: Served) -> None:
    for _ in range(12):  # many links are too old for shortcuts
        served.lab.step()
    tab.role("k").fill("2")
    browser.wait_until(tab.page, "document.querySelector('[data-role=k-shown]').textContent === '2'")
    tab.click_field(0.5, 0.5)
    tab.wait("lab.published === '1' && 'reached' in lab")
    cycle, point = served.lab.published[0]
    overlay = served.lab.simulation.overlay
    outcome = disseminate(
        Links.of(overlay),
        overlay.network,
        [point],
        settings=DisseminationSettings(shortcuts=2),
        seed=2,
        cycle=cycle,
    )
    found = [int(tab.data(name)) for name in ("matches", "reached", "sent")]
    assert found == [int(part[0]) for part in (outcome.matches, outcome.reached, outcome.messages)]
    assert found[0] > 3


@needs_browser
def test_a_region_crashes_by_drawing_round_it_and_recovers(tab: LabTab, served: Served) -> None:
    before = int(tab.data("alive"))
    tab.page.keyboard.press("c")
    box = tab.role("field").bounding_box()
    corners = [(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7)]
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    tab.page.mouse.move(*places[0])
    tab.page.mouse.down()
    for place in places[1:]:
        tab.page.mouse.move(*place, steps=4)
    tab.page.mouse.up()
    tab.wait(f"Number(lab.alive) < {before}")
    hit = served.lab.done[0]["peers"]
    assert before - int(tab.data("alive")) == len(hit) > 10
    lows, highs = served.lab.simulation.overlay.population.ranges()
    middle = (lows + highs)[hit] / 2
    assert np.all((middle > 0.2) & (middle < 0.8))
    tab.role("recover").click()
    tab.wait(f"Number(lab.alive) === {before}")


@needs_browser
def test_loss_and_churn_take_effect_and_everything_is_saved(tab: LabTab, served: Served) -> None:
    tab.role("loss").fill("10")
    tab.role("churn").fill("2")
    tab.page.keyboard.press("n")
    tab.wait("lab.cycle === '1'")
    tab.page.keyboard.press("s")
    tab.page.wait_for_selector("section.lab[data-saved]")
    experiment = load_experiment(Path(tab.data("saved")))
    assert [entry.kind for entry in experiment.faults] == ["loss", "churn"]
    assert served.lab.simulation.overlay.network.loss == 0.1
    assert "sub2sub run" in tab.role("said").inner_text()


@needs_browser
@pytest.mark.parametrize("served", [True], indirect=True)
def test_topics_are_routed_along_rings_or_as_camcast_does(tab: LabTab, served: Served) -> None:
    for _ in range(12):
        served.lab.step()
    for routing in ("rings", "camcast"):
        tab.role("routing").select_option(routing)
        tab.role("random").click()
        tab.wait(f"lab.routing === '{routing}'")
        assert 0 < int(tab.data("reached")) <= int(tab.data("matches"))


@needs_browser
def test_the_page_fits_a_narrow_screen(chromium: Any, served: Served) -> None:
    tab = LabTab(chromium, served, width=390)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.complaints == []
    tab.context.close()


def _talk(served: Served, origin: str | None, host: str | None = None) -> Any:
    """A websocket to the laboratory, with the headers that a browser would send."""
    from websockets.sync.client import connect

    wire = socket.create_connection(("127.0.0.1", served.port))
    address = f"ws://{host or f'127.0.0.1:{served.port}'}/live"
    return connect(address, sock=wire, origin=origin, max_size=None)  # type: ignore[arg-type]


def test_its_own_page_may_talk_to_it_and_is_told_what_is_wrong(served: Served) -> None:
    with _talk(served, f"http://127.0.0.1:{served.port}") as talk:
        assert b'"kind":"start"' in talk.recv()[:40]
        orders = ("{", "[]", '{"do": "fly"}', '{"do": "publish", "point": [1]}', '{"do": "loss"}')
        for order in orders:
            talk.send(order)
        problems = 0
        while problems < len(orders):
            problems += b'"kind":"problem"' in talk.recv()[:40]
    assert served.lab.published == served.lab.done == []


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, None),
        ("http://elsewhere.example", None),
        ("null", None),
        ("http://127.0.0.1:1", None),
        ("http://elsewhere.example", "elsewhere.example"),
    ],
)
def test_nobody_else_may_talk_to_it(served: Served, origin: str | None, host: str | None) -> None:
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus), _talk(served, origin, host):
        pass


@needs_browser
def test_a_laboratory_that_is_to_start_runs_when_somebody_watches_and_its_tour_can_be_dismissed(
    chromium: Any, tmp_path: Path
) -> None:
    lab = Laboratory(experiment_for(None, 200, False, ["workload.events=40"]), seed=2, out=tmp_path)
    served = Served(lab, start=True)
    assert lab.simulation.cycle == 0
    tab = LabTab(chromium, served)
    tab.wait("Number(lab.cycle) > 2")
    seen = []
    while tab.role("tour").is_visible():
        seen.append(tab.role("tour-text").inner_text())
        tab.role("tour-next").click()
    assert len(set(seen)) == 3
    tab.page.reload()
    tab.page.wait_for_selector("section.lab[data-ready=true]")
    assert not tab.role("tour").is_visible()
    assert tab.complaints == []
    tab.context.close()
    served.close()
