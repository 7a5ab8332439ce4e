"""Links of all pages lead to files and headings that exist, and so do the paths that pages name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("examples/**/*.md")),
    *sorted(ROOT.glob("sims/examples/**/*.md")),
]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and mkdocs make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_paths_that_a_page_names_exist(page: Path) -> None:
    folders = "sub2sub|hierarchy|workloads|sims|tests|benchmarks|examples|docs"
    named = re.findall(rf"(?<![\w/.])((?:{folders})/[\w/.-]*[\w/])", page.read_text(encoding="utf-8"))
    if page.name != "CHANGELOG.md":  # which names files of earlier versions
        assert [path for path in named if "NAME" not in path and not (ROOT / path).exists()] == []
