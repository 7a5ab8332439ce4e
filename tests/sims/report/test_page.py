"""The page in a browser: what is clicked there comes to the same numbers as in the library."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sims.engine import Simulation
from sims.observers.rings import RingCompleteness
from sims.report.report import report
from sub2sub.peers.settings import DisseminationSettings
from tests.sims.report import browser
from tests.sims.report.conftest import CYCLES
from tests.sims.report.overlays import python_counts, simulation

pytestmark = [
    pytest.mark.skipif(browser.missing(), reason=browser.REASON),
    pytest.mark.xdist_group("browser"),  # one is enough
]

SHOWN = ("matches", "reached", "messages", "duplicates", "failed", "spam")


@pytest.fixture
def tab(chromium: Any, page_file: Path) -> Iterator[browser.Tab]:
    """The report, opened; in the end it must not have complained, nor asked for anything but itself."""
    opened = browser.Tab(chromium, page_file, reduced_motion="reduce")  # events are at their end at once
    opened.wait_for_overlay()
    opened.page.locator('[data-attribute="2"]').fill("0.5")  # the first event is a random one
    yield opened
    assert opened.complaints == []
    assert opened.requests == [page_file.resolve().as_uri()]
    opened.context.close()


def _run(cycle: int) -> Simulation:
    return simulation(n=400, d=3, cycles=cycle)


def _expected(tab: browser.Tab, cycle: int, **settings: Any) -> dict[str, int]:
    """What becomes of the page's event in the library."""
    point = np.array([json.loads(tab.data("point"))])
    entry = [int(tab.data("entry"))]
    counts = python_counts(_run(cycle), point, DisseminationSettings(**settings), entry)[0]
    return {name: counts[name] for name in SHOWN} | {"hop": max(counts["hops"], 0)}


def _place_event(tab: browser.Tab, x: float = 0.45, y: float = 0.5) -> None:
    box = tab.role("plane").bounding_box()
    tab.role("plane").click(position={"x": box["width"] * x, "y": box["height"] * y})


def test_a_placed_event_ends_as_in_the_library(tab: browser.Tab) -> None:
    _place_event(tab)
    found = tab.counts()
    assert found == _expected(tab, CYCLES[-1])
    assert found["reached"] == found["matches"] > 5
    x, y, _ = json.loads(tab.data("point"))
    assert 0.3 < x < 0.5
    assert 0.4 < y < 0.6


def test_stepping_goes_through_every_hop(tab: browser.Tab) -> None:
    _place_event(tab)
    last = tab.counts()
    tab.role("restart").click()
    assert tab.counts() | {"matches": 0} == dict.fromkeys(last, 0) | {"reached": 1}
    reached = [1]
    while tab.role("step").is_enabled():
        tab.role("step").click()
        reached.append(tab.counts()["reached"])
    assert tab.counts() == last
    assert reached == sorted(reached)
    assert len(reached) >= last["hop"]
    tab.role("back").click()
    tab.role("back").click()
    assert tab.counts()["messages"] < last["messages"]


def test_an_early_cycle_reaches_fewer(tab: browser.Tab) -> None:
    _place_event(tab)
    late = tab.counts()
    for index, cycle in enumerate(CYCLES[:2]):
        tab.role("cycle").fill(str(index))
        tab.page.wait_for_selector(f"section.overlay[data-cycle='{cycle}']")
        assert tab.counts() == _expected(tab, cycle)
    tab.role("cycle").fill("0")
    tab.page.wait_for_selector(f"section.overlay[data-cycle='{CYCLES[0]}']")
    assert tab.counts()["matches"] == late["matches"]
    assert tab.counts()["reached"] < late["reached"]


@pytest.mark.parametrize("shortcuts", [0, 3])
def test_shortcuts_can_be_chosen(tab: browser.Tab, shortcuts: int) -> None:
    _place_event(tab)
    tab.role("shortcuts").fill(str(shortcuts))
    assert tab.counts() == _expected(tab, CYCLES[-1], shortcuts=shortcuts)


def test_sliders_and_axes_move_the_event_in_all_attributes(tab: browser.Tab) -> None:
    _place_event(tab)
    before = json.loads(tab.data("point"))
    tab.page.locator('[data-attribute="2"]').fill("0.4")
    tab.role("end").click()
    after = json.loads(tab.data("point"))
    assert after[:2] == before[:2]
    assert after[2] == 0.4
    assert tab.counts() == _expected(tab, CYCLES[-1])
    tab.role("x").select_option("2")
    _place_event(tab, 0.6, 0.4)
    moved = json.loads(tab.data("point"))
    assert moved[0] == after[0]
    assert moved[2] != after[2]


