"""The page on paper: everything is there, nothing is cut off, names of columns are on every page."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from sims.report.cells import table_html
from sims.report.html import Page
from tests.sims.report import browser

pytestmark = [
    pytest.mark.skipif(browser.missing(), reason=browser.REASON),
    pytest.mark.xdist_group("browser"),  # one is enough
]


def test_a_printed_page_shows_every_chart_and_what_was_folded(chromium: Any, page_file: Path) -> None:
    tab = browser.Tab(chromium, page_file, color_scheme="dark")
    tab.page.evaluate(
        """addEventListener("afterprint", () => {}); addEventListener("beforeprint", () => {
          const open = [...document.querySelectorAll("details.section")].every((part) => part.open);
          const charts = [...document.querySelectorAll("figure.chart")];
          const drawn = charts.every((chart) => chart.querySelector(".curve, .point, .bar"));
          const overlays = [...document.querySelectorAll("section.overlay")];
          const over = overlays.length > 0 && overlays.every((each) => each.dataset.over === "true");
          window.printed = { open, drawn, over, paper: getComputedStyle(document.body).backgroundColor };
        })"""
    )
    # An overlay far below is drawn when the page has nothing else to do, not only when it is scrolled to.
    browser.wait_until(
        tab.page, "[...document.querySelectorAll('section.overlay')].every((each) => each.dataset.ready)"
    )
    tab.page.pdf()
    assert tab.page.evaluate("window.printed") == {
        "open": True,
        "drawn": True,
        "over": True,
        "paper": "rgb(255, 255, 255)",
    }
    assert tab.page.evaluate("document.querySelectorAll('details.section[open]').length") == 0
    assert tab.page.evaluate("document.documentElement.dataset.theme") is None
    tab.context.close()


@pytest.mark.parametrize("columns", [8, 60], ids=["smaller", "a block for each row"])
def test_on_paper_no_table_is_cut_off(chromium: Any, page_file: Path, columns: int) -> None:
    tab = browser.Tab(chromium, page_file)
    tab.page.evaluate(
        """(columns) => {
          for (const row of document.querySelector("div.table[data-improved] table").rows)
            row.replaceChildren(...Array.from({ length: columns }, () => {
              const cell = document.createElement(row.parentElement.matches("thead") ? "th" : "td");
              cell.textContent = "0.12345 ± 0.1";
              return cell;
            }));
        }""",
        columns,
    )
    tab.page.set_viewport_size({"width": 680, "height": 900})
    tab.page.emulate_media(media="print")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    frames = "[...document.querySelectorAll('div.table')]"
    assert not tab.page.evaluate(f"{frames}.some((each) => each.scrollWidth > each.clientWidth + 1)")
    first = "document.querySelector('div.table[data-improved]')"
    assert tab.page.evaluate(f"{first}.matches('.blocks')") == (columns == 60)
    tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not tab.page.evaluate(f"{frames}.some((each) => each.matches('.blocks') || each.style.zoom)")
    tab.context.close()


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext (Debian: poppler-utils)")
def test_names_of_columns_are_on_every_page_and_no_heading_is_the_last_line(
    chromium: Any, tmp_path: Path
) -> None:
    page, names = Page("Results"), [f"Section {number}" for number in range(40)]
    for number, name in enumerate(names):
        rows = [{"peer": f"row {k}", "upkeep": k} for k in range(70 if number == 20 else number % 9 + 1)]
        with nullcontext(page.heading(name)) if number % 2 else page.fold(name):
            chart = Markup('<figure style="height: 9cm">row of a chart</figure>')
            page.choices({"World": ["one"]}, [chart if number % 3 == 0 else table_html(rows)])
    tab = browser.Tab(chromium, page.write(tmp_path / "page.html"))
    tab.page.pdf(path=tmp_path / "page.pdf", format="A4")
    tab.context.close()
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True
    )
    pages = [
        [line.strip() for line in part.splitlines() if line.strip()] for part in text.stdout.split("\f")[:-1]
    ]
    assert len(pages) > 5
    for lines in pages:
        assert lines[-1].startswith("row ")
        first = next(k for k, line in enumerate(lines) if line.startswith("row "))
        assert lines[first].startswith("row of a chart") or lines[first - 1].split() == ["peer", "upkeep"]
