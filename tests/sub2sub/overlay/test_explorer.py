"""The view in a notebook: what it is answered, and the view itself in a browser, in a real Jupyter server."""

from __future__ import annotations

import json
import os
import re
import secrets
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sub2sub import DisseminationSettings, Overlay
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.overlay.explorer import Explorer
from tests.sims.report import browser

PORT = re.compile(r"http://127\.0\.0\.1:(\d+)/")
PROGRAM = """\
import numpy as np
from sub2sub import Overlay
lows = np.random.default_rng(1).random((300, 2)) * 0.7
overlay = Overlay.of(lows, lows + 0.3, seed=1).run(10)
overlay.explore()
"""


def overlay_of(n: int = 60, **given: Any) -> Overlay:
    lows = np.random.default_rng(1).random((n, 2)) * 0.5
    return Overlay.of(lows, lows + 0.4, seed=1, **given)


def head_of(message: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<I", message[:4])
    head: dict[str, Any] = json.loads(message[4 : 4 + length])
    return head


def test_the_overlay_itself_runs_and_publishes() -> None:
    overlay = overlay_of()
    explorer = Explorer(overlay, DisseminationSettings(shortcuts=2))
    head_of(explorer.answer({"do": "start"}))
    head = head_of(explorer.answer({"do": "run", "cycles": 12}))
    assert (head["cycle"], overlay.cycle) == (12, 12)
    for point in ([0.5, 0.5], [0.4, 0.6], [0.6, 0.5], [0.45, 0.4]):
        event = head_of(explorer.answer({"do": "publish", "point": point}))["event"]
        expected = disseminate(
            Links.of(overlay), overlay.network, [point], settings=DisseminationSettings(shortcuts=2), seed=1,
            cycle=12,
        )  # fmt: skip
        assert event["point"] == point
        assert event["counts"]["reached"] > 3
        assert event["counts"] == {name: int(getattr(expected, name)[0]) for name in event["counts"]}


def test_the_peers_are_sent_again_only_if_they_are_others() -> None:
    overlay = overlay_of(spare=1)
    explorer = Explorer(overlay)

    def sent(order: dict[str, Any]) -> bool:
        return "id" in [name for name, *_ in head_of(explorer.answer(order))["parts"]]

    assert [sent({"do": "start"}), sent({"do": "run", "cycles": 1}), sent({"do": "start"})] == [
        True,
        False,
        True,
    ]
    overlay.population.activate(np.flatnonzero(overlay.population.dormant), [[0, 0]], [[1, 1]], [60])
    assert sent({"do": "run", "cycles": 1})


def test_shortcuts_and_loss_are_set() -> None:
    explorer = Explorer(overlay_of())
    assert head_of(explorer.answer({"do": "shortcuts", "k": 5}))["event"]["shortcuts"] == 5
    assert head_of(explorer.answer({"do": "loss", "probability": 0.25}))["loss"] == 0.25
    assert explorer.overlay.network.loss == 0.25


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({}, "do: expected one of start, run"),
        ({"do": "fly"}, "got 'fly'"),
        ({"do": "run", "cycles": -1}, "cycles: expected a whole number from 0 on"),
        ({"do": "run", "cycles": 10**9}, "below 1000"),
        ({"do": "publish", "point": [0.5]}, "expected"),
        ({"do": "publish", "point": [float("nan"), 0]}, "expected"),
        ({"do": "shortcuts", "k": -1}, "shortcuts"),
        ({"do": "loss", "probability": 1.0}, "loss: expected a probability"),
        ({"do": "loss", "probability": None}, "must be"),
    ],
)
def test_a_wrong_order_is_answered_and_changes_nothing(order: dict[str, Any], said: str) -> None:
    overlay = overlay_of().run(2)
    explorer = Explorer(overlay)
    head = head_of(explorer.answer(order))
    assert head["kind"] == "problem"
    assert said in head["text"]
    assert (overlay.cycle, overlay.network.loss, explorer.settings) == (2, 0.0, DisseminationSettings())


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[str]:
    """The address of a notebook with the program in a Jupyter server of this machine."""
    cell = {"cell_type": "code", "source": PROGRAM, "metadata": {}, "outputs": [], "execution_count": None}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "rings.ipynb").write_text(json.dumps(notebook))
    share = str(distribution("jupyterlab").locate_file("../../../share/jupyter"))
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    paths = {name: str(tmp_path / name) for name in own} | {"JUPYTER_PATH": share}
    token, log = secrets.token_hex(), tmp_path / "log"
    options = {
        "ServerApp.port": 0, "ServerApp.root_dir": tmp_path, "ServerApp.open_browser": False,
        "ServerApp.allow_root": True, "IdentityProvider.token": token, "LabApp.app_dir": f"{share}/lab",
    }  # fmt: skip
    words = [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]
    with log.open("w") as file:
        server = subprocess.Popen(words, env=os.environ | paths, stderr=file)
    try:
        while not (found := PORT.search(log.read_text())):
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{found[1]}/lab/tree/rings.ipynb?token={token}"
    finally:
        server.terminate()
        server.wait()


@pytest.mark.skipif(browser.missing(), reason=browser.REASON)
@pytest.mark.xdist_group("browser")
def test_a_click_in_jupyter_publishes_by_the_overlay_of_the_notebook(jupyter: str) -> None:
    with browser.chromium() as chromium:
        context = chromium.new_context(viewport={"width": 1200, "height": 1000}, reduced_motion="reduce")
        context.set_default_timeout(browser.PATIENCE)
        page = context.new_page()
        page.goto(jupyter)
        page.get_by_text("| Idle").wait_for()  # a cell that is run before the kernel is there is passed over
        page.locator(".jp-Notebook .cm-content").click()
        page.keyboard.press("Shift+Enter")
        view = page.locator(".overlay.in-notebook")
        page.wait_for_selector(".overlay.in-notebook[data-ready]")
        assert view.get_attribute("data-cycle") == "10"

        plane = page.locator('[data-role="plane"]')
        box = plane.bounding_box()
        assert box is not None
        before = view.get_attribute("data-matches")
        plane.click(position={"x": box["width"] * 0.7, "y": box["height"] * 0.4})
        data = "document.querySelector('.overlay.in-notebook').dataset"
        browser.wait_until(page, f"{data}.matches !== '{before}'")
        assert int(view.get_attribute("data-matches")) > 3
        assert view.get_attribute("data-shown") == view.get_attribute("data-reached")
        assert view.get_attribute("data-sent") == view.get_attribute("data-messages")

        page.locator('[data-role="step"]').click()
        browser.wait_until(page, f"{data}.cycle === '11'")
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=str(Path(folder) / "jupyter.png"))
        context.close()
