"""The notebooks of the docs run from top to bottom, and print what they show; the site shows them."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def shown(cell: Any) -> str:
    """What a cell prints and returns, as text; a picture is named only."""
    told = [each for each in cell.get("outputs", ()) if each.get("name") != "stderr"]
    return "".join(each.text if each.output_type == "stream" else each.data["text/plain"] for each in told)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_prints_what_it_shows(path: Path, tmp_path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    NotebookClient(fresh, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [shown(cell) for cell in fresh.cells] == [shown(cell) for cell in stored.cells]
    assert any(shown(cell) for cell in stored.cells)


def test_the_site_shows_code_results_and_pictures() -> None:
    page_of = runpy.run_path(str(DOCS / "site_pages.py"))["page_of"]
    pages = {path.stem: page_of(path) for path in NOTEBOOKS}
    assert len(pages) == 3
    page = pages["rings-of-my-table"]
    assert page.startswith("# Rings of my table\n")
    assert "```python\nfrom sub2sub import Overlay, datasets" in page
    assert "50 events (1 without a match): 1810 received, 0 missed" in page
    assert '<img alt="" src="data:image/png;base64,' in page