def test_the_keyboard_is_enough(tab: browser.Tab) -> None:
    for k in range(3):
        tab.page.locator(f'[data-attribute="{k}"]').fill("0.5")
    tab.role("plane").focus()
    for key in ("Shift+ArrowLeft", "ArrowUp"):
        tab.page.keyboard.press(key)
    assert json.loads(tab.data("point")) == pytest.approx([0.4, 0.51, 0.5])
    tab.page.keyboard.press("n")
    assert tab.counts()["messages"] > 0
    tab.page.keyboard.press("b")
    assert tab.counts()["messages"] == 0
    tab.role("ring").focus()
    entries = set()
    for _ in range(2):
        tab.page.keyboard.press("ArrowRight")
        tab.page.keyboard.press("Enter")
        entries.add(tab.data("entry"))
        assert tab.counts() == _expected(tab, CYCLES[-1])
    assert len(entries) == 2
    tab.page.keyboard.press("r")
    assert json.loads(tab.data("point"))[2] != 0.5


def test_the_event_plays_by_itself(tab: browser.Tab) -> None:
    tab.role("random").click()
    tab.role("speed").select_option("1")
    tab.role("play").click()
    assert tab.data("over") == "false"
    tab.role("speed").select_option("20")
    tab.page.wait_for_selector("section.overlay[data-over=true]")
    found = tab.counts()
    assert found == _expected(tab, CYCLES[-1])
    assert f"all {found['matches']} subscribers" in tab.role("summary").inner_text()


@pytest.mark.parametrize("index", [0, 2])
def test_ring_links_in_place_are_counted_as_by_the_observer(tab: browser.Tab, index: int) -> None:
    _place_event(tab)
    tab.role("cycle").fill(str(index))
    tab.page.wait_for_selector(f"section.overlay[data-cycle='{CYCLES[index]}']")
    found, needed = tab.page.locator('[data-count="links"]').inner_text().split(" / ")
    row = RingCompleteness([json.loads(tab.data("point"))]).execute(_run(CYCLES[index]))
    assert int(needed) == 2 * tab.counts()["matches"]
    assert int(found) == round(float(row["links"]) * int(needed))
    assert (found == needed) == (index == 2)


def test_pointing_at_a_subscriber_tells_about_it(tab: browser.Tab) -> None:
    _place_event(tab)
    box = tab.role("ring").bounding_box()
    tab.role("ring").hover(position={"x": box["width"] / 2, "y": 26})
    assert "knows" in tab.role("tip").inner_text()
    tab.page.mouse.move(0, 0)
    assert tab.role("tip").is_hidden()


def test_charts_are_drawn_and_tell_their_values(tab: browser.Tab) -> None:
    chart = tab.page.locator("figure.chart").first
    chart.scroll_into_view_if_needed()
    box = chart.locator(".plot > svg").bounding_box()
    chart.locator(".plot").hover(position={"x": box["width"] - 14, "y": 80})
    assert "cycle: 15\ncomplete rings: 100" in chart.locator(".tip").inner_text()
    chart.locator("summary").click()
    chart.locator("details tbody tr").first.wait_for()
    assert chart.locator("details tbody tr").count() == 15


def test_a_curve_comes_forward_by_its_name(tab: browser.Tab) -> None:
    chart = tab.page.locator("figure.chart").first
    name, faint = chart.locator("[data-entry='0']"), chart.locator("[data-series].faint")
    name.click()
    tab.page.mouse.move(0, 0)
    assert (name.get_attribute("aria-pressed"), faint.get_attribute("data-series")) == ("true", "1")
    chart.locator("[data-entry='1']").hover()
    assert faint.get_attribute("data-series") == "0"
    name.press("Enter")
    tab.page.mouse.move(0, 0)
    assert (name.get_attribute("aria-pressed"), faint.count()) == ("false", 0)


def test_a_part_of_a_chart_is_enlarged(tab: browser.Tab) -> None:
    chart = tab.page.locator("figure.chart").first
    chart.scroll_into_view_if_needed()
    texts = (
        "[...document.querySelector('figure.chart').querySelectorAll('.axes text')].map(t => t.textContent)"
    )
    whole = tab.page.evaluate(texts)
    box = chart.locator(".plot > svg").bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 60)
    tab.page.mouse.up()
    assert tab.page.evaluate(texts) != whole
    chart.locator(".plot").dblclick(position={"x": box["width"] / 2, "y": 60})
    assert tab.page.evaluate(texts) == whole


def test_a_chart_is_saved_as_a_picture_of_its_own(tab: browser.Tab) -> None:
    with tab.page.expect_download() as saved:
        tab.page.locator("figure.chart [data-tool=svg]").first.click()
    text = Path(saved.value.path()).read_text()
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert saved.value.suggested_filename == "rings-per-cycle.svg"
    assert "rgb(0, 114, 178)" in text  # colours are in it, not in a style sheet
    assert "var(" not in text


