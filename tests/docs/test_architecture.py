"""The architecture page shows every room (`test_links.py` checks that the files it names exist)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text()
PACKAGES = ("sub2sub", "hierarchy", "workloads", "sims")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_picture_shows_every_room(package: str) -> None:
    rooms = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    picture = TEXT.split("```")[3]
    part = picture.split(f"{package}/ ", 1)[1].split("\ntests/", 1)[0]
    shown = set(re.findall(r"(\w+)/", re.split(r"\n(?=\w)", part)[0]))
    assert rooms <= shown