def test_tables_sort_filter_and_download(tab: browser.Tab) -> None:
    tab.page.locator("#manifest").click()
    tab.page.locator("summary", has_text="manifest.json").click()
    frame = tab.page.locator("div.table[data-name=manifest]")
    first = frame.locator("tbody td").first
    frame.locator("th button").first.click()
    rows = frame.locator("tbody tr td:first-child").all_inner_texts()
    assert rows == sorted(rows, key=str.lower)
    frame.locator("th button").first.click()
    assert first.inner_text() == rows[-1]
    tools = frame.locator("xpath=following-sibling::div[1]")
    tools.locator("input").fill("small")
    assert frame.locator("tbody tr:visible").count() == 1
    with tab.page.expect_download() as saved:
        tools.locator("[data-tool=csv]").click()
    assert Path(saved.value.path()).read_text().splitlines()[1:] == ["name,small <run>"]


def test_an_address_leads_to_an_event(tab: browser.Tab, chromium: Any, page_file: Path) -> None:
    _place_event(tab)
    tab.role("cycle").fill("1")
    tab.page.wait_for_selector(f"section.overlay[data-cycle='{CYCLES[1]}']")
    tab.role("shortcuts").fill("2")
    tab.role("again").click()
    tab.role("permalink").click()
    address = tab.page.evaluate("location.href")
    other = browser.Tab(chromium, page_file, reduced_motion="reduce")
    other.page.goto(address)
    other.page.reload()
    other.wait_for_overlay()
    for name in ("point", "entry", "cycle"):
        assert other.data(name) == tab.data(name)
    assert other.counts() == tab.counts()
    assert other.complaints == []
    other.context.close()


def test_a_peer_is_found_by_its_number_and_its_id(tab: browser.Tab) -> None:
    population = _run(CYCLES[-1]).overlay.population
    for name, peer in (("17", 17), (f"{int(population.ids[23]):016x}"[:8], 23)):
        tab.role("find-what").fill(name)
        tab.role("find-what").press("Enter")
        assert tab.data("entry") == str(peer)
        assert tab.counts() == _expected(tab, CYCLES[-1])
    tab.role("find-what").fill("400")
    tab.role("find-what").press("Enter")
    assert "expected a number below 400" in tab.role("summary").inner_text()


def test_linked_overlays_show_the_same_event(chromium: Any, page_file: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(page_file.parent, again)
    two = report([page_file.parent, again]).write(tmp_path / "two.html")
    tab = browser.Tab(chromium, two, reduced_motion="reduce")
    sections = tab.page.locator("section.overlay")
    for section in sections.all():
        section.scroll_into_view_if_needed()
    browser.wait_until(tab.page, "document.querySelectorAll('section.overlay[data-ready=true]').length === 2")
    sections.nth(1).locator("[data-role=random]").click()
    points = [section.get_attribute("data-point") for section in sections.all()]
    assert points[0] == points[1]
    sections.nth(0).locator("[data-role=linked]").uncheck()
    sections.nth(0).locator("[data-role=random]").click()
    assert sections.nth(1).get_attribute("data-point") == points[1]
    assert sections.nth(0).get_attribute("data-point") != points[0]
    assert tab.complaints == []
    tab.context.close()


def test_on_a_phone_no_table_is_wider_than_the_page(chromium: Any, page_file: Path) -> None:
    tab = browser.Tab(chromium, page_file)
    tab.page.set_viewport_size({"width": 390, "height": 800})
    tab.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    tab.page.wait_for_timeout(300)
    frames = "[...document.querySelectorAll('div.table[data-improved]')]"
    wide = f"{frames}.filter((frame) => frame.scrollWidth > frame.clientWidth + 1)"
    assert tab.page.evaluate(f"{wide}.map((t) => t.dataset.name)") == []
    assert tab.page.evaluate("document.querySelectorAll('div.table.cards td[data-label]').length") > 0
    tab.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_until_it_is_chosen(chromium: Any, page_file: Path, scheme: str) -> None:
    tab = browser.Tab(chromium, page_file, color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    first = tab.page.evaluate(paper)
    assert (first == "rgb(255, 255, 255)") == (scheme == "light")
    tab.page.click("#theme")
    assert tab.page.evaluate(paper) == "rgb(255, 255, 255)"
    tab.page.click("#theme")
    assert tab.page.evaluate(paper) != "rgb(255, 255, 255)"
    assert tab.complaints == []
    tab.context.close()


def test_a_narrow_screen_needs_no_sideways_scrolling(chromium: Any, page_file: Path) -> None:
    tab = browser.Tab(chromium, page_file)
    tab.page.set_viewport_size({"width": 360, "height": 700})
    tab.wait_for_overlay()
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.complaints == []
    tab.context.close()
